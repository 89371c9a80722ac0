package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code scan}: the entries of a range. */
@Command(
    name = "scan",
    description = "Prints the entries of a range of keys of a store that is not open.",
    footer = {
      "",
      "Changes nothing. One entry is a line: the key, a tab, the value, each as text, or as 0x and"
          + " hexadecimal digits; --as gives values another form. Of an entry that expires, a tab"
          + " and expires=INSTANT follow."
    })
public final class ScanCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", required = true, description = "Of this tree.")
  private String tree = "";

  @Option(names = "--from", paramLabel = "KEY", description = "The first key.")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "KEY", description = "The key to stop before.")
  private @Nullable String to;

  @Option(names = "--reverse", description = "From the last entry to the first.")
  private boolean reverse;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "At most so many entries (${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int limit;

  @Mixin private ValueOption as = new ValueOption();

  @Option(names = "--json", description = "Print a JSON object for each entry, one to a line.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    Numbers.checkAtLeast("--limit", limit, 1);
    CursorOptions range = CursorOptions.all();
    range = from == null ? range : range.from(KeyText.parse(from));
    range = to == null ? range : range.to(KeyText.parse(to));
    PrintWriter out = spec.commandLine().getOut();
    try (Store opened = store.openToRead();
        Cursor cursor = UsageException.ofArguments(() -> opened.tree(tree)).cursor(range)) {
      boolean more = reverse ? cursor.last() : cursor.first();
      for (int i = 0; more && i < limit; i++) {
        out.println(
            json ? EntryText.json(cursor, as.form()) : EntryText.format(cursor, as.form(), false));
        more = reverse ? cursor.previous() : cursor.next();
      }
      out.flush();
      if (more && !spec.commandLine().getParseResult().hasMatchedOption("--limit")) {
        PrintWriter err = spec.commandLine().getErr();
        err.printf(
            Locale.ROOT,
            "stopped after %,d entries, and there are more; --limit N prints up to N of them%n",
            limit);
        err.flush();
      }
    }
    return Exit.SUCCESS.code();
  }
}
