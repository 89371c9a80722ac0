package io.isobardb.cli.console;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --json}, which all commands that print results have. */
public final class JsonOption {
  @Option(names = "--json", description = "Print the results as one JSON value.")
  private boolean given;

  /** An option that is not given yet: picocli sets it. */
  public JsonOption() {}

  /**
   * Prints what a command has to say, if anything, and flushes it.
   *
   * @param out the command's
   * @param result maps, lists, strings, numbers and truth values; null for what is not there
   * @param text the same for people, without the last line's end; empty if there is nothing to say
   * @throws IOException never, unless Jackson meets what has no form in JSON
   */
  public void print(PrintWriter out, @Nullable Object result, String text) throws IOException {
    String said = given ? JSON.std.asString(result) : text;
    if (!said.isEmpty()) {
      out.println(said);
    }
    out.flush();
  }

  /** {@return whether JSON is asked for} */
  public boolean isGiven() {
    return given;
  }
}
