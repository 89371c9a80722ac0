package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.damage.DamagedStore;
import io.isobardb.lsm.option.FlushPolicy;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.setting.Option;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Options of a store as data: each has a place in the API of its own. */
class OptionsTest {
  /** Values that are no defaults, all of which go together. */
  private static final String UNUSUAL =
      "memoryBudget=67108864 writeMemory=16777216 memoryTuner=off memoryTunerInterval=90s"
          + " memoryTunerWriteWeight=2.5 memoryTunerReadWeight=0.5 memoryTunerWriteFloor=1048576"
          + " memoryTunerCacheFloor=2097152 memoryTunerSamples=7 memoryTunerFixedStep=0.25"
          + " memoryTunerMaxStep=0.125 memoryTunerBoldness=1.5 memoryTunerMinStep=4096"
          + " memoryTunerMinGain=0.0625 logLimit=8388608 maxSpace=1.5 levels=FIXED(131072) flushPolicy=MIN_LSN flushStrategy=OLDEST"
          + " flushTrigger=0.75 l0Structure=ORIGINAL mergesWithinL0=false l0StartGroups=3"
          + " mergeSchedule=BELOW_THROUGHPUT(3MB/s,700ms) l0SlowdownGroups=7 l0StopGroups=9 mergeDebtLimit=16777216"
          + " ioBandwidth=300MB ioReserve=3145728"
          + " ioMinimum=41943040 processorMinimum=1.5 mergeSelection=OLDEST levelDropFactor=2.25"
          + " levelSizeRatio=7"
          + " memoryComponent=MONOLITHIC writeMemoryAllocation=STATIC"
          + " staticTrees=5 activeTableSize=524288 pageSize=16384 ioMode=BUFFERED fileAccess=GROUP durability=SYNC"
          + " asyncSyncInterval=250ms backgroundThreads=9 createIfMissing=false maxOpenFiles=77"
          + " closeOnExit=false";

  private static Properties properties(String text) {
    Properties properties = new Properties();
    for (String option : text.split(" ")) {
      String[] parts = option.split("=", 2);
      properties.setProperty(parts[0], parts[1]);
    }
    return properties;
  }

  /** The method of an option, in the API or its builder. */
  private static String method(Option<?> option) {
    String name = option.name();
    if (name.equals("memoryTuner")) {
      return "on";
    }
    if (!name.startsWith("memoryTuner")) {
      return name;
    }
    String rest = name.substring("memoryTuner".length());
    return option.experimental()
        ? "tuner" + rest
        : rest.substring(0, 1).toLowerCase(Locale.ROOT) + rest.substring(1);
  }

  private static boolean isTuners(Option<?> option) {
    return option.name().startsWith("memoryTuner") && !option.experimental();
  }

  private static Object told(StoreOptions options, Option<?> option)
      throws ReflectiveOperationException {
    Object place =
        option.experimental()
            ? options.experimental()
            : isTuners(option) ? options.memoryTuner() : options;
    return place.getClass().getMethod(method(option)).invoke(place);
  }

  private static void set(Object builder, Option<?> option, Object value) {
    Method setter =
        Arrays.stream(builder.getClass().getMethods())
            .filter(method -> method.getName().equals(method(option)))
            .findAny()
            .orElseThrow(() -> new AssertionError("no method of " + option));
    try {
      setter.invoke(builder, value);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(option.name(), e);
    }
  }

  @Test
  void eachIsToldAndSetByAMethodOfItsOwn() throws ReflectiveOperationException {
    StoreOptions unusual = StoreOptions.fromProperties(properties(UNUSUAL), "");
    assertEquals(UNUSUAL, unusual.toString());
    StoreOptions.Builder builder = StoreOptions.builder();
    for (Option<?> option : StoreOption.ALL.options()) {
      Object value = told(unusual, option);
      assertNotEquals(told(StoreOptions.defaults(), option), value, option.name());
      if (option.experimental()) {
        builder.experimental(e -> set(e, option, value));
      } else if (isTuners(option)) {
        builder.memoryTuner(t -> set(t, option, value));
      } else {
        set(builder, option, value);
      }
    }
    assertEquals(UNUSUAL, builder.build().toString());
  }

  @Test
  void whatIsSetApartIsLessToLookThrough() {
    Set<String> apart = new HashSet<>();
    StoreOption.ALL.options().stream()
        .filter(Option::experimental)
        .forEach(option -> apart.add(option.name()));
    assertTrue(apart.containsAll(Set.of("flushPolicy", "memoryComponent", "memoryTunerSamples")));
    assertTrue(StoreOption.ALL.options().size() - apart.size() <= 20, apart.toString());
    assertFalse(apart.contains("durability"));
    String text = StoreOptions.defaults().experimental().toString();
    assertEquals(apart.size(), text.split(" ").length, text);
    assertEquals(6, StoreOptions.defaults().memoryTuner().toString().split(" ").length);
  }

