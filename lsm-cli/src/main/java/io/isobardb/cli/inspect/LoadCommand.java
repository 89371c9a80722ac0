package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.KeyOrder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
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
          + " digits, as 'export' writes them; --as says so if values have another form. A tab and"
          + " expires=INSTANT may follow, or expires=never. They may come in any order; as long as their keys ascend they are loaded in bulk, which costs less."
          + " The last line must be '# end of N entries', as 'export' writes it; else the exit code"
          + " is 1, as lines may be missing. All entries are on the device when the command ends. If"
          + " it fails before the first key that does not ascend, none is there; later, some are."
    })
public final class LoadCommand implements Callable<Integer> {
  private static final Path STANDARD_INPUT = Path.of("-");
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
      description = "What to load; - is standard input, which is the default.")
  private @Nullable Path source;

  @Option(
      names = "--without-end",
      description =
          "Also load lines that '# end of N entries' doesn't follow, such as those of 'scan' or of"
              + " your own. The last one must end as the others do.")
  private boolean withoutEnd;

  @Mixin private ValueOption as = new ValueOption();
  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    Path file = source == null || source.equals(STANDARD_INPUT) ? null : source;
    UsageException.ofArguments(() -> TreeOptions.checkName(tree));
    if (file != null && Files.isDirectory(file)) {
      throw new UsageException("--from: " + file + " is a directory; give a file of lines");
    }
    long entries;
    // The file first: without it, no store is made.
    try (EntryLines given = file == null ? null : EntryLines.of(file, withoutEnd, as.form());
        Store opened = store.open(create)) {
      Tree target =
          UsageException.ofArguments(() -> create ? opened.openTree(tree) : opened.tree(tree));
      EntryLines lines = given != null ? given : EntryLines.ofStandardInput(withoutEnd, as.form());
      load(opened, target, lines);
      opened.sync();
      entries = lines.entries();
    }
    json.print(
        spec.commandLine().getOut(),
        Map.of("entries", entries),
        "loaded " + Numbers.entries(entries));
    return Exit.SUCCESS.code();
  }

  /** In bulk as long as keys ascend; the rest in batches. */
  private static void load(Store store, Tree tree, EntryLines lines) throws IOException {
    KeyOrder order = tree.options().keyOrder();
    EntryText entry;
    try (BulkLoad load = store.bulkLoad(tree)) {
      byte[] last = null;
      while ((entry = lines.next()) != null) {
        byte[] key = entry.key();
        if (last != null && order.compare(last, 0, last.length, key, 0, key.length) >= 0) {
          break;
        }
        byte[] value = entry.value();
        Instant expires = entry.expires();
        ofLine(
            lines,
            expires == null
                ? () -> load.add(tree, key, value)
                : () -> load.add(tree, key, value, expires));
        last = key;
      }
      load.commit();
    }
    WriteBatch batch = store.newBatch();
    while (entry != null) {
      EntryText put = entry;
      Instant expires = put.expires();
      ofLine(
          lines,
          expires == null
              ? () -> batch.put(tree, put.key(), put.value())
              : () -> batch.put(tree, put.key(), put.value(), expires));
      if (batch.sizeBytes() >= BATCH_BYTES) {
        store.write(batch);
        batch.clear();
      }
      entry = lines.next();
    }
    store.write(batch);
  }

  /** Takes an entry; what is wrong with it is told with its line. */
  private static void ofLine(EntryLines lines, Runnable taking) {
    try {
      StoreSettings.inWordsOfCommands(
          () -> {
            taking.run();
            return lines;
          });
    } catch (UsageException e) {
      throw new UsageException("line " + lines.number() + ": " + e.getMessage(), e);
    }
  }
}
