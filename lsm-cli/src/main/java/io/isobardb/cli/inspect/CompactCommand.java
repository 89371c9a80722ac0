package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code compact}: merges all, or a range, down to the last level. */
@Command(
    name = "compact",
    description = "Merges a store that is not open down to the last levels of its trees.",
    footer = {
      "",
      "What is deleted goes from the disk. An open store merges by itself, so this is for one that"
          + " is about to be copied, or that lost much."
    })
public final class CompactCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", description = "Only this tree.")
  private @Nullable String tree;

  @Option(names = "--from", paramLabel = "KEY", description = "The first key; all by default.")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "KEY", description = "The key to stop before.")
  private @Nullable String to;

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    byte[] first = from == null ? null : KeyText.parse(from);
    byte[] end = to == null ? null : KeyText.parse(to);
    Map<String, Object> trees = new LinkedHashMap<>();
    StringJoiner lines = new StringJoiner(System.lineSeparator());
    try (Store opened =
        UsageException.ofArguments(() -> Store.open(store.store(), store.options()))) {
      for (String name : tree == null ? opened.treeNames() : List.of(tree)) {
        Tree found = UsageException.ofArguments(() -> opened.tree(name));
        long before = found.approximateBytes(first, end);
        UsageException.ofArguments(
            () -> {
              found.compact(first, end);
              return found;
            });
        long after = found.approximateBytes(first, end);
        Map<String, Object> bytes = new LinkedHashMap<>();
        bytes.put("before", before);
        bytes.put("after", after);
        trees.put(name, bytes);
        lines.add(String.format(Locale.ROOT, "%s: %,d bytes, before %,d", name, after, before));
      }
    }
    json.print(spec.commandLine().getOut(), trees, lines.toString());
    return Exit.SUCCESS.code();
  }
}
