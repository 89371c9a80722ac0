package io.isobardb.bench.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.process.ChildMain;
import io.isobardb.cli.console.Progress.Watcher;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The child process: one engine through all phases. Its argument is a {@link CompareSpec}; every
 * line it prints is a JSON object whose {@code event} is {@code open}, {@code progress}, {@code
 * phase} or {@code end}. It exits with 0 only after {@code end}.
 */
final class CompareChild {
  private CompareChild() {}

  /** Runs the comparison's part. */
  public static void main(String[] args) {
    ChildMain.run(() -> run(CompareSpec.fromJson(args[0]), System.out));
  }

  static void run(CompareSpec spec, PrintStream out) throws IOException, InterruptedException {
    // All phases count alike, and the warming up as one.
    int steps = spec.phases().size() + 1;
    if (spec.warmUpRecords() > 0) {
      warmUp(spec.warmUp(), (text, done, all) -> progress(out, text, done / all / steps));
    }
    Files.createDirectories(spec.options().dir());
    try (Engine engine = spec.engine().open(spec.options())) {
      event(out, Map.of("event", "open", "configuration", engine.configuration()));
      for (int i = 0; i < steps - 1; i++) {
        int step = i + 1;
        Watcher watcher = (text, done, all) -> progress(out, text, (step + done / all) / steps);
        watcher.at(spec.phases().get(i).label(), 0, 1);
        try (PhaseRunner runner = new PhaseRunner(spec, engine, watcher)) {
          event(out, runner.run(spec.phases().get(i)).toMap());
        }
      }
      Map<String, Object> end = new LinkedHashMap<>();
      end.put("event", "end");
      end.put("stats", engine.stats());
      event(out, end);
    }
  }

  /** Lets compilers and allocators settle on a store that is thrown away. */
  private static void warmUp(CompareSpec spec, Watcher watcher)
      throws IOException, InterruptedException {
    watcher.at("warming up", 0, 1);
    Files.createDirectories(spec.options().dir());
    try (Engine engine = spec.engine().open(spec.options());
        PhaseRunner runner =
            new PhaseRunner(
                spec,
                engine,
                (text, done, all) -> watcher.at("warming up, " + text, done / 2, all))) {
      for (Phase phase : spec.phases()) {
        runner.run(phase);
      }
    } finally {
      Directories.delete(spec.options().dir());
    }
  }

  private static void progress(PrintStream out, String text, double share) {
    try {
      event(out, Map.of("event", "progress", "text", text, "share", share));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void event(PrintStream out, Map<String, Object> event) throws IOException {
    out.println(JSON.std.asString(event));
    out.flush();
  }
}
