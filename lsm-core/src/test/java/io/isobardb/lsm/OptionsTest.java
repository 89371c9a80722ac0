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
import io.isobardb.lsm.option.MergeOperator;
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
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Options of a store as data: each has a place in the API of its own. */
class OptionsTest {
  /** Values that are no defaults, all of which go together. Others are {@link #found}. */
  private static final String CHOSEN =
      "memoryBudget=67108864 writeMemory=16777216 memoryTunerWriteFloor=1048576"
          + " memoryTunerCacheFloor=2097152 levels=FIXED(131072)"
          + " mergeSchedule=BELOW_THROUGHPUT(3MB/s,700ms) experiment.l0StartGroups=3"
          + " experiment.activeTableSize=524288 experiment.diskTableSize=1048576";

  /** What an option may take that takes no word. */
  private static final List<String> NUMBERS =
      List.of("7", "0.5", "0.125", "1.5", "90s", "70ms", "64KB", "3MB", "48MB", "0", "1");

  /** A value of each option that is not its default, all of which go together. */
  private static final String UNUSUAL = unusual();

  private static String unusual() {
    Properties chosen = properties(CHOSEN);
    for (Option<?> option : StoreOption.ALL.options()) {
      if (!chosen.containsKey(option.name())) {
        chosen.setProperty(option.name(), found(option, chosen));
      }
    }
    return StoreOptions.fromProperties(chosen, "").toString();
  }

  /** The first word or number that an option takes, beside others, and that is not its default. */
  private static String found(Option<?> option, Properties others) {
    String usual = StoreOptions.defaults().get(option.name());
    List<String> all = new ArrayList<>(Arrays.asList(option.values().split("\\W+")));
    all.addAll(NUMBERS);
    for (String value : all) {
      Properties with = new Properties();
      with.putAll(others);
      with.setProperty(option.name(), value);
      try {
        String told = StoreOptions.fromProperties(with, "").get(option.name());
        if (!told.equals(usual)) {
          return told;
        }
      } catch (IllegalArgumentException e) {
        continue;
      }
    }
    throw new AssertionError("add a value of " + option + " that is no default");
  }

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
    assertTrue(
        ofStores <= MOST_OF_A_STORE,
        ofStores
            + " options of a store, of which users look through "
            + MOST_OF_A_STORE
            + " at most: a new one takes the place of another, or is an experiment's");
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
  void eachWordThatAnOptionTakesIsExplained() {
    List<String> missing = new ArrayList<>();
    for (Option<?> option : StoreOption.ALL.options()) {
      for (String word : option.values().split("\\W+")) {
        if (word.matches("[A-Z][A-Z_0-9]+") && !(option.what() + option.when()).contains(word)) {
          missing.add(option + "=" + word);
        }
      }
    }
    assertEquals(List.of(), missing);
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

  @Test
  void eachExperimentIsReadUnderTheNameItHad() {
    Properties former = properties(UNUSUAL);
    for (String old : FORMER) {
      String name = "experiment." + old.replace("memoryTuner", "tuner");
      former.setProperty(old, (String) former.remove(name));
    }
    assertEquals(UNUSUAL, StoreOptions.fromProperties(former, "").toString());
  }

  @Test
  void anOptionThatIsNamedTwiceIsRefused() {
    Properties both = properties("x.flushPolicy=MIN_LSN x.experiment.flushPolicy=OPTIMAL");
    assertEquals(
        "x.experiment.flushPolicy and x.flushPolicy are one option: leave one of them out",
        assertThrows(IllegalArgumentException.class, () -> StoreOptions.fromProperties(both, "x."))
            .getMessage());
  }

  /** {@link Properties} takes any value, and leaves those that are no strings out of its names. */
  @Test
  void aValueThatIsNoStringIsNotPassedOver() {
    Properties numbers = new Properties();
    numbers.put("x.memoryBudget", 64L << 20);
    numbers.put("y.memoryBudget", 1);
    numbers.put(5, "is nobody's");
    assertEquals(
        "property x.memoryBudget is no string but a Long: set it by setProperty, as text",
        assertThrows(
                IllegalArgumentException.class, () -> StoreOptions.fromProperties(numbers, "x."))
            .getMessage());
    StoreOptions.fromProperties(numbers, "z.");
  }

  @Test
  void aNumberBeyondAllRangesIsNotCalledNone() {
    for (String number : List.of("99999999999", "+99999999999", "-99999999999")) {
      IllegalArgumentException e =
          assertThrows(
              IllegalArgumentException.class,
              () -> StoreOptions.builder().set("backgroundThreads", number));
      assertTrue(e.getMessage().endsWith("it has too many digits"), e.getMessage());
    }
  }

  @Test
  void aValueThatIsNoneIsToldWithThoseThereAreOnce() {
    for (String wrong : List.of("levels=OTHER", "mergeSchedule=AFTER_LAST_WRITE")) {
      String message =
          assertThrows(
                  IllegalArgumentException.class,
                  () -> StoreOptions.fromProperties(properties(wrong), ""))
              .getMessage();
      assertTrue(message.contains("there is no such value; known are "), message);
    }
  }

  private record NamelessOrder(@Nullable String name) implements KeyOrder {
    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      return 0;
    }
  }

  private record NamelessOperator(@Nullable String name) implements MergeOperator {
    @Override
    public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
      return key;
    }
  }

  @Test
  void anOrderOrOperatorWithoutANameIsToldAsSuch() {
    KeyOrder order = new NamelessOrder(null);
    MergeOperator operator = new NamelessOperator(null);
    for (Executable call :
        List.<Executable>of(
            () -> StoreOptions.builder().keyOrder(order),
            () -> TreeOptions.builder().keyOrder(order),
            () -> StoreOptions.builder().mergeOperator(operator),
            () -> TreeOptions.builder().mergeOperator(operator))) {
      String message = assertThrows(NullPointerException.class, call).getMessage();
      assertTrue(message.startsWith("the name of a "), message);
    }
  }

  /** A default that follows from another option is one that the option takes. */
  @Test
  void eachNumberOfGroupsThatL0MayStartWithIsTaken() {
    for (String groups : List.of("1", "250", "251", "1000")) {
      StoreOptions options = StoreOptions.builder().set("experiment.l0StartGroups", groups).build();
      assertEquals(
          options.toString(),
          StoreOptions.fromProperties(properties(options.toString()), "").toString());
    }
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
