package io.isobardb.cli;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** The program {@code isobar} with the commands about a store, and nothing else. */
@Command(
    name = "isobar",
    description = "Looks at stores, checks and repairs them.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    version = Program.VERSION,
    synopsisSubcommandLabel = "COMMAND")
public final class Main extends Program {
  private Main() {}

  /**
   * Runs the command that {@code args} name and exits with its code; see {@link
   * io.isobardb.cli.console.Exit}.
   *
   * @param args the name of a command, and what it takes
   */
  public static void main(String[] args) {
    runAndExit(Main::commandLine, args);
  }

  /** {@return the program as a value, for a caller with streams of its own} */
  public static CommandLine commandLine() {
    return new Main().commandLine(List.of());
  }
}
