package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code delete}: removes a key. */
@Command(
    name = "delete",
    description = "Removes a key of a store that is not open.",
    footer = {
      "",
      "The key is given as text, or as 0x and hexadecimal digits. It need not be there. The write is"
          + " on the device when the command ends."
    })
public final class DeleteCommand implements Callable<Integer> {
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", required = true, description = "Of this tree.")
  private String tree = "";

  @Parameters(index = "1", arity = "0..1", paramLabel = "KEY", description = "The key.")
  private @Nullable String key;

  @Mixin private KeyFile keyFile = new KeyFile();

  @Override
  public Integer call() throws IOException {
    byte[] deleted = keyFile.keyOr(key);
    try (Store opened = store.open(false)) {
      UsageException.ofArguments(
          () -> {
            opened.tree(tree).delete(deleted, Durability.SYNC);
            return deleted;
          });
    }
    return Exit.SUCCESS.code();
  }
}
