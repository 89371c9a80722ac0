package io.isobardb.cli.inspect;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.repair.StoreInspector;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code dump}: what the store consists of. */
@Command(
    name = "dump",
    description = "Lists trees, levels, groups and SSTables of a store that is not open, and keys.",
    footer = {
      "",
      "Changes nothing. Keys are given and shown as text, or as 0x and hexadecimal digits."
          + " --keys lists all versions: those in SSTables by key, then those in the log in the order"
          + " written."
    })
public final class DumpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", description = "Only this tree.")
  private @Nullable String tree;

  @Option(names = "--from", paramLabel = "KEY", description = "The first key to list.")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "KEY", description = "The key to stop before.")
  private @Nullable String to;

  @Option(names = "--keys", description = "List keys; implied by --from and --to.")
  private boolean keys;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Entries to list per tree, of SSTables and of the log (${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int limit;

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    Numbers.checkAtLeast("--limit", limit, 1);
    byte[] first = from == null ? null : KeyText.parse(from);
    byte[] end = to == null ? null : KeyText.parse(to);
    boolean listKeys = keys || first != null || end != null;
    PrintWriter out = spec.commandLine().getOut();
    try (StoreInspector inspector =
        UsageException.ofArguments(() -> StoreInspector.open(store.store(), store.options()))) {
      StoreDump dump = new StoreDump(inspector);
      List<Map<String, Object>> trees = new ArrayList<>();
      for (StoredTree one : chosen(inspector)) {
        Map<String, Object> described = StoreDump.tree(one);
        List<Map<String, Object>> ranges = dump.rangeDeletes(one);
        if (!ranges.isEmpty()) {
          described.put("rangeDeletes", ranges);
        }
        if (listKeys) {
          described.put("entries", dump.entries(one, first, end, limit));
          described.put("log", dump.operations(one, first, end, limit));
        }
        trees.add(described);
      }
      Map<String, Object> all = new LinkedHashMap<>(dump.store());
      all.put("trees", trees);
      if (json.isGiven()) {
        out.println(JSON.std.asString(all));
      } else {
        DumpText.print(all, out);
      }
    } catch (CorruptionException e) {
      throw store.damaged(e, Exit.FINDING);
    }
    out.flush();
    return 0;
  }

  private List<StoredTree> chosen(StoreInspector inspector) {
    List<StoredTree> trees = inspector.trees();
    String name = tree;
    if (name == null) {
      return trees;
    }
    List<StoredTree> found = trees.stream().filter(one -> one.name().equals(name)).toList();
    if (found.isEmpty()) {
      throw new UsageException(
          "there is no tree '"
              + name
              + "'; known are "
              + trees.stream().map(one -> one.name()).limit(20).collect(joining(", ")));
    }
    return found;
  }
}
