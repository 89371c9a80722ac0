package io.isobardb.cli.inspect;

import picocli.CommandLine.Option;

/** The option {@code --as} of commands that take or give values. */
final class ValueOption {
  @Option(
      names = "--as",
      paramLabel = "FORM",
      description =
          "How values are given and shown: auto (text, or 0x and hexadecimal digits), text (UTF-8),"
              + " hex, long, int (big-endian), json (default: ${DEFAULT-VALUE}).",
      defaultValue = "auto")
  private ValueForm form = ValueForm.AUTO;

  ValueForm form() {
    return form;
  }
}
