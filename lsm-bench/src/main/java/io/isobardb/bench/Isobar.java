package io.isobardb.bench;

import io.isobardb.bench.compare.CompareCommand;
import io.isobardb.bench.crash.CrashTestCommand;
import io.isobardb.bench.demo.DemoCommand;
import io.isobardb.bench.drive.RangeDeletesCommand;
import io.isobardb.bench.experiment.ExperimentCommand;
import io.isobardb.bench.jmh.JmhCommand;
import io.isobardb.bench.latency.LatencyCommand;
import io.isobardb.bench.model.ModelCommand;
import io.isobardb.bench.phases.PhasesCommand;
import io.isobardb.bench.record.RecordCommand;
import io.isobardb.bench.search.TuneCommand;
import io.isobardb.bench.soak.SoakCommand;
import io.isobardb.bench.streams.StreamsCommand;
import io.isobardb.bench.tpcc.TpccCommand;
import io.isobardb.bench.ycsb.YcsbCommand;
import io.isobardb.cli.Program;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** The program {@code isobar} with all commands. */
@Command(
    name = "isobar",
    description = "Isobar: an embedded, ordered, durable key-value store.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    version = Program.VERSION,
    synopsisSubcommandLabel = "COMMAND")
public final class Isobar extends Program {
  private static final List<Class<?>> COMMANDS =
      List.of(
          DemoCommand.class,
          CompareCommand.class,
          YcsbCommand.class,
          TpccCommand.class,
          LatencyCommand.class,
          PhasesCommand.class,
          CrashTestCommand.class,
          ExperimentCommand.class,
          ModelCommand.class,
          TuneCommand.class,
          RecordCommand.class,
          SoakCommand.class,
          JmhCommand.class,
          RangeDeletesCommand.class,
          StreamsCommand.class);

  private Isobar() {}

  /** Runs the command that {@code args} name and exits with its code. */
  public static void main(String[] args) {
    runAndExit(Isobar::commandLine, args);
  }

  /** The program as a value, for a caller with streams of its own. */
  public static CommandLine commandLine() {
    return new Isobar().commandLine(COMMANDS);
  }
}
