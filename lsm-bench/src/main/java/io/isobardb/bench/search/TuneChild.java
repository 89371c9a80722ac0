package io.isobardb.bench.search;

import io.isobardb.bench.experiment.SimulatedLoad;
import io.isobardb.bench.latency.Jobs;
import io.isobardb.bench.latency.RecordedLoad;
import io.isobardb.bench.latency.ScaledLoad;
import io.isobardb.bench.process.ChildMain;
import io.isobardb.lsm.TreeOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** The process that runs a {@link TuneSpec}. Its one event has the figures. */
final class TuneChild {
  private TuneChild() {}

  /** Runs it. */
  public static void main(String[] args) {
    ChildMain.run(
        TuneSpec.class,
        args,
        (spec, events) -> events.send("run", Map.of(Loads.FIGURES, run(spec))));
  }

  private static Map<String, Double> run(TuneSpec spec) throws IOException {
    Map<String, String> store = TreeKnobs.without(spec.options());
    TreeOptions tree = TreeKnobs.of(spec.options());
    if (spec.kind().equals(TuneSpec.SIMULATED)) {
      return new SimulatedLoad(spec.load(), spec.part(), store, tree).run(spec.seed());
    }
    if (spec.kind().equals(TuneSpec.RECORDED)) {
      return RecordedLoad.read("--workload", Path.of(spec.load()), spec.part(), spec.seconds())
          .run(store, tree, spec.seed(), progress -> {});
    }
    ScaledLoad.Work work = new ScaledLoad.Work(Jobs.ORDERED, 0, store, tree);
    return new ScaledLoad(spec.load(), 0, work, spec.part(), spec.seconds())
        .run(spec.seed(), progress -> {});
  }
}
