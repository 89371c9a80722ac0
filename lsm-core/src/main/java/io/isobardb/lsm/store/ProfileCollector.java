package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.lsm.observe.StoreProfile.RunProfile;
import io.isobardb.lsm.observe.StoreProfile.TableProfile;
import io.isobardb.lsm.observe.StoreProfile.TableReadStats;
import io.isobardb.lsm.observe.StoreProfile.TreeProfile;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.TableReads;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.PlacedRun;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/** Asks the SSTables of an open store for what {@link StoreProfile} tells. */
final class ProfileCollector {
  private ProfileCollector() {}

  /** Whether anything was asked of any SSTable on disk. */
  static boolean anyReads(Engine engine) {
    for (TreeHandle tree : engine.catalog().trees()) {
      for (Run run : tree.states().current().disk()) {
        for (Table table : run.tables()) {
          if (table instanceof Table.Stored stored && stored.content().reads().any()) {
            return true;
          }
        }
      }
    }
    return false;
  }

  static StoreProfile collect(Engine engine) {
    return new StoreProfile(
        engine.catalog().trees().stream()
            .sorted(Comparator.comparing(TreeHandle::name))
            .map(ProfileCollector::tree)
            .toList());
  }

  private static TreeProfile tree(TreeHandle tree) {
    TreeState state = tree.states().current();
    List<PlacedRun> placed = state.version().placedRuns();
    List<Run> disk = state.disk();
    List<RunProfile> runs = new ArrayList<>();
    int at = 0;
    for (PlacedRun each : placed) {
      if (!each.run().isEmpty()) {
        runs.add(run(each.place().toString(), disk.get(at++)));
      }
    }
    StoreStats.RunStats gets = tree.runsAsked().stats();
    return new TreeProfile(tree.name(), gets.lookups(), gets.foundOnDisk(), gets.absent(), runs);
  }

  private static RunProfile run(String place, Run run) {
    List<TableProfile> tables = new ArrayList<>();
    TableReadStats sum = TableReadStats.NONE;
    long bytes = 0;
    for (Table each : run.tables()) {
      if (each instanceof Table.Stored stored) {
        TableProfile table = table(stored.content());
        tables.add(table);
        sum = sum.plus(table.reads());
        bytes += table.bytes();
      }
    }
    return new RunProfile(place, bytes, tables.size(), sum, tables);
  }

  private static TableProfile table(SSTable table) {
    SSTableMeta meta = table.meta();
    TableReads reads = table.reads();
    return new TableProfile(
        meta.fileName(),
        meta.sizeBytes(),
        hex(meta.minKey()),
        hex(meta.maxKey()),
        new TableReadStats(
            reads.asked(),
            reads.passed(),
            reads.found(),
            reads.deleted(),
            reads.cursors(),
            reads.pagesRead()));
  }

  private static String hex(byte[] key) {
    int shown = Math.min(key.length, TableProfile.MOST_KEY_BYTES);
    return HexFormat.of().formatHex(Arrays.copyOf(key, shown));
  }
}
