package io.isobardb.lsm.state;

import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.page.Words;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** About how much a tree holds, by what is known of its SSTables; reads nothing. Pure. */
public final class TreeSize {
  private TreeSize() {}

  /** Entries, each version and half of what delete markers hide counted as one. */
  public static long entries(TreeState state) {
    long entries = state.active().content().entries();
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < state.runCount(); i++) {
      for (Table table : state.run(i).tables()) {
        // Several tables may be ranges of one.
        if (!seen.add(table.content())) {
          continue;
        }
        if (table instanceof Table.Stored stored) {
          SSTableMeta meta = stored.content().meta();
          entries += meta.entries() - 2 * meta.deletes();
        } else if (table.content() instanceof WrittenEntries sealed) {
          entries += sealed.entries();
        }
      }
    }
    return Math.max(0, entries);
  }

  /**
   * Bytes on disk of the keys in a range. Of an SSTable that is in it in part, a share by where the
   * bounds lie between its first key and its last.
   *
   * @param from the first key, null for no bound
   * @param to the key behind the last one, null for no bound
   */
  public static long diskBytes(
      TreeState state, KeyOrder order, byte @Nullable [] from, byte @Nullable [] to) {
    double bytes = 0;
    for (Run run : state.disk()) {
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored) {
          SSTableMeta meta = stored.content().meta();
          double begin = from == null ? 0 : share(order, meta, from);
          double end = to == null ? 1 : share(order, meta, to);
          bytes += Math.max(0, end - begin) * meta.sizeBytes();
        }
      }
    }
    return (long) bytes;
  }

  /** How much of an SSTable lies before a key, from 0 to 1. */
  private static double share(KeyOrder order, SSTableMeta meta, byte[] key) {
    byte[] min = meta.minKey();
    byte[] max = meta.maxKey();
    if (order.compare(key, 0, key.length, min, 0, min.length) <= 0) {
      return 0;
    }
    if (order.compare(key, 0, key.length, max, 0, max.length) > 0) {
      return 1;
    }
    if (!order.isBytes()) {
      return 0.5;
    }
    int common = Math.max(0, Arrays.mismatch(min, max));
    double low = head(min, common);
    double high = head(max, common);
    return high <= low ? 0.5 : Math.min(1, Math.max(0, (head(key, common) - low) / (high - low)));
  }

  /** The eight bytes behind those that all keys share, as a number. */
  private static double head(byte[] key, int from) {
    long word =
        Words.head(key, Math.min(from, key.length), key.length - Math.min(from, key.length));
    return (word >>> 1) * 2.0;
  }
}
