package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.damage.DamagedStore;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionGroup;
import io.isobardb.lsm.setting.OptionSet;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Options of a store as data: each has a place in the API of its own. */
class OptionsTest {
  /** Values that are no defaults, all of which go together. */
  private static final String UNUSUAL =
      "memoryBudget=67108864 writeMemory=16777216 memoryTuner=off memoryTunerInterval=90s"
          + " memoryTunerWriteWeight=2.5 memoryTunerReadWeight=0.5 memoryTunerWriteFloor=1048576"
          + " memoryTunerCacheFloor=2097152 durability=SYNC asyncSyncInterval=250ms writeTimeout=70s"
          + " logLimit=8388608 backgroundThreads=9 maxSpace=1.5 levels=FIXED(131072)"
          + " mergeSchedule=BELOW_THROUGHPUT(3MB/s,700ms) ioBandwidth=300MB pageSize=16384"
          + " ioMode=BUFFERED fileAccess=GROUP maxOpenFiles=77 deleteRate=5242880"
          + " createIfMissing=false"
          + " closeOnExit=false experiment.flushPolicy=MIN_LSN experiment.flushStrategy=OLDEST"
          + " experiment.flushTrigger=0.75 experiment.l0Structure=ORIGINAL"
          + " experiment.mergesWithinL0=false experiment.filtersByLevel=false"
          + " experiment.l0StartGroups=3"
          + " experiment.l0SlowdownGroups=7 experiment.l0StopGroups=9"
          + " experiment.l0MostGroups=11"
          + " experiment.mergeDebtLimit=16777216 experiment.mergeSelection=OLDEST"
          + " experiment.levelDropFactor=2.25 experiment.levelSizeRatio=7"
          + " experiment.ioReserve=3145728 experiment.ioMinimum=41943040"
          + " experiment.processorMinimum=1.5 experiment.memoryComponent=MONOLITHIC"
          + " experiment.writeMemoryAllocation=STATIC experiment.staticTrees=5"
          + " experiment.activeTableSize=524288 experiment.tunerSamples=7"
          + " experiment.tunerFixedStep=0.25 experiment.tunerMaxStep=0.125"
          + " experiment.tunerBoldness=1.5 experiment.tunerMinStep=4096"
          + " experiment.tunerMinGain=0.0625";

  private static Properties properties(String text) {
    Properties properties = new Properties();
    for (String option : text.split(" ")) {
      String[] parts = option.split("=", 2);
      properties.setProperty(parts[0], parts[1]);
    }
    return properties;
  }

  private static boolean isExperiment(Option<?> option) {
    return option.group() == OptionGroup.EXPERIMENT;
  }

  private static boolean isTuners(Option<?> option) {
    return option.group() == OptionGroup.TUNER;
  }

  /** The method of an option, in the API or its builder. */
  private static String method(Option<?> option) {
    String name = option.name();
    if (name.equals("memoryTuner")) {
      return "on";
    }
    if (isExperiment(option)) {
      return name.substring(ExperimentalOptions.PREFIX.length());
    }
    String rest = isTuners(option) ? name.substring("memoryTuner".length()) : name;
    return rest.substring(0, 1).toLowerCase(Locale.ROOT) + rest.substring(1);
  }

