package io.isobardb.bench.crash;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.crash.CrashScript.Violation;
import io.isobardb.bench.crash.SimulatedCrashes.Result;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a crash test found, as text and as JSON. */
final class CrashReport {
  private CrashReport() {}

  static String text(Result result) {
    StringBuilder text = new StringBuilder();
    result
        .counts()
        .forEach(
            (happening, count) ->
                text.append(String.format(Locale.ROOT, "%,12d  %s%n", count, happening)));
    text.append(
        String.format(
            Locale.ROOT,
            "%,d %s of %,d workloads in %.1f s: %.0f per second%n",
            result.states(),
            result.what(),
            result.seeds(),
            result.seconds(),
            result.statesPerSecond()));
    Violation violation = result.violation();
    if (violation == null) {
      return text.append("nothing was lost, torn or made up\n").toString();
    }
    return text.append("WRONG: ").append(describe(violation)).toString();
  }

  static String json(Result result) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>();
    Violation violation = result.violation();
    all.put("passed", violation == null);
    all.put("workloads", result.seeds());
    all.put("states", result.states());
    all.put("seconds", result.seconds());
    all.put("statesPerSecond", result.statesPerSecond());
    Map<String, Object> counts = new LinkedHashMap<>();
    result
        .counts()
        .forEach(
            (happening, count) -> counts.put(happening.name().toLowerCase(Locale.ROOT), count));
    all.put("happened", counts);
    if (violation != null) {
      Map<String, Object> wrong = new LinkedHashMap<>();
      wrong.put("seed", violation.seed());
      wrong.put("at", violation.mutation());
      wrong.put("survival", name(violation.survival()));
      wrong.put("what", violation.cause().toString());
      wrong.put("replay", replay(violation));
      all.put("violation", wrong);
    }
    return JSON.std.asString(all) + "\n";
  }

  static String text(KillCycles.Result result) {
    StringBuilder text = new StringBuilder();
    result
        .moments()
        .forEach(
            (moment, count) ->
                text.append(
                    String.format(
                        Locale.ROOT,
                        "%,8d  killed %s%n",
                        count,
                        moment.name().toLowerCase(Locale.ROOT).replace('_', ' '))));
    text.append(
        String.format(
            Locale.ROOT,
            "%,d kills in %.1f s: %.0f per minute; %,d operations%n",
            result.cycles(),
            result.seconds(),
            result.perMinute(),
            result.operations()));
    Throwable wrong = result.wrong();
    if (wrong == null) {
      return text.append("nothing was lost, torn or made up\n").toString();
    }
    text.append("WRONG, seed ").append(result.seed()).append(", cycle ").append(result.cycles());
    text.append("; the store is left in ").append(result.directory()).append('\n');
    return text.append(trace(wrong)).toString();
  }

  static String json(KillCycles.Result result) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>();
    Throwable wrong = result.wrong();
    all.put("passed", wrong == null);
    all.put("seed", result.seed());
    all.put("cycles", result.cycles());
    all.put("operations", result.operations());
    all.put("seconds", result.seconds());
    all.put("cyclesPerMinute", result.perMinute());
    result
        .moments()
        .forEach(
            (moment, count) -> all.put("killed_" + moment.name().toLowerCase(Locale.ROOT), count));
    if (wrong != null) {
      all.put("what", wrong.toString());
      all.put("directory", result.directory().toString());
    }
    return JSON.std.asString(all) + "\n";
  }

  private static String trace(Throwable cause) {
    StringWriter trace = new StringWriter();
    cause.printStackTrace(new PrintWriter(trace, true));
    return trace.toString();
  }

  /** What is wrong, how to see it again, and where it showed. */
  static String describe(Violation violation) {
    String when =
        violation.survival() == null
            ? violation.mutation() < 0 ? "without a crash" : "fault at call " + violation.mutation()
            : "crash before mutating call "
                + violation.mutation()
                + ", survival "
                + name(violation.survival());
    return "seed "
        + violation.seed()
        + ", "
        + when
        + "\nreplay with: "
        + replay(violation)
        + "\n"
        + trace(violation.cause());
  }

  private static String replay(Violation violation) {
    String command = "isobar crash-test " + violation.how() + " --seeds 1 --seed ";
    command += violation.seed();
    if (violation.mutation() < 0) {
      return command;
    }
    command += " --at " + violation.mutation();
    return violation.survival() == null
        ? command
        : command + " --survival " + name(violation.survival());
  }

  private static @Nullable String name(@Nullable Survival survival) {
    return survival == null ? null : survival.name().toLowerCase(Locale.ROOT);
  }
}
