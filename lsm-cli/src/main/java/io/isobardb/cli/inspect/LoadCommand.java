package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.KeyOrder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code load}: what {@code export} has written. */
@Command(
    name = "load",
    description = "Puts the entries of a file of lines into a tree of a store that is not open.",
    footer = {
      "",
      "One entry is a line: the key, a tab, the value, each as text, or as 0x and hexadecimal"
          + " digits, as 'export' writes them. A tab and expires=INSTANT may follow. They may come"
          + " in any order; as long as their keys ascend they are loaded in bulk, which costs less."
          + " All are on the device when the command ends; if it fails, some may be there."
    })
public final class LoadCommand implements Callable<Integer> {
  private static final long BATCH_BYTES = 256 << 10;

  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", required = true, description = "Into this tree.")
  private String tree = "";

  @Option(names = "--create", description = "Create the tree, and the store, if it is missing.")
  private boolean create;

  @Option(
      names = "--from",
      paramLabel = "FILE",
      description = "What to load. Default: standard input.")
  private @Nullable Path source;

  @Override
  public Integer call() throws IOException {
    Path file = source;
    UsageException.ofArguments(() -> TreeOptions.checkName(tree));
    if (file != null && Files.isDirectory(file)) {
      throw new UsageException("--from: " + file + " is a directory; give a file of lines");
    }
    long entries;
    // The file first: without it, no store is made.
    try (BufferedReader given =
            file == null ? null : Files.newBufferedReader(file, StandardCharsets.UTF_8);
        Store opened = store.open(create)) {
      BufferedReader lines =
          given != null
              ? given
              : new BufferedReader(
                  new InputStreamReader(System.in, StandardCharsets.UTF_8.newDecoder()));
      Tree target =
          UsageException.ofArguments(() -> create ? opened.openTree(tree) : opened.tree(tree));
      entries = load(opened, target, lines);
      opened.sync();
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println("loaded " + Numbers.count(entries, "line"));
    out.flush();
    return Exit.SUCCESS.code();
  }

  /** In bulk as long as keys ascend; the rest in batches. */
  private static long load(Store store, Tree tree, BufferedReader lines) throws IOException {
    KeyOrder order = tree.options().keyOrder();
    long number = 0;
    EntryText entry = null;
    try (BulkLoad load = store.bulkLoad(tree)) {
      byte[] last = null;
      for (String line; (line = read(lines, number)) != null; ) {
        entry = EntryText.parse(line, ++number);
        byte[] key = entry.key();
        if (last != null && order.compare(last, 0, last.length, key, 0, key.length) >= 0) {
          break;
        }
        EntryText added = entry;
        Instant expires = added.expires();
        ofLine(
            number,
            expires == null
                ? () -> load.add(tree, key, added.value())
                : () -> load.add(tree, key, added.value(), expires));
        entry = null;
        last = key;
      }
      load.commit();
    }
    WriteBatch batch = store.newBatch();
    while (entry != null) {
      EntryText put = entry;
      Instant expires = put.expires();
      ofLine(
          number,
          expires == null
              ? () -> batch.put(tree, put.key(), put.value())
              : () -> batch.put(tree, put.key(), put.value(), expires));
      if (batch.sizeBytes() >= BATCH_BYTES) {
        store.write(batch);
        batch.clear();
      }
      String line = read(lines, number);
      entry = line == null ? null : EntryText.parse(line, ++number);
    }
    store.write(batch);
    return number;
  }

  /** Takes an entry; what is wrong with it is told with its line. */
  private static void ofLine(long number, Runnable taking) {
    try {
      taking.run();
    } catch (IllegalArgumentException e) {
      throw new UsageException("line " + number + ": " + e.getMessage(), e);
    }
  }

  private static @Nullable String read(BufferedReader lines, long number) throws IOException {
    try {
      return lines.readLine();
    } catch (CharacterCodingException e) {
      throw new UsageException(
          "after line "
              + number
              + " something is no UTF-8; give such keys and values as 0x and hexadecimal digits",
          e);
    }
  }
}
