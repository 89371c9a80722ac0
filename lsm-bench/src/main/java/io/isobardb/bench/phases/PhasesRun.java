package io.isobardb.bench.phases;

import io.isobardb.bench.drive.Shape;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.policy.Adaptation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What is run: phases on simulated stores.
 *
 * @param records in the store
 * @param warmUp updates before the first phase
 * @param memoryBytes the store's budget; a sixteenth of it is for writes
 * @param maxSpace as the option of a tree
 * @param options more of the store's, by their names
 */
record PhasesRun(
    PhaseList workload,
    long records,
    long warmUp,
    long memoryBytes,
    double maxSpace,
    Map<String, String> options) {
  private static final String BEFORE = "updates=100";

  /** Runs all phases with one contender. */
  Outcome run(Contender contender, long seed, Watcher watcher) {
    TreeOptions.Builder tree = TreeOptions.builder().maxSpace(maxSpace);
    if (contender.adaptation() == Adaptation.OFF) {
      tree.runs(contender.runs());
    }
    try (PhasedStore store =
        new PhasedStore(storeOptions(contender), tree.build(), workload.isZipf(), seed)) {
      watcher.at(contender.name() + ": loading", 0, 1);
      store.load(Math.max(1, records / workload.growth()));
      store.run(Mix.parse(BEFORE), warmUp / workload.growth());
      return measure(store, contender, seed, watcher);
    }
  }

  private Outcome measure(PhasedStore store, Contender contender, long seed, Watcher watcher) {
    List<List<PhasedStore.Pages>> pages = new ArrayList<>();
    List<String> runs = new ArrayList<>();
    long begin = store.done();
    PhasedStore.Pages before = store.pages();
    for (int i = 0; i < workload.phases().size(); i++) {
      Phase phase = workload.phases().get(i);
      List<PhasedStore.Pages> parts = new ArrayList<>();
      for (int part = 0; part < Outcome.PARTS; part++) {
        watcher.at(
            contender.name(),
            i * (long) Outcome.PARTS + part,
            workload.phases().size() * (long) Outcome.PARTS);
        long from = phase.operations() * part / Outcome.PARTS;
        long to = phase.operations() * (part + 1) / Outcome.PARTS;
        store.run(phase.mix(), to - from);
        boolean isLast = i + 1 == workload.phases().size() && part + 1 == Outcome.PARTS;
        if (isLast) {
          store.settle();
        }
        PhasedStore.Pages now = store.pages();
        parts.add(now.minus(before));
        before = now;
      }
      pages.add(parts);
      runs.add(store.runs());
    }
    List<Outcome.Decision> decisions =
        store.decisions().stream().map(each -> each.since(begin)).toList();
    return new Outcome(contender.name(), seed, pages, runs, decisions);
  }

  /** The options of the store. */
  StoreOptions storeOptions(Contender contender) {
    StoreOptions.Builder builder =
        StoreOptions.builder()
            .memoryBudget(memoryBytes)
            .writeMemory(memoryBytes / 16)
            .logLimit(Math.max(16 << 20, memoryBytes / 2))
            .memoryTuner(false);
    ExperimentalOptions.set(builder, e -> e.adaptation(contender.adaptation()));
    options.forEach(builder::set);
    return builder.build();
  }

  /** The memory that goes with so many records: a fifth of them. */
  static long usualMemory(long records) {
    return Math.max(4L << 20, records * Shape.RECORD_BYTES / 5);
  }
}
