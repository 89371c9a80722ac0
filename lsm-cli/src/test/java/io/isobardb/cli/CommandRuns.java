package io.isobardb.cli;

import io.isobardb.cli.console.Messages;
import io.isobardb.cli.console.Output;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Runs commands one after the other in one JVM, as the program does with one. */
final class CommandRuns {
  /** Stands after the words of each command. */
  static final String END = ";;";

  /**
   * What came of a command.
   *
   * @param out what it printed, if that was kept
   */
  record Run(int code, String out, String errors) {
    private String encode() {
      return code + "," + hex(out) + "," + hex(errors);
    }

    static Run decode(String line) {
      String[] parts = line.split(",", -1);
      return new Run(Integer.parseInt(parts[0]), text(parts[1]), text(parts[2]));
    }

    private static String hex(String text) {
      return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(String hex) {
      return new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_8);
    }
  }

  private CommandRuns() {}

  /** Arguments: a file for the runs, whether output is kept, and the commands. */
  public static void main(String[] args) throws IOException {
    Messages.configure();
    boolean keep = Boolean.parseBoolean(args[1]);
    List<String> runs = new ArrayList<>();
    for (int from = 2; from < args.length; ) {
      int end = from + Arrays.asList(args).subList(from, args.length).indexOf(END);
      runs.add(run(keep, Arrays.copyOfRange(args, from, end)).encode());
      from = end + 1;
    }
    Files.write(Path.of(args[0]), runs);
  }

  private static Run run(boolean keep, String[] command) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    System.setErr(new PrintStream(errors, true));
    Output output = keep ? install(out) : Output.install();
    int code = Program.run(Main.commandLine(), output, command);
    System.err.flush();
    return new Run(
        code, out.toString(StandardCharsets.UTF_8), errors.toString(StandardCharsets.UTF_8));
  }

  private static Output install(OutputStream kept) {
    Output output = new Output(kept);
    System.setOut(new PrintStream(output));
    return output;
  }
}
