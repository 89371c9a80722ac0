package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code put}: sets a key. */
@Command(
    name = "put",
    description = "Sets a key of a store that is not open; 'delete' removes one.",
    footer = {
      "",
      "Keys are given as text, or as 0x and hexadecimal digits, and so are values unless --as says"
          + " otherwise. The write is on the device when the command ends."
    })
public final class PutCommand implements Callable<Integer> {
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", required = true, description = "Of this tree.")
  private String tree = "";

  @Option(names = "--create", description = "Create the tree, and the store, if it is missing.")
  private boolean create;

  @Option(
      names = "--expires",
      paramLabel = "WHEN",
      description =
          "When the entry expires: a duration from now, such as PT1H, or an instant, such as"
              + " 2030-01-01T00:00:00Z.")
  private @Nullable String expires;

  @Parameters(
      index = "1..2",
      arity = "0..2",
      paramLabel = "KEY VALUE",
      hideParamSyntax = true,
      description = "The key and its value.")
  private List<String> words = List.of();

  @Mixin private KeyFile keyFile = new KeyFile();
  @Mixin private ValueOption as = new ValueOption();

  @Option(
      names = "--stdin",
      description =
          "The value is all that standard input holds, byte by byte; VALUE is left out then.")
  private boolean fromInput;

  @Override
  public Integer call() throws IOException {
    int value = keyFile.isGiven() ? 0 : 1;
    if (words.size() != value + (fromInput ? 0 : 1)) {
      throw new UsageException(
          "give KEY and VALUE; --key-file stands for the one, --stdin for the other;"
              + " 'isobar delete' removes a key");
    }
    byte[] written = keyFile.keyOr(value == 0 ? null : words.get(0));
    byte[] given = fromInput ? System.in.readAllBytes() : as.form().parse(words.get(value));
    Instant until = until();
    UsageException.ofArguments(() -> TreeOptions.checkName(tree));
    try (Store opened = store.open(create)) {
      StoreSettings.inWordsOfCommands(
          () -> {
            Tree found = create ? opened.openTree(tree) : opened.tree(tree);
            if (until != null) {
              found.put(written, given, until, Durability.SYNC);
            } else {
              found.put(written, given, Durability.SYNC);
            }
            return found;
          });
    }
    return Exit.SUCCESS.code();
  }

  private @Nullable Instant until() {
    String text = expires;
    if (text == null) {
      return null;
    }
    try {
      return text.startsWith("P") ? Instant.now().plus(Duration.parse(text)) : Instant.parse(text);
    } catch (DateTimeException | ArithmeticException e) {
      throw new UsageException(
          "--expires takes a duration such as PT1H, or an instant such as 2030-01-01T00:00:00Z,"
              + " not '"
              + text
              + "'");
    }
  }
}
