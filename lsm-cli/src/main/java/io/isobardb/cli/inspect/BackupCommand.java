package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Backup;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.Finding;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code backup}: makes backups of a store, lists, verifies and deletes them. */
@Command(
    name = "backup",
    description = "Backs a store up that is not open for writing, or looks after backups.",
    footer = {
      "",
      "The store is only read; a program that has it open calls Backups.create instead. SSTables that"
          + " an earlier backup has are not copied again. Without --of nothing is backed up. Exit code"
          + " 1 says that --verify found damage."
    })
public final class BackupCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "BACKUPS", description = "The directory of the backups.")
  private Path directory = Path.of("");

  @Option(names = "--of", paramLabel = "DIR", description = "The store to be backed up.")
  private @Nullable Path source;

  @Mixin private StoreSettings settings = new StoreSettings();

  @Option(
      names = "--rate",
      paramLabel = "SIZE",
      description = "Read at most so much of the store in a second.")
  private @Nullable ByteSize rate;

  @Option(names = "--keep", paramLabel = "N", description = "Delete all but the last N, at last.")
  private @Nullable Integer keep;

  @Option(names = "--delete", paramLabel = "ID", description = "Delete a backup.")
  private @Nullable Long delete;

  @Option(names = "--verify", description = "Read all files of all backups, and compare.")
  private boolean verify;

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    Map<String, Object> result = new LinkedHashMap<>();
    StringJoiner lines = new StringJoiner(System.lineSeparator());
    ByteSize limit = rate;
    Exit exit = Exit.SUCCESS;
    if (keep != null) {
      Numbers.checkAtLeast("--keep", keep, 1);
    }
    if (limit != null) {
      Numbers.checkAtLeast("--rate", limit, 1);
      if (source == null) {
        throw new UsageException("--rate is for a backup that is made: give --of, too");
      }
    }
    try (Backups backups = open(limit == null ? Long.MAX_VALUE : limit.bytes(), result, lines)) {
      Long gone = delete;
      if (gone != null) {
        UsageException.ofArguments(
            () -> {
              backups.delete(gone);
              return gone;
            });
      }
      if (keep != null) {
        backups.keep(keep);
      }
      List<Map<String, Object>> all = new ArrayList<>();
      for (Backup backup : backups.list()) {
        all.add(described(backup));
        lines.add(line(backup));
      }
      result.put("backups", all);
      if (verify) {
        List<Finding> findings = backups.verify();
        result.put("findings", findings.stream().map(Finding::toString).toList());
        findings.forEach(finding -> lines.add("DAMAGED: " + finding));
        if (findings.isEmpty()) {
          lines.add("all files are as they were made");
        }
        exit = findings.isEmpty() ? Exit.SUCCESS : Exit.FINDING;
      }
    }
    json.print(spec.commandLine().getOut(), result, lines.toString());
    return exit.code();
  }

  private static Map<String, Object> described(Backup backup) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("id", backup.id());
    all.put("created", backup.created().toString());
    all.put("store", backup.store());
    all.put("bytes", backup.sizeBytes());
    all.put("newBytes", backup.copiedBytes());
    return all;
  }

  private static String line(Backup backup) {
    return String.format(
        Locale.ROOT,
        "backup %d of %s, %s: %s, of which %s were new",
        backup.id(),
        backup.created(),
        backup.store(),
        ByteSize.format(backup.sizeBytes()),
        ByteSize.format(backup.copiedBytes()));
  }

  private Backups opened(long bytesPerSecond) {
    return UsageException.ofArguments(
        () -> Backups.open(directory, bytesPerSecond, settings.access()));
  }

  /** Opens the backups, and makes one if there is a store to be backed up. */
  private Backups open(long bytesPerSecond, Map<String, Object> result, StringJoiner lines) {
    Path store = source;
    if (store == null) {
      StoreArgument.backups(directory);
      return opened(bytesPerSecond);
    }
    // The store first: if it can't be opened, no directory of backups is made.
    Path of = StoreArgument.store(store);
    try (Store opened = settings.openToRead(of)) {
      Backups backups = opened(bytesPerSecond);
      try {
        Backup made = UsageException.ofArguments(() -> backups.create(opened));
        result.put("made", made.id());
        lines.add("made backup " + made.id());
        return backups;
      } catch (RuntimeException | Error e) {
        backups.close();
        throw e;
      }
    }
  }
}
