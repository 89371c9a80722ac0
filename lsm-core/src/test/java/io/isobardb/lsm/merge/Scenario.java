package io.isobardb.lsm.merge;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Tables;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.tuner.workload.LevelShares;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A tree described in text, for golden files. Sizes are in MB; an SSTable is {@code
 * number:min-max=size~deletes}, size 10 and deletes 0 % unless given.
 *
 * <pre>
 * tree levels=2 memory=10 target=10 batch=0 space=1.25 T=10 f=1.5 start=4
 *     l0=GREEDY_GROUPED
 * L0/3 7:a-c 8:d-f=20        a group and its SSTables
 * L1 9:a-z=100~50            a level
 * memory 5                   changes the write memory
 * batch 5                    what L0 delivers at a time from now on
 * plan 1 0.2 0.05            what levels are planned to hold, the last first; none: no plan
 * flush 10:a-b 11:c-d        places SSTables in L0
 * choose                     what the policy chooses
 * lost 7=120 9=30            what reads have paid for if they have lost so many pages of 1 MB by
 *     passing SSTables, and how it is merged
 * start                      chooses, and lets it run; what it voids runs no more
 * free L0 DEEP               the slots that are free from now on; those two unless given
 * commits                    what runs now can't be voided any more
 * finish                     the first of what runs is done; a merge's output is one SSTable
 * finish last                the last of what runs is done
 * show                       the levels
 * </pre>
 */
final class Scenario {
  private static final long MB = 1 << 20;

  private Version version = Version.empty(KeyOrder.BYTES);
  private LevelingOptions options = LevelingOptions.DEFAULT;
  private long memoryBytes = 10 * MB;
  private long targetBytes = 10 * MB;
  private long batchBytes;
  private TreeShape shape = TreeShape.DEFAULT;
  private @Nullable LevelShares plan;
  private final List<MergeChoice> running = new ArrayList<>();
  private final List<MergeChoice> voidable = new ArrayList<>();
  private final Set<Slot> free = EnumSet.of(Slot.L0, Slot.DEEP);
  private long nextFile = 1000;

