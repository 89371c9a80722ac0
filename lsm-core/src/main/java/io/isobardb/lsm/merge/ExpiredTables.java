package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Which SSTables of a tree have expired, wholly or in part. Pure functions; any thread. */
final class ExpiredTables {
  /** An SSTable is rewritten once one in so many of its entries has expired. */
  static final int MUCH = 4;

  /** Any expired entry is enough. */
  static final int ANY = Integer.MAX_VALUE;

  private ExpiredTables() {}

  /**
   * The SSTables that nobody needs: what they hold has expired, or is a delete marker, and nothing
   * that this could hide lies below them.
   *
   * @param by what has expired by then is so for all who read
   * @param busy numbers of the files that are in merges
   * @return by the places they stand in, newest first
   */
  static List<MergeChoice.Input> droppable(Version version, long by, Set<Long> busy) {
    List<MergeChoice.Input> inputs = new ArrayList<>();
    List<PlacedRun> stands = version.placedRuns();
    Set<Long> gone = new HashSet<>();
    for (int i = stands.size() - 1; i >= 0; i--) {
      List<SSTableMeta> tables = new ArrayList<>();
      for (SSTableMeta table : stands.get(i).run().elements()) {
        if (table.holdsNothing(by)
            && !busy.contains(table.fileNumber())
            && hidesNothing(table, stands.subList(i + 1, stands.size()), gone)) {
          tables.add(table);
        }
      }
      if (!tables.isEmpty()) {
        tables.forEach(table -> gone.add(table.fileNumber()));
        inputs.add(new MergeChoice.Input(stands.get(i).place(), tables));
      }
    }
    Collections.reverse(inputs);
    return inputs;
  }

  /** Whether nothing lies below an SSTable that has keys within its range. */
  static boolean nothingBelow(Version version, MergeChoice.Input one) {
    List<PlacedRun> stands = version.placedRuns();
    int at = 0;
    while (!stands.get(at).place().equals(one.place())) {
      at++;
    }
    return hidesNothing(one.tables().get(0), stands.subList(at + 1, stands.size()), Set.of());
  }

  private static boolean hidesNothing(SSTableMeta table, List<PlacedRun> below, Set<Long> gone) {
    byte[] max = table.maxKey();
    for (PlacedRun stand : below) {
      Level<SSTableMeta> run = stand.run();
      KeyOrder order = run.order();
      for (int i = run.from(table.minKey(), 0, table.minKey().length); i < run.size(); i++) {
        byte[] min = run.meta(i).minKey();
        if (order.compare(min, 0, min.length, max, 0, max.length) > 0) {
          break;
        }
        if (!gone.contains(run.meta(i).fileNumber())) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * The SSTables of which, about, one in {@code share} entries has expired, each alone.
   *
   * @param by what has expired by then is so for all who read
   */
  static List<MergeChoice.Input> expiring(Version version, long by, int share) {
    List<MergeChoice.Input> inputs = new ArrayList<>();
    for (PlacedRun stand : version.placedRuns()) {
      for (SSTableMeta table : stand.run().elements()) {
        long expired = table.expiring().expired(by);
        if (expired > 0 && expired >= table.entries() / share) {
          inputs.add(new MergeChoice.Input(stand.place(), List.of(table)));
        }
      }
    }
    return inputs;
  }
}
