package io.isobardb.bench.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.process.ChildMain;
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
    if (spec.warmUpRecords() > 0) {
      warmUp(spec.warmUp());
    }
    try (Engine engine = spec.engine().open(spec.options())) {
      event(out, Map.of("event", "open", "configuration", engine.configuration()));
      for (Phase phase : spec.phases()) {
        progress(out, phase, 0);
        try (PhaseRunner runner = new PhaseRunner(spec, engine, n -> progress(out, phase, n))) {
          event(out, runner.run(phase).toMap());
        }
      }
      Map<String, Object> end = new LinkedHashMap<>();
      end.put("event", "end");
      end.put("stats", engine.stats());
      event(out, end);
    }
  }

  /** Lets compilers and allocators settle on a store that is thrown away. */
  private static void warmUp(CompareSpec spec) throws IOException, InterruptedException {
    Files.createDirectories(spec.options().dir());
    try (Engine engine = spec.engine().open(spec.options());
        PhaseRunner runner = new PhaseRunner(spec, engine, n -> {})) {
      for (Phase phase : spec.phases()) {
        runner.run(phase);
      }
    } finally {
      Directories.delete(spec.options().dir());
    }
  }

  private static void progress(PrintStream out, Phase phase, long operations) {
    try {
      event(out, Map.of("event", "progress", "phase", phase.name(), "operations", operations));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void event(PrintStream out, Map<String, Object> event) throws IOException {
    out.println(JSON.std.asString(event));
    out.flush();
  }
}
