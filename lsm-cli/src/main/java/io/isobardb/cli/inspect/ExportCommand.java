package io.isobardb.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code export}: all entries of a tree, for {@code load}. */
@Command(
    name = "export",
    description = "Writes all entries of a tree of a store that is not open as lines.",
    footer = {
      "",
      "Changes nothing in the store. One entry is a line: the key, a tab, the value, each as text,"
          + " or as 0x and hexadecimal digits; --as gives values another form, which 'load' is to be"
          + " told; of an entry that expires, a tab and expires=INSTANT"
          + " follow, and expires=never of others in a tree with a time to live. The last line is '# end of N entries', by which 'load' tells a file that was"
          + " cut."
    })
public final class ExportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", required = true, description = "Of this tree.")
  private String tree = "";

  @Option(
      names = "--to",
      paramLabel = "FILE",
      description = "Where to; must not exist. Default: standard output.")
  private @Nullable Path target;

  @Mixin private ValueOption as = new ValueOption();

  @Override
  public Integer call() throws IOException {
    if (target != null) {
      Target.checkFile(target);
      Target.checkOutside(target, store.directory());
    }
    try (Store opened = store.openToRead()) {
      Tree from = UsageException.ofArguments(() -> opened.tree(tree));
      Path file = target;
      if (file == null) {
        PrintWriter out = spec.commandLine().getOut();
        write(from, out);
        out.flush();
      } else {
        write(from, file);
      }
    }
    return Exit.SUCCESS.code();
  }

  private void write(Tree from, Path file) throws IOException {
    Writer opened =
        new BufferedWriter(new OutputStreamWriter(store.create(file), UTF_8.newEncoder()));
    boolean whole = false;
    try {
      try (Writer out = opened) {
        write(from, out);
      }
      whole = true;
    } catch (IOException e) {
      throw new IOException(file + " can't be written: " + e.getMessage(), e);
    } finally {
      if (!whole) {
        Files.deleteIfExists(file);
      }
    }
  }

  private void write(Tree from, Writer out) throws IOException {
    long entries = 0;
    boolean tellsNever = !from.timeToLive().isZero();
    try (Cursor cursor = from.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        out.write(EntryText.format(cursor, as.form(), tellsNever) + '\n');
        entries++;
      }
    }
    out.write(EntryText.end(entries) + '\n');
  }
}
