package io.isobardb.bench.compare;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.process.ChildMain;
import io.isobardb.bench.process.Events;
import io.isobardb.cli.console.Progress.Watcher;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;

/**
 * The child process: one engine through all phases, as a {@link CompareSpec} says. Its events are
 * {@code open}, {@code progress} and {@code phase}.
 */
final class CompareChild {
  private CompareChild() {}

  /** Runs the comparison's part. */
  public static void main(String[] args) {
    ChildMain.run(CompareSpec.class, args, CompareChild::run);
  }

  static void run(CompareSpec spec, Events events) throws IOException, InterruptedException {
    // All phases count alike, and the warming up as one.
    int steps = spec.phases().size() + 1;
    if (spec.warmUpRecords() > 0) {
      warmUp(spec.warmUp(), (text, done, all) -> events.at(text, done / all, steps));
    }
    Files.createDirectories(spec.options().dir());
    try (Engine engine = spec.engine().open(spec.options())) {
      events.send("open", Map.of("configuration", engine.configuration()));
      for (int i = 0; i < steps - 1; i++) {
        int step = i + 1;
        Watcher watcher = (text, done, all) -> events.at(text, step + done / all, steps);
        watcher.at(spec.phases().get(i).label(), 0, 1);
        try (PhaseRunner runner = new PhaseRunner(spec, engine, spec.phases().get(i), watcher)) {
          events.send("phase", runner.run().toMap());
        }
      }
    }
  }

  /** Lets compilers and allocators settle on a store that is thrown away. */
  private static void warmUp(CompareSpec spec, Watcher watcher)
      throws IOException, InterruptedException {
    watcher.at("warming up", 0, 1);
    Files.createDirectories(spec.options().dir());
    try (Engine engine = spec.engine().open(spec.options())) {
      for (Phase phase : spec.phases()) {
        Watcher part = (text, done, all) -> watcher.at("warming up, " + text, done / 2, all);
        try (PhaseRunner runner = new PhaseRunner(spec, engine, phase, part)) {
          runner.run();
        }
      }
    } finally {
      Directories.delete(spec.options().dir());
    }
  }
}
