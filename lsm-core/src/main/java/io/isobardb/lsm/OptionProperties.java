package io.isobardb.lsm;

import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.flush.FlushPolicy;
import io.isobardb.lsm.flush.FlushStrategy;
import io.isobardb.lsm.io.IoMode;
import io.isobardb.lsm.merge.MergeSelection;
import io.isobardb.lsm.version.L0Structure;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.function.BiConsumer;

/** The options of a store as text. */
final class OptionProperties {
  private static final String DYNAMIC = "DYNAMIC";
  private static final String STATIC = "STATIC";

  private static final Map<String, BiConsumer<StoreOptions.Builder, String>> SETTERS =
      new LinkedHashMap<>();

  static {
    SETTERS.put("memoryBudget", (b, v) -> b.memoryBudget(Sizes.parse(v)));
    SETTERS.put("writeMemory", (b, v) -> b.writeMemory(Sizes.parse(v)));
    SETTERS.put("memoryTuner", (b, v) -> b.memoryTuner(parseSwitch(v)));
    putTuner("Interval", (t, v) -> t.interval(Sizes.parseDuration(v)));
    putTuner("WriteWeight", (t, v) -> t.writeWeight(Double.parseDouble(v)));
    putTuner("ReadWeight", (t, v) -> t.readWeight(Double.parseDouble(v)));
    putTuner("WriteFloor", (t, v) -> t.writeFloor(Sizes.parse(v)));
    putTuner("CacheFloor", (t, v) -> t.cacheFloor(Sizes.parse(v)));
    putTuner("Samples", (t, v) -> t.samples(Integer.parseInt(v)));
    putTuner("FixedStep", (t, v) -> t.fixedStep(Double.parseDouble(v)));
    putTuner("MaxStep", (t, v) -> t.maxStep(Double.parseDouble(v)));
    putTuner("Boldness", (t, v) -> t.boldness(Double.parseDouble(v)));
    putTuner("MinStep", (t, v) -> t.minStep(Sizes.parse(v)));
    putTuner("MinGain", (t, v) -> t.minGain(Double.parseDouble(v)));
    SETTERS.put("logLimit", (b, v) -> b.logLimit(Sizes.parse(v)));
    SETTERS.put("flushPolicy", (b, v) -> b.flushPolicy(parse(FlushPolicy.class, v)));
    SETTERS.put("flushStrategy", (b, v) -> b.flushStrategy(parse(FlushStrategy.class, v)));
    SETTERS.put("l0Structure", (b, v) -> b.l0Structure(parse(L0Structure.class, v)));
    SETTERS.put("mergeSelection", (b, v) -> b.mergeSelection(parse(MergeSelection.class, v)));
    SETTERS.put("levelDropFactor", (b, v) -> b.levelDropFactor(Double.parseDouble(v)));
    SETTERS.put("levels", (b, v) -> b.staticLevels(parseLevels(v)));
    SETTERS.put("memoryComponent", (b, v) -> b.memoryComponent(parse(MemoryComponent.class, v)));
    SETTERS.put(
        "writeMemoryAllocation",
        (b, v) -> b.writeMemoryAllocation(parse(WriteMemoryAllocation.class, v)));
    SETTERS.put("staticTrees", (b, v) -> b.staticTrees(Integer.parseInt(v)));
    SETTERS.put("activeTableSize", (b, v) -> b.activeTableSize(Math.toIntExact(Sizes.parse(v))));
    SETTERS.put("pageSize", (b, v) -> b.pageSize(Math.toIntExact(Sizes.parse(v))));
    SETTERS.put("ioMode", (b, v) -> b.ioMode(parse(IoMode.class, v)));
    SETTERS.put("durability", (b, v) -> b.durability(parse(Durability.class, v)));
    SETTERS.put("asyncSyncInterval", (b, v) -> b.asyncSyncInterval(Sizes.parseDuration(v)));
    SETTERS.put("backgroundThreads", (b, v) -> b.backgroundThreads(Integer.parseInt(v)));
    SETTERS.put("createIfMissing", (b, v) -> b.createIfMissing(parseBoolean(v)));
    SETTERS.put("closeOnExit", (b, v) -> b.closeOnExit(parseBoolean(v)));
    SETTERS.put("maxOpenFiles", (b, v) -> b.maxOpenFiles(Integer.parseInt(v)));
  }

