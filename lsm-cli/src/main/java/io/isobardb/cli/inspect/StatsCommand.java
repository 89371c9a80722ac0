package io.isobardb.cli.inspect;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.lsm.observe.StoreStats;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stats}: how large the store is, and where. */
@Command(
    name = "stats",
    description = "Shows the sizes of a store's trees, levels, log and memory.",
    footer = {
      "",
      "The store is opened to be read only: its log is replayed to memory, and nothing in the"
          + " directory changes. What the memory tuner decided is told by 'isobar tune-report'.",
      "",
      "With --profile nothing is opened, and the store may be open elsewhere. One single get in 64 is"
          + " counted there; cursors and pages all are."
    })
public final class StatsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Mixin private JsonOption json = new JsonOption();

  @Option(
      names = "--profile",
      description =
          "Show instead what reads asked of each run on disk, from the last opening to the last"
              + " closing.")
  private boolean profile;

  @Mixin private HtmlOption html = new HtmlOption();

  @Override
  public Integer call() throws IOException {
    html.check();
    PrintWriter out = spec.commandLine().getOut();
    if (html.isGiven() && !profile) {
      throw new UsageException("--html goes with --profile");
    }
    if (profile) {
      printProfile(out);
      return 0;
    }
    try (Store opened = store.openToRead()) {
      StoreStats stats = opened.stats();
      if (json.isGiven()) {
        out.println(stats.toJson());
      } else {
        print(stats, out);
      }
    } catch (CorruptionException e) {
      throw store.damaged(e, Exit.FINDING);
    }
    out.flush();
    return 0;
  }

  private void printProfile(PrintWriter out) throws IOException {
    Path file = store.ownStore().resolve(StoreProfile.FILE);
    if (Files.notExists(file)) {
      throw new UsageException(
          "there is no profile of reads in "
              + store.store()
              + ": it is written when the store is closed, if it was read from");
    }
    String text = Files.readString(file);
    StoreProfile read = parse(file, text);
    TextTable table = table(read);
    html.write(() -> ProfilePage.of(store.store().toAbsolutePath().toString(), read, table));
    out.print(json.isGiven() ? text : table.toString());
    out.flush();
  }

  private static StoreProfile parse(Path file, String text) {
    try {
      StoreProfile profile = JSON.std.beanFrom(StoreProfile.class, text);
      if (profile != null && profile.trees() != null) {
        return profile;
      }
    } catch (IOException e) {
      // It was torn by a crash, or somebody has written to it.
    }
    throw new UsageException(file + " is damaged; delete it, nothing else needs it");
  }

  private static TextTable table(StoreProfile profile) {
    TextTable table =
        new TextTable(
            "tree",
            "run",
            "on disk",
            "SSTables",
            "gets",
            "passed by filter",
            "found",
            "deleted",
            "in vain",
            "cursors",
            "pages read");
    for (StoreProfile.TreeProfile tree : profile.trees()) {
      for (StoreProfile.RunProfile run : tree.runs()) {
        StoreProfile.TableReadStats reads = run.reads();
        table.row(
            tree.name(),
            run.place(),
            ByteSize.format(run.bytes()),
            Integer.toString(run.tableCount()),
            Long.toString(reads.asked()),
            Long.toString(reads.passed()),
            Long.toString(reads.found()),
            Long.toString(reads.deleted()),
            Long.toString(reads.falsePositives()),
            Long.toString(reads.cursors()),
            Long.toString(reads.pagesRead()));
      }
    }
    return table;
  }

  private static void print(StoreStats stats, PrintWriter out) {
    TextTable table =
        new TextTable("tree", "on disk", "SSTables", "L0 groups", "tiers", "L1..Ln", "in memory");
    for (StoreStats.TreeStats tree : stats.trees()) {
      table.row(
          tree.name(),
          ByteSize.format(tree.diskBytes()),
          Integer.toString(tree.tables()),
          Integer.toString(tree.l0Groups()),
          Integer.toString(tree.tierBytes().size()),
          tree.levelBytes().stream().map(ByteSize::format).collect(Collectors.joining(", ")),
          ByteSize.format(tree.memoryBytes()));
    }
    out.print(table);
    out.println();
    out.println(
        "trees         " + stats.trees().size() + ", " + ByteSize.format(stats.diskBytes()));
    out.println(
        "log           "
            + ByteSize.format(stats.logSizeBytes())
            + "; its files take "
            + ByteSize.format(stats.logAllocatedBytes()));
    out.println(
        "memory        "
            + ByteSize.format(stats.ledger().allocatedBytes())
            + " of the "
            + ByteSize.format(stats.ledger().limitBytes())
            + " that this command has");
    out.println(
        "write memory  "
            + ByteSize.format(stats.writeMemoryBytes())
            + " of "
            + ByteSize.format(stats.writeMemoryLimitBytes()));
    out.println("to be merged  " + ByteSize.format(stats.mergeDebtBytes()));
    out.println(
        "on the heap   " + ByteSize.format(stats.files().heapBytes()) + ", for SSTables' files");
    out.println("was read      " + byPurpose(stats.ioBytesRead()) + ", to open it");
    out.println("was written   " + byPurpose(stats.ioBytesWritten()));
  }

  private static String byPurpose(Map<IoPurpose, Long> bytes) {
    String named =
        bytes.entrySet().stream()
            .filter(entry -> entry.getValue() > 0)
            .map(entry -> entry.getKey() + " " + ByteSize.format(entry.getValue()))
            .collect(Collectors.joining(", "));
    return named.isEmpty() ? "nothing" : named;
  }
}
