package io.isobardb.bench.crash;

import io.isobardb.bench.crash.CrashScript.Crashes;
import io.isobardb.bench.crash.SimulatedCrashes.Result;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Shutdown;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code crash-test}: is anything lost, torn or made up when power fails or a process dies? */
@Command(
    name = "crash-test",
    description = "Crashes stores again and again, and checks what is left.",
    footer = {
      "",
      "--simulated runs random workloads on a simulated disk. Before each of its",
      "mutating calls the disk is copied as crashes could leave it, opened, and held",
      "against a model: all that was acknowledged is there, batches are whole, nothing",
      "is there that never was, files are sound. With --faults calls fail instead, once",
      "or from then on, or the disk is full for a while: what is wrong is told, reads",
      "go on, nothing acknowledged is lost.",
      "Survivals: lost (all that was not synced), ordered (a prefix, its last write",
      "torn), any (any sectors and names), all, killed (the process died, the system",
      "lives on).",
      "",
      "--backups makes backups of simulated stores while they are written to, restores",
      "each, and holds it against the model: it must be of one moment over all trees.",
      "Power fails now and then: earlier backups and the store must be whole.",
      "",
      "--cycles runs processes that write to a store in a directory, and kills them",
      "while they open, write or close it. What they acknowledged, batches, deletes and",
      "checkpoints are checked after each kill."
    })
public final class CrashTestCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--simulated", description = "Power failures on a simulated disk.")
  private boolean simulated;

  @Option(
      names = "--faults",
      description =
          "With --simulated: calls fail, instead of power; --stride then counts all calls.")
  private boolean faults;

  @Option(names = "--cycles", paramLabel = "N", description = "Kill N real processes.")
  private @Nullable Long cycles;

  @Option(
      names = "--additions",
      paramLabel = "N",
      description =
          "With --cycles: processes add N times to 1,000 counters that eight threads share, by a"
              + " merge operator; each counter must be exact.")
  private @Nullable Long additions;

  @Option(
      names = "--chore",
      paramLabel = "NAME",
      description =
          "With --cycles: kill within this chore of the process: loading, backing_up, copying,"
              + " renaming, restoring, emptying or dropping. Some kills come too late.")
  private KillCycles.@Nullable Moment chore;

  @Option(
      names = "--backups",
      paramLabel = "N",
      description = "Make and restore N backups of simulated stores under load.")
  private @Nullable Long backups;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where --cycles makes its store. Default: the system's temporary directory.")
  private @Nullable Path directory;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description = "How many workloads. Default: ${DEFAULT-VALUE}.")
  private long seeds = 20;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "The first one's seed. Default: ${DEFAULT-VALUE}.")
  private long seed = 1;

  @Option(
      names = "--stride",
      paramLabel = "K",
      description = "Crash at every K-th mutating call. Default: ${DEFAULT-VALUE}.")
  private int stride = 1;

  @Option(
      names = "--survival",
      paramLabel = "MODE",
      split = ",",
      description =
          "What of the unsynced is left: ${COMPLETION-CANDIDATES}. Default: all of these.")
  private @Nullable List<Survival> survivals;

  @Option(
      names = "--at",
      paramLabel = "CALL",
      hidden = true,
      description = "Crash at this mutating call alone: replays a violation.")
  private long at = -1;

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    int asked = (simulated ? 1 : 0) + (cycles == null ? 0 : 1) + (backups == null ? 0 : 1);
    if (additions != null && cycles == null) {
      throw new ParameterException(spec.commandLine(), "--additions is for --cycles N");
    }
    if (chore != null && (cycles == null || additions != null || !KillChores.isChore(chore))) {
      throw new ParameterException(
          spec.commandLine(), "--chore is for --cycles N without --additions, and names a chore");
    }
    if (asked != 1 || (faults && !simulated)) {
      throw new ParameterException(
          spec.commandLine(), "which crashes? Give --simulated, --cycles N or --backups N");
    }
    if (backups != null) {
      Numbers.checkAtLeast("--backups", backups, 1);
      return backUp(backups);
    }
    if (cycles == null) {
      return simulate();
    }
    Numbers.checkAtLeast("--cycles", cycles, 1);
    if (additions != null) {
      Numbers.checkAtLeast("--additions", additions, 1);
    }
    return kill(cycles);
  }

  private int kill(long count) throws IOException, InterruptedException {
    Path parent = directory != null ? directory : Path.of(System.getProperty("java.io.tmpdir"));
    KillCycles.Result result;
    try (Progress progress = Progress.onStandardError()) {
      progress.stage("killing");
      result =
          additions == null
              ? KillCycles.run(seed, count, chore, parent, progress::update)
              : CounterKills.run(seed, count, additions, parent, progress::update);
    }
    Exit exit = result.wrong() == null ? Exit.SUCCESS : Exit.FINDING;
    if (!Shutdown.isUnderWay()) {
      print(json.isGiven() ? CrashReport.json(result) : CrashReport.text(result));
    }
    return exit.code();
  }

  private void print(String text) {
    PrintWriter out = spec.commandLine().getOut();
    out.print(text);
    out.flush();
  }

  private int simulate() throws IOException {
    Numbers.checkAtLeast("--stride", stride, 1);
    Numbers.checkAtLeast("--seeds", seeds, 1);
    EnumSet<Survival> modes =
        survivals == null ? EnumSet.allOf(Survival.class) : EnumSet.copyOf(survivals);
    Result result;
    try (Progress progress = Progress.onStandardError()) {
      progress.stage("crashing");
      result =
          faults
              ? SimulatedFaults.run(seed, seeds, stride, at, progress::update)
              : SimulatedCrashes.run(seed, seeds, new Crashes(stride, modes, at), progress::update);
    }
    return tell(result);
  }

  private int backUp(long count) throws IOException {
    Result result;
    try (Progress progress = Progress.onStandardError()) {
      progress.stage("backing up");
      result = SimulatedBackups.run(seed, count, progress::update);
    }
    return tell(result);
  }

  private int tell(Result result) throws IOException {
    print(json.isGiven() ? CrashReport.json(result) : CrashReport.text(result));
    return (result.violation() == null ? Exit.SUCCESS : Exit.FINDING).code();
  }
}
