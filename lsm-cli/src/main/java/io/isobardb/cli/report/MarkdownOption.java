package io.isobardb.cli.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --markdown} of a command whose results stand in documents. */
public final class MarkdownOption {
  private static final int LINE = 110;

  @Option(
      names = "--markdown",
      paramLabel = "FILE",
      description = "Also write the tables for a document, and a picture beside it.")
  private @Nullable Path file;

  /** As {@link HtmlOption#check}. */
  public void check() {
    HtmlOption.check("--markdown", file);
  }

  /** Whether it was given. */
  public boolean isGiven() {
    return file != null;
  }

  /**
   * Writes text and picture if they are asked for.
   *
   * @param text from the name of the picture's file
   */
  public void write(List<Chart> charts, UnaryOperator<String> text) throws IOException {
    if (file != null) {
      String name = file.getFileName().toString();
      Path picture = file.resolveSibling(name.replaceFirst("\\.[^.]*$", "") + ".svg");
      Files.writeString(picture, Svg.draw(charts));
      Files.writeString(file, wrapped(text.apply(picture.getFileName().toString())));
    }
  }

  /** Lines of prose at their usual length; those of tables and commands stay as they are. */
  static String wrapped(String text) {
    StringBuilder out = new StringBuilder();
    for (String line : text.split("\n", -1)) {
      String rest = line;
      while (rest.length() > LINE && !rest.startsWith("|") && !rest.startsWith("    ")) {
        int end = rest.lastIndexOf(' ', LINE);
        if (end < LINE / 2) {
          break;
        }
        out.append(rest, 0, end).append('\n');
        rest = (line.startsWith("- ") ? "  " : "") + rest.substring(end + 1);
      }
      out.append(rest).append('\n');
    }
    return out.substring(0, out.length() - 1);
  }
}