  private OptionProperties() {}

  private static void putTuner(String name, BiConsumer<MemoryTunerOptions.Builder, String> setter) {
    SETTERS.put("memoryTuner" + name, (b, v) -> b.memoryTuner(t -> setter.accept(t, v)));
  }

  /** See {@link StoreOptions#fromProperties}. */
  static StoreOptions parse(Properties properties, String prefix) {
    StoreOptions.Builder builder = StoreOptions.builder();
    for (String name : properties.stringPropertyNames()) {
      if (!name.startsWith(prefix)) {
        continue;
      }
      String option = name.substring(prefix.length());
      BiConsumer<StoreOptions.Builder, String> setter = SETTERS.get(option);
      if (setter == null) {
        throw new IllegalArgumentException(
            "unknown option " + name + Suggestion.among(option, SETTERS.keySet()));
      }
      String value = properties.getProperty(name).trim();
      try {
        setter.accept(builder, value);
      } catch (RuntimeException e) {
        throw new IllegalArgumentException(
            "option " + name + ": can't take '" + value + "': " + e.getMessage(), e);
      }
    }
    return builder.build();
  }

  /** All options with their values, but for the key orders. */
  static String text(StoreOptions options) {
    return "memoryBudget="
        + options.memoryBudget()
        + " writeMemory="
        + options.writeMemory()
        + " "
        + options.memoryTuner()
        + " logLimit="
        + options.logLimit()
        + " flushPolicy="
        + options.flushPolicy()
        + " flushStrategy="
        + options.flushStrategy()
        + " l0Structure="
        + options.l0Structure()
        + " mergeSelection="
        + options.mergeSelection()
        + " levelDropFactor="
        + options.levelDropFactor()
        + " levels="
        + levels(options.staticLevels())
        + " memoryComponent="
        + options.memoryComponent()
        + " writeMemoryAllocation="
        + options.writeMemoryAllocation()
        + " staticTrees="
        + options.staticTrees()
        + " activeTableSize="
        + options.activeTableSize()
        + " pageSize="
        + options.pageSize()
        + " ioMode="
        + options.ioMode()
        + " durability="
        + options.durability()
        + " asyncSyncInterval="
        + Sizes.text(options.asyncSyncInterval())
        + " backgroundThreads="
        + options.backgroundThreads()
        + " createIfMissing="
        + options.createIfMissing()
        + " maxOpenFiles="
        + options.maxOpenFiles()
        + " closeOnExit="
        + options.closeOnExit();
  }

  /** What {@code levels} is set to, as text. */
  private static String levels(long staticLevels) {
    return staticLevels == 0 ? DYNAMIC : STATIC + "(" + staticLevels + ")";
  }

  private static long parseLevels(String text) {
    String value = text.toUpperCase(Locale.ROOT);
    if (value.equals(DYNAMIC)) {
      return 0;
    }
    if (value.startsWith(STATIC + "(") && value.endsWith(")")) {
      long bytes = Sizes.parse(value.substring(STATIC.length() + 1, value.length() - 1));
      if (bytes > 0) {
        return bytes;
      }
    }
    throw new IllegalArgumentException(
        "'"
            + text
            + "' is neither DYNAMIC nor STATIC(64MB) or of another size"
            + Suggestion.among(text, List.of(DYNAMIC, STATIC + "(64MB)")));
  }

  private static <E extends Enum<E>> E parse(Class<E> type, String text) {
    String sought = text.toUpperCase(Locale.ROOT);
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equals(sought)) {
        return constant;
      }
    }
    List<String> names = Arrays.stream(type.getEnumConstants()).map(Enum::name).toList();
    throw new IllegalArgumentException("there is no such value" + Suggestion.among(text, names));
  }

  private static boolean parseBoolean(String text) {
    if (text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")) {
      return Boolean.parseBoolean(text);
    }
    throw new IllegalArgumentException("'" + text + "' is neither true nor false");
  }

  private static boolean parseSwitch(String text) {
    if (text.equalsIgnoreCase("on") || text.equalsIgnoreCase("off")) {
      return text.equalsIgnoreCase("on");
    }
    throw new IllegalArgumentException("'" + text + "' is neither on nor off");
  }
}
