package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.CorruptionException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code get}: the value of a key. */
@Command(
    name = "get",
    description = "Prints the value of a key of a store that is not open.",
    footer = {
      "",
      "Changes nothing. Keys are given as text, or as 0x and hexadecimal digits, and so are values"
          + " unless --as says otherwise. Exit code 1 says that there is no such key; --json prints null then. Damage is a failure here."
    })
public final class GetCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--tree", paramLabel = "NAME", required = true, description = "Of this tree.")
  private String tree = "";

  @Parameters(index = "1", arity = "0..1", paramLabel = "KEY", description = "The key.")
  private @Nullable String key;

  @Mixin private KeyFile keyFile = new KeyFile();
  @Mixin private ValueOption as = new ValueOption();
  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    byte[] wanted = keyFile.keyOr(key);
    byte[] value;
    try (Store opened = store.openToRead()) {
      value = UsageException.ofArguments(() -> opened.tree(tree).get(wanted));
    } catch (CorruptionException e) {
      // The code of a finding says here that there is no such key.
      throw store.damaged(e, Exit.FAILURE);
    }
    if (value == null) {
      json.print(spec.commandLine().getOut(), null, "");
      return Exit.FINDING.code();
    }
    String text = as.form().format(value);
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("key", KeyText.format(wanted));
    entry.put("value", as.form().toJson(value));
    json.print(spec.commandLine().getOut(), entry, text);
    return Exit.SUCCESS.code();
  }
}
