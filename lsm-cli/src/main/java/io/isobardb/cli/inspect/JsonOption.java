package io.isobardb.cli.inspect;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import picocli.CommandLine.Option;

/** The option {@code --json} of commands that say one thing. */
final class JsonOption {
  @Option(names = "--json", description = "Print one JSON object.")
  private boolean given;

  /** Prints what a command has to say, if anything, and flushes it. */
  void print(PrintWriter out, Map<String, ?> result, String text) throws IOException {
    String said = given ? JSON.std.asString(result) : text;
    if (!said.isEmpty()) {
      out.println(said);
    }
    out.flush();
  }

  boolean isGiven() {
    return given;
  }
}
