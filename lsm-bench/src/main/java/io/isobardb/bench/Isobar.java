package io.isobardb.bench;

import io.isobardb.bench.compare.CompareCommand;
import io.isobardb.bench.console.ByteSize;
import io.isobardb.bench.console.Count;
import io.isobardb.bench.console.ErrorText;
import io.isobardb.bench.console.Messages;
import io.isobardb.bench.console.TimeSpan;
import io.isobardb.bench.crash.CrashTestCommand;
import io.isobardb.bench.experiment.ExperimentCommand;
import io.isobardb.bench.inspect.CheckCommand;
import io.isobardb.bench.inspect.DumpCommand;
import io.isobardb.bench.inspect.RepairCommand;
import io.isobardb.bench.inspect.StatsCommand;
import io.isobardb.bench.inspect.TuneReportCommand;
import io.isobardb.bench.jmh.JmhCommand;
import io.isobardb.bench.model.ModelCommand;
import io.isobardb.bench.soak.SoakCommand;
import io.isobardb.bench.tpcc.TpccCommand;
import io.isobardb.bench.ycsb.YcsbCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The program {@code isobar}. */
@Command(
    name = "isobar",
    description = "Isobar: an embedded, ordered, durable key-value store.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    version = "isobar 0.1.0-SNAPSHOT",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      CompareCommand.class,
      YcsbCommand.class,
      TpccCommand.class,
      CheckCommand.class,
      DumpCommand.class,
      RepairCommand.class,
      StatsCommand.class,
      CrashTestCommand.class,
      TuneReportCommand.class,
      ExperimentCommand.class,
      ModelCommand.class,
      SoakCommand.class,
      JmhCommand.class
    })
public final class Isobar implements Runnable {
  @Spec private CommandSpec spec;

  /** Runs the command that {@code args} name and exits with its code. */
  public static void main(String[] args) {
    Messages.configure();
    System.exit(commandLine().execute(args));
  }

  /** The program as a value, for a caller with streams of its own. */
  public static CommandLine commandLine() {
    return new CommandLine(new Isobar())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(ByteSize.class, ByteSize::parse)
        .registerConverter(TimeSpan.class, TimeSpan::parse)
        .registerConverter(Count.class, Count::parse)
        .setExecutionExceptionHandler(Isobar::failed);
  }

  private static int failed(Exception e, CommandLine commandLine, CommandLine.ParseResult parsed) {
    commandLine.getErr().println("isobar " + commandLine.getCommandName() + ": " + ErrorText.of(e));
    boolean wrongUsage = e instanceof IllegalArgumentException;
    if (!wrongUsage && Boolean.getBoolean("isobar.trace")) {
      e.printStackTrace(commandLine.getErr());
    }
    return wrongUsage ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }
}