  private static Object told(StoreOptions options, Option<?> option)
      throws ReflectiveOperationException {
    Object place =
        isExperiment(option)
            ? ExperimentalOptions.of(options)
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
      if (isExperiment(option)) {
        ExperimentalOptions.set(builder, e -> set(e, option, value));
      } else if (isTuners(option)) {
        builder.memoryTuner(t -> set(t, option, value));
      } else {
        set(builder, option, value);
      }
    }
    assertEquals(UNUSUAL, builder.build().toString());
  }

  /** What a person can look through; beyond that an option has to replace another one. */
  private static final int MOST_OF_A_STORE = 24;

  private static final int MOST_OF_A_TREE = 10;

  @Test
  void aUserLooksThroughFewOptions() {
    long ofStores = StoreOption.ALL.options().stream().filter(o -> !isExperiment(o)).count();
    assertTrue(ofStores <= MOST_OF_A_STORE, ofStores + " options of a store");
    assertTrue(TreeOption.ALL.options().size() <= MOST_OF_A_TREE, "options of a tree");
    assertTrue(TreeOption.ALL.options().stream().noneMatch(OptionsTest::isExperiment));
    assertEquals(6, StoreOptions.defaults().memoryTuner().toString().split(" ").length);
  }

  @Test
  void usersDoNotMeetExperimentsByAccident() {
    for (Class<?> type : List.of(StoreOptions.class, StoreOptions.Builder.class)) {
      for (Option<?> option : StoreOption.ALL.options()) {
        assertEquals(isExperiment(option), option.name().startsWith(ExperimentalOptions.PREFIX));
        assertTrue(
            !isExperiment(option)
                || Arrays.stream(type.getMethods())
                    .noneMatch(method -> method.getName().equals(method(option))),
            () -> type + " has " + option);
      }
    }
  }

  @Test
  void optionsOfAGroupStandTogether() {
    for (OptionSet set : List.of(StoreOption.ALL, TreeOption.ALL)) {
      List<OptionGroup> groups = set.options().stream().<OptionGroup>map(Option::group).toList();
      assertEquals(groups.stream().sorted().toList(), groups);
    }
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
        ExperimentalOptions.set(
                StoreOptions.builder().memoryBudget(64 << 20).backgroundThreads(3),
                e -> e.flushPolicy(FlushPolicy.MAX_MEMORY))
            .keyOrder(backwards)
            // The default follows from what the process has open at the moment.
            .maxOpenFiles(100)
            .build();
    assertEquals(32 << 20, first.writeMemory());
    StoreOptions second = first.toBuilder().memoryBudget(32 << 20).build();
    assertEquals(16 << 20, second.writeMemory());
    assertEquals(3, second.backgroundThreads());
    assertEquals(FlushPolicy.MAX_MEMORY, ExperimentalOptions.of(second).flushPolicy());
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
      StoreOptions.fromProperties(properties("levels=FIXED(64MB) experiment.tunerSamples=7"), "");
      assertEquals(List.of(), logged);
      Properties old = properties("a.levels=static(64MB) a.memoryTunerSamples=7 a.logLimit=4MB");
      StoreOptions options = StoreOptions.fromProperties(old, "a.");
      assertEquals(Levels.fixed(64 << 20), options.levels());
      assertEquals(7, ExperimentalOptions.of(options).tunerSamples());
      assertEquals(
          List.of(
              "WARNING options in words that are read until 1.0 only;"
                  + " write a.levels=FIXED(67108864) instead of a.levels=static(64MB),"
                  + " a.experiment.tunerSamples=7 instead of a.memoryTunerSamples=7"),
          logged);
      options.toBuilder().build();
      assertEquals(1, logged.size());
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

  /** The names that experiments had. A new one has none of these. */
  private static final List<String> FORMER =
      List.of(
          "activeTableSize",
          "flushPolicy",
          "flushStrategy",
          "flushTrigger",
          "ioMinimum",
          "ioReserve",
          "l0SlowdownGroups",
          "l0StartGroups",
          "l0StopGroups",
          "l0Structure",
          "levelDropFactor",
          "levelSizeRatio",
          "memoryComponent",
          "memoryTunerBoldness",
          "memoryTunerFixedStep",
          "memoryTunerMaxStep",
          "memoryTunerMinGain",
          "memoryTunerMinStep",
          "memoryTunerSamples",
          "mergeDebtLimit",
          "mergeSelection",
          "mergesWithinL0",
          "processorMinimum",
          "staticTrees",
          "writeMemoryAllocation");

  /** The experiments that never had another name. */
  private static final Set<String> LATER =
      Set.of("experiment.filtersByLevel", "experiment.l0MostGroups");

  @Test
  void eachExperimentIsReadUnderTheNameItHad() {
    StoreOptions unusual = StoreOptions.fromProperties(properties(UNUSUAL), "");
    Properties former = properties(UNUSUAL);
    for (String old : FORMER) {
      String name = "experiment." + old.replace("memoryTuner", "tuner");
      former.setProperty(old, (String) former.remove(name));
    }
    assertEquals(
        LATER,
        former.stringPropertyNames().stream()
            .filter(name -> name.startsWith(ExperimentalOptions.PREFIX))
            .collect(Collectors.toSet()));
    assertEquals(UNUSUAL, StoreOptions.fromProperties(former, "").toString());
    assertEquals(UNUSUAL, unusual.toString());
  }

  @Test
  void anOptionThatIsNamedTwiceIsRefused() {
    Properties both = properties("x.flushPolicy=MIN_LSN x.experiment.flushPolicy=OPTIMAL");
    assertEquals(
        "x.experiment.flushPolicy and x.flushPolicy are one option: leave one of them out",
        assertThrows(IllegalArgumentException.class, () -> StoreOptions.fromProperties(both, "x."))
            .getMessage());
  }

  @Test
  void anUnknownNameIsRefusedWithTheNameThatIsMeant() {
    for (String wrong : List.of("flushPolcy", "experiment.flushPolcy")) {
      IllegalArgumentException unknown =
          assertThrows(
              IllegalArgumentException.class,
              () -> StoreOptions.fromProperties(properties("x." + wrong + "=MIN_LSN"), "x."));
      assertEquals(
          "unknown option x." + wrong + "; did you mean 'experiment.flushPolicy'?",
          unknown.getMessage());
    }
  }

  @Test
  void anOptionIsToldAndSetByItsName() {
    StoreOptions options =
        StoreOptions.builder().set("memoryBudget", "64MB").set("durability", "sync").build();
    assertEquals(64 << 20, options.memoryBudget());
    assertEquals("67108864", options.get("memoryBudget"));
    assertEquals("SYNC", options.get("durability"));
    StoreOptions.Builder builder = StoreOptions.builder();
    for (Option<?> option : StoreOption.ALL.options()) {
      builder.set(option.name(), options.get(option.name()));
    }
    assertEquals(options.toString(), builder.build().toString());
    assertThrows(IllegalArgumentException.class, () -> options.get("memoryBudge"));
    assertThrows(IllegalArgumentException.class, () -> builder.set("memoryBudge", "64MB"));
  }
}