  @Test
  void eachSaysWhatItTakesAndWhatForInWholeSentences() {
    for (Option<?> option : StoreOption.ALL.options()) {
      for (String text : new String[] {option.what(), option.when()}) {
        assertTrue(text.matches("[A-Z`\\d].*[.]"), option + ": " + text);
      }
      assertFalse(option.values().isEmpty() || option.defaultText().isEmpty(), option.name());
    }
  }

  @Test
  void aCopyKeepsWhatWasSetAndTheRestFollowsFromThat() {
    KeyOrder backwards = DamagedStore.BACKWARDS;
    StoreOptions first =
        StoreOptions.builder()
            .memoryBudget(64 << 20)
            .backgroundThreads(3)
            .experimental(e -> e.flushPolicy(FlushPolicy.MAX_MEMORY))
            .keyOrder(backwards)
            .build();
    assertEquals(32 << 20, first.writeMemory());
    StoreOptions second = first.toBuilder().memoryBudget(32 << 20).build();
    assertEquals(16 << 20, second.writeMemory());
    assertEquals(3, second.backgroundThreads());
    assertEquals(FlushPolicy.MAX_MEMORY, second.experimental().flushPolicy());
    assertEquals(backwards, second.keyOrders().get(backwards.name()));
    assertEquals(64 << 20, first.memoryBudget());
    assertEquals(first.toString(), first.toBuilder().build().toString());
  }

  @Test
  void zeroAsksForTheDefaultWhereThatFollowsFromTheMachineOrTheBudget() {
    StoreOptions zeros =
        StoreOptions.builder().memoryBudget(0).writeMemory(0).logLimit(0).maxOpenFiles(0).build();
    StoreOptions defaults = StoreOptions.defaults();
    assertEquals(defaults.memoryBudget(), zeros.memoryBudget());
    assertEquals(defaults.writeMemory(), zeros.writeMemory());
    assertEquals(defaults.logLimit(), zeros.logLimit());
    assertTrue(zeros.maxOpenFiles() >= 16);
    for (long wrong : new long[] {-1, Long.MIN_VALUE}) {
      assertThrows(
          IllegalArgumentException.class, () -> StoreOptions.builder().memoryBudget(wrong).build());
      assertThrows(
          IllegalArgumentException.class, () -> StoreOptions.builder().logLimit(wrong).build());
    }
  }

  @Test
  void aValueOutOfRangeIsRefusedWithTheRangeAndItsUnit() {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> StoreOptions.fromProperties(properties("logLimit=64KB"), ""));
    assertEquals("logLimit must be at least 1MB, not 64KB", refused.getMessage());
  }

  @Test
  void wordsThatGoAreReadWithOneWarningThatSaysWhatToWrite() {
    List<String> logged = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            logged.add(record.getLevel() + " " + record.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger(StoreOptions.class.getName());
    Level level = logger.getLevel();
    logger.setLevel(Level.WARNING);
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
    try {
      StoreOptions.fromProperties(properties("levels=FIXED(64MB)"), "");
      assertEquals(List.of(), logged);
      StoreOptions options = StoreOptions.fromProperties(properties("a.levels=static(64MB)"), "a.");
      assertEquals(Levels.fixed(64 << 20), options.levels());
      assertEquals(
          List.of(
              "WARNING options in words that are read until 1.0 only;"
                  + " write a.levels=FIXED(67108864) instead of a.levels=static(64MB)"),
          logged);
    } finally {
      logger.removeHandler(handler);
      logger.setUseParentHandlers(true);
      logger.setLevel(level);
    }
  }

  @Test
  void levelsAreToldAsTheyAreRead() {
    for (Levels levels : List.of(Levels.dynamic(), Levels.optimised(), Levels.fixed(65536))) {
      StoreOptions options = StoreOptions.builder().levels(levels).build();
      assertEquals(levels, options.levels());
      assertEquals(
          levels, StoreOptions.fromProperties(properties("levels=" + levels), "").levels());
    }
  }

  @Test
  void levelsHaveAWriteMemoryOfTheirOwnOnlyIfTheyAreFixed() {
    assertThrows(IllegalArgumentException.class, () -> Levels.fixed(Levels.LEAST_BYTES - 1));
    assertThrows(IllegalArgumentException.class, () -> new Levels(Levels.Kind.OPTIMISED, 1 << 20));
    assertEquals(0, Levels.dynamic().writeMemoryBytes());
  }
}
