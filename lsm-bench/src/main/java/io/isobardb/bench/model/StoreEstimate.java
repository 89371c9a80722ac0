package io.isobardb.bench.model;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.lsm.tuning.TunerFile;
import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import io.isobardb.repair.StoreInspector;
import io.isobardb.tuner.model.EngineModel;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import io.isobardb.tuner.workload.LevelDecision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@link EngineModel} says of the trees of a store, beside what its files hold, and what its
 * planner of levels has found. The store must be closed. Thread rule: one thread.
 */
final class StoreEstimate {
  private static final long MEMORY = 16 << 20;
  private static final String LEVEL = "L[1-9][0-9]*";

  /** Makes the model of so many trees with so many keys each, whose entries have this size. */
  interface Models {
    EngineModel of(long entryBytes, int trees, double keys);
  }

  /**
   * A tree.
   *
   * @param levelBytes as they are, from L1 on
   * @param modelBytes as they are by the model
   * @param decision the last one on its levels that had found something; null if there is none
   */
  private record Estimate(
      String name,
      double entries,
      long entryBytes,
      long l0Bytes,
      double[] levelBytes,
      double[] modelBytes,
      WriteCost cost,
      @Nullable LevelDecision decision) {}

  private final String path;
  private final double skew;
  private final List<Estimate> trees = new ArrayList<>();
  private final List<String> passedOver = new ArrayList<>();

  private StoreEstimate(String path, double skew) {
    this.path = path;
    this.skew = skew;
  }

  /**
   * Reads a store's manifest. Trees are passed over that have less than two entries on a level, or
   * an order of keys that is not known, as nobody can tell their levels then.
   */
  static StoreEstimate of(Path directory, double skew, Models models) throws IOException {
    StoreOptions options =
        StoreOptions.builder().memoryBudget(MEMORY).createIfMissing(false).build();
    Path file = directory.resolve(TunerFile.NAME);
    String text = Files.exists(file) ? Files.readString(file) : "";
    List<LevelDecision> decisions = TunerFile.parseLevels(text);
    try (StoreInspector inspector = StoreInspector.open(directory, options)) {
      List<StoredTree> stored =
          inspector.trees().stream().filter(tree -> lastEntries(tree) >= 2).toList();
      StoreEstimate estimate = new StoreEstimate(inspector.path(), skew);
      inspector.trees().stream()
          .filter(tree -> lastEntries(tree) < 2)
          .forEach(tree -> estimate.passedOver.add(tree.name()));
      for (StoredTree tree : stored) {
        estimate.add(tree, stored.size(), models, found(decisions, tree.id()));
      }
      return estimate;
    }
  }

  private static @Nullable LevelDecision found(List<LevelDecision> decisions, int tree) {
    LevelDecision last = null;
    for (LevelDecision decision : decisions) {
      if (decision.tree() == tree && !Double.isNaN(decision.found())) {
        last = decision;
      }
    }
    return last;
  }

  /** Runs have the newest first, so levels come in the order of their depth. */
  private static List<StoredTree.Run> levels(StoredTree tree) {
    return tree.runs().stream().filter(run -> run.name().matches(LEVEL)).toList();
  }

  private static long lastEntries(StoredTree tree) {
    List<StoredTree.Run> levels = levels(tree);
    return levels.isEmpty() ? 0 : entries(levels.get(levels.size() - 1));
  }

  private static long entries(StoredTree.Run run) {
    return run.tables().stream().mapToLong(StoredTree.Table::entries).sum();
  }

  private void add(StoredTree tree, int count, Models models, @Nullable LevelDecision decision) {
    List<StoredTree.Run> levels = levels(tree);
    double keys = lastEntries(tree);
    long entryBytes = Math.max(1, (long) (levels.get(levels.size() - 1).bytes() / keys));
    // All that these are made of are arguments.
    Popularity popularity =
        UsageException.ofArguments(() -> TabulatedPopularity.of(KeyGroups.zipf(keys, skew)));
    EngineModel model = UsageException.ofArguments(() -> models.of(entryBytes, count, keys));
    double[] modelled = model.levelEntries(popularity);
    for (int i = 0; i < modelled.length; i++) {
      modelled[i] *= entryBytes;
    }
    long l0 =
        tree.runs().stream()
            .filter(run -> !run.name().matches(LEVEL))
            .mapToLong(StoredTree.Run::bytes)
            .sum();
    double[] stored = levels.stream().mapToDouble(StoredTree.Run::bytes).toArray();
    WriteCost cost = model.cost(popularity);
    trees.add(new Estimate(tree.name(), keys, entryBytes, l0, stored, modelled, cost, decision));
  }

  String text() {
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            "%s: %s with levels; by the model trees have equal shares, and keys are %s%n",
            path,
            Numbers.count(trees.size(), "tree"),
            skew == 0 ? "uniform" : "Zipf " + skew));
    if (!passedOver.isEmpty()) {
      out.append("passed over, without levels or with an order of keys that is not known: ")
          .append(String.join(", ", passedOver))
          .append('\n');
    }
    for (Estimate tree : trees) {
      out.append(
          String.format(
              Locale.ROOT,
              "%n%s: %,.0f entries of %s in the last level%n%n",
              tree.name,
              tree.entries,
              ByteSize.format(tree.entryBytes)));
      out.append(table(tree));
      LevelDecision decision = tree.decision;
      if (decision != null) {
        out.append(
            String.format(
                Locale.ROOT,
                "merges, by the store's planner in cycle %d: %.2f found, %.2f by its model%n",
                decision.cycle(),
                decision.found(),
                decision.modelled()));
      }
    }
    return out.toString();
  }

  private static TextTable table(Estimate tree) {
    TextTable table = new TextTable("", "holds", "by the model", "written per byte put");
    table.row("log", "", "", number(tree.cost.log()));
    table.row("flushes", "", "", number(tree.cost.flush()));
    table.row("L0", ByteSize.format(tree.l0Bytes), "", "");
    int most = Math.max(tree.levelBytes.length, tree.modelBytes.length);
    double[] written = tree.cost.levels();
    for (int l = 0; l < most; l++) {
      table.row(
          "L" + (l + 1),
          l < tree.levelBytes.length ? ByteSize.format(tree.levelBytes[l]) : "",
          l < tree.modelBytes.length ? ByteSize.format(tree.modelBytes[l]) : "",
          l < written.length ? number(written[l]) : "");
    }
    table.row("all", "", "", number(tree.cost.total()));
    return table;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  String json() throws IOException {
    List<Map<String, Object>> list = new ArrayList<>();
    for (Estimate tree : trees) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("name", tree.name);
      map.put("entries", tree.entries);
      map.put("entryBytes", tree.entryBytes);
      map.put("l0Bytes", tree.l0Bytes);
      map.put("levelBytes", tree.levelBytes);
      map.put("modelLevelBytes", tree.modelBytes);
      map.put("total", tree.cost.total());
      map.put("log", tree.cost.log());
      map.put("flush", tree.cost.flush());
      map.put("levels", tree.cost.levels());
      LevelDecision decision = tree.decision;
      if (decision != null) {
        map.put("cycle", decision.cycle());
        map.put("foundMerges", decision.found());
        map.put("modelMerges", decision.modelled());
      }
      list.add(map);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("store", path);
    report.put("skew", skew);
    report.put("trees", list);
    report.put("passedOver", passedOver);
    return JSON.std.asString(report) + "\n";
  }
}
