package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Backup;
import io.isobardb.lsm.Backups;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code restore}: makes a store of a backup. */
@Command(
    name = "restore",
    description = "Makes a store of a backup.",
    footer = {
      "",
      "What is read is compared with what was backed up. If that fails, nothing is left in NEWDIR,"
          + " and the exit code is 1."
    })
public final class RestoreCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "BACKUPS", description = "The directory of the backups.")
  private Path directory = Path.of("");

  @Option(
      names = "--to",
      paramLabel = "NEWDIR",
      required = true,
      description = "Where the store goes; must be empty, or not exist.")
  private Path target = Path.of("");

  @Option(names = "--id", paramLabel = "ID", description = "Which backup. Default: the last.")
  private @Nullable Long id;

  @Mixin private NewFiles newFiles = new NewFiles();
  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    StoreArgument.backups(directory);
    Target.checkDirectory(target);
    final long restored;
    try (Backups backups = Backups.open(directory, Long.MAX_VALUE, newFiles.access())) {
      Long wanted = id;
      if (wanted == null) {
        List<Backup> all = backups.list();
        if (all.isEmpty()) {
          throw new UsageException("there is no backup in " + directory);
        }
        wanted = all.get(all.size() - 1).id();
      }
      restored = wanted;
      UsageException.ofArguments(
          () -> {
            backups.restore(restored, target);
            return target;
          });
    }
    Map<String, Object> made = new LinkedHashMap<>();
    made.put("backup", restored);
    made.put("to", target.toString());
    json.print(spec.commandLine().getOut(), made, "restored backup " + restored + " to " + target);
    return Exit.SUCCESS.code();
  }
}