  String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      answer.append(ask(line.trim().split("\\s+")));
    }
    return answer.isEmpty() ? "ok" : answer.toString();
  }

  private String ask(String[] words) {
    switch (words[0]) {
      case "tree" -> begin(words);
      case "memory" -> memoryBytes = Long.parseLong(words[1]) * MB;
      case "batch" -> batchBytes = batch(words[1]);
      case "plan" -> plan = words.length == 1 ? null : plan(words);
      case "choose" -> {
        return describe(choose());
      }
      case "lost" -> {
        return paidFor(words);
      }
      case "start" -> {
        MergeChoice choice = choose();
        if (choice != null) {
          running.removeAll(choice.voids());
          voidable.removeAll(choice.voids());
          running.add(choice);
          voidable.add(choice);
        }
        return describe(choice);
      }
      case "finish" -> {
        if (running.isEmpty()) {
          return "nothing runs\n";
        }
        MergeChoice done = running.remove(words.length > 1 ? running.size() - 1 : 0);
        voidable.remove(done);
        finish(done);
      }
      case "free" -> {
        free.clear();
        Arrays.stream(words).skip(1).map(Slot::valueOf).forEach(free::add);
      }
      case "commits" -> voidable.clear();
      case "flush" -> {
        return flush(words);
      }
      case "show" -> {
        return show();
      }
      default -> add(words);
    }
    return "";
  }

  private static long batch(String word) {
    return word.equals("untold") ? MergeView.UNTOLD : Long.parseLong(word) * MB;
  }

  private static LevelShares plan(String[] words) {
    return new LevelShares(Arrays.stream(words).skip(1).map(Double::valueOf).toList());
  }

  private void begin(String[] words) {
    Map<String, String> values = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      String[] parts = words[i].split("=");
      values.put(parts[0], parts[1]);
    }
    int levels = Integer.parseInt(values.getOrDefault("levels", "1"));
    version = Version.of(KeyOrder.BYTES, levels, List.of());
    memoryBytes = Long.parseLong(values.getOrDefault("memory", "10")) * MB;
    targetBytes = Long.parseLong(values.getOrDefault("target", "10")) * MB;
    batchBytes = batch(values.getOrDefault("batch", "0"));
    long fixed = Long.parseLong(values.getOrDefault("fixed", "0")) * MB;
    int stop = L0Limits.DEFAULT.stop();
    StoreOptions.Builder given =
        StoreOptions.builder().levels(fixed == 0 ? Levels.dynamic() : Levels.fixed(fixed));
    ExperimentalOptions.set(
        given,
        e ->
            e.levelSizeRatio(Integer.parseInt(values.getOrDefault("T", "10")))
                .levelDropFactor(Double.parseDouble(values.getOrDefault("f", "1.5")))
                .l0Structure(L0Structure.valueOf(values.getOrDefault("l0", "GREEDY_GROUPED")))
                .mergeSelection(MergeSelection.valueOf(values.getOrDefault("selection", "GREEDY")))
                .l0StartGroups(Integer.parseInt(values.getOrDefault("start", "4")))
                .l0SlowdownGroups(stop)
                .l0StopGroups(stop)
                .mergesWithinL0(!values.getOrDefault("within", "on").equals("off")));
    options = LevelingOptions.of(given.build());
    shape =
        new TreeShape(
            runs(values.getOrDefault("runs", "1")),
            Double.parseDouble(values.getOrDefault("space", "1.25")));
    plan = null;
    running.clear();
    voidable.clear();
    free.clear();
    free.addAll(EnumSet.of(Slot.L0, Slot.DEEP));
  }

  private static Runs runs(String numbers) {
    return Runs.of(Arrays.stream(numbers.split(",")).mapToInt(Integer::parseInt).toArray());
  }

  private void add(String[] words) {
    Place place = place(words[0]);
    VersionEdit.Builder edit = VersionEdit.of(1);
    tables(words).forEach(table -> edit.add(place, table));
    version = version.apply(edit.build());
  }

  private Place place(String word) {
    if (word.startsWith("L0/")) {
      return Place.group(Long.parseLong(word.substring(3)));
    }
    return word.startsWith("tier/")
        ? Place.tier(Long.parseLong(word.substring(5)))
        : Place.level(version.levelCount() - Integer.parseInt(word.substring(1)));
  }

  private static List<SSTableMeta> tables(String[] words) {
    List<SSTableMeta> tables = new ArrayList<>();
    for (int i = 1; i < words.length; i++) {
      String[] parts = words[i].split("[:~=-]");
      boolean sized = words[i].contains("=");
      long size = sized ? Long.parseLong(parts[3]) : 10;
      long deletes = words[i].contains("~") ? Long.parseLong(parts[parts.length - 1]) : 0;
      tables.add(
          Tables.table(
              1,
              Long.parseLong(parts[0]),
              Tables.bytes(parts[1]),
              Tables.bytes(parts[2]),
              size * MB,
              100,
              deletes));
    }
    return tables;
  }

  private String flush(String[] words) {
    List<SSTableMeta> tables = tables(words);
    List<Place> places = version.place(options.l0(), tables);
    VersionEdit.Builder edit = VersionEdit.of(1);
    for (int i = 0; i < tables.size(); i++) {
      edit.add(places.get(i), tables.get(i));
    }
    version = version.apply(edit.build());
    return places.stream().map(Place::toString).collect(Collectors.joining(" ")) + "\n";
  }

  private MergeView view() {
    return new MergeView(
        version, shape, memoryBytes, targetBytes, batchBytes, plan, running, voidable, free);
  }

  private @Nullable MergeChoice choose() {
    return options.policy().choose(view());
  }

  private String paidFor(String[] words) {
    Map<Long, Double> pages = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      String[] parts = words[i].split("=");
      pages.put(Long.parseLong(parts[0]), Double.parseDouble(parts[1]));
    }
    List<MergeDown.Passed> paid =
        options.policy().paidFor(view(), new ReadLosses(pages, (int) MB, 1, 1));
    return paid.isEmpty()
        ? "nothing\n"
        : paid.stream()
            .map(wish -> describe(options.policy().choose(view(), wish)))
            .collect(Collectors.joining());
  }

  private void finish(MergeChoice choice) {
    List<SSTableMeta> outputs =
        choice.inputs().isEmpty()
            ? List.of()
            : List.of(
                Tables.table(
                    1, nextFile++, choice.minKey(), choice.maxKey(), choice.inputBytes(), 100, 0));
    version = version.apply(choice.edit(1, version, outputs));
  }

  private String describe(@Nullable MergeChoice choice) {
    if (choice == null) {
      return "nothing\n";
    }
    StringBuilder text = new StringBuilder(choice.kind().toString());
    for (MergeChoice.Input input : choice.inputs()) {
      text.append(' ').append(name(input.place())).append(numbers(input.tables()));
    }
    if (!choice.inputs().isEmpty()) {
      text.append(" into ").append(name(choice.output()));
      text.append(", ").append(text(choice.minKey())).append('-').append(text(choice.maxKey()));
      text.append(choice.bottommost() ? ", bottommost" : "");
    }
    for (MergeChoice other : choice.voids()) {
      text.append(", voids");
      other
          .inputs()
          .forEach(in -> text.append(' ').append(name(in.place())).append(numbers(in.tables())));
    }
    return text.append("\n  ").append(choice.reason()).append('\n').toString();
  }

  private String show() {
    StringBuilder text = new StringBuilder();
    for (PlacedRun group : version.groups()) {
      text.append(name(group.place())).append(numbers(group.run().elements())).append('\n');
    }
    for (PlacedRun tier : version.tiers()) {
      text.append(name(tier.place())).append(numbers(tier.run().elements())).append('\n');
    }
    for (int i = 1; i <= version.levelCount(); i++) {
      Level<SSTableMeta> level = version.level(i);
      text.append('L').append(i).append(numbers(level.elements())).append('\n');
    }
    return text.toString();
  }

  private String name(Place place) {
    if (place.equals(Place.TIERS)) {
      return "tiers";
    }
    return place.isLevel() ? "L" + (version.levelCount() - place.height()) : place.toString();
  }

  private static List<Long> numbers(List<SSTableMeta> tables) {
    return tables.stream().map(SSTableMeta::fileNumber).toList();
  }

  private static String text(byte[] key) {
    return new String(key, StandardCharsets.UTF_8);
  }
}
