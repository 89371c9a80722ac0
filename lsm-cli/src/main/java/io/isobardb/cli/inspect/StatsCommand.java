package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import java.io.PrintWriter;
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
    description = "Opens a store and shows the sizes of its trees, levels, log and memory.",
    footer = {
      "",
      "Opening a store recovers it: what a crash left behind is put in order, and the log is"
          + " replayed. 'isobar dump' looks at a store without changing it."
    })
public final class StatsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try (Store opened =
        UsageException.ofArguments(() -> Store.open(store.store(), store.options()))) {
      StoreStats stats = opened.stats();
      if (json) {
        out.println(stats.toJson());
      } else {
        print(stats, out);
      }
    } catch (CorruptionException e) {
      throw store.damaged(e);
    }
    out.flush();
    return 0;
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
    StoreStats.TunerStats tuner = stats.tuner();
    out.println(
        "memory tuner  "
            + (tuner.cycle() == 0
                ? "nothing decided yet"
                : "cycle " + tuner.cycle() + ", " + tuner.last()));
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
