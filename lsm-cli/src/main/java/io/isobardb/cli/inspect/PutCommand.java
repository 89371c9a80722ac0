package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code put}: sets a key, or removes it. */
@Command(
    name = "put",
    description = "Sets a key of a store that is not open; without a value, removes it.",
    footer = {
      "",
      "Keys and values are given as text, or as 0x and hexadecimal digits. The write is on the"
          + " device when the command ends."
    })
public final class PutCommand implements Callable<Integer> {
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", required = true, description = "Of this tree.")
  private String tree = "";

  @Option(names = "--create", description = "Create the tree if it is missing.")
  private boolean create;

  @Parameters(index = "1", paramLabel = "KEY", description = "The key.")
  private String key = "";

  @Parameters(index = "2", arity = "0..1", paramLabel = "VALUE", description = "Its value.")
  private @Nullable String value;

  @Override
  public Integer call() {
    byte[] written = KeyText.parse(key);
    String given = value;
    try (Store opened = Store.open(store.store(), store.options())) {
      Tree found = create ? opened.openTree(tree) : opened.tree(tree);
      if (given == null) {
        found.delete(written, Durability.SYNC);
      } else {
        found.put(written, KeyText.parse(given), Durability.SYNC);
      }
    }
    return Exit.SUCCESS.code();
  }
}
