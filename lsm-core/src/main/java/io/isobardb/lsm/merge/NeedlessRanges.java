package io.isobardb.lsm.merge;

import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.Range;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Group;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which SSTables have nothing but what range deletes hide, and which range deletes have nothing
 * left to hide. Pure functions; any thread.
 */
public final class NeedlessRanges {
  /** So many times as much has to go as is rewritten for its sake. */
  private static final int EDGE_SHARE = 4;

  private NeedlessRanges() {}

  /**
   * A merge that left out all that range deletes up to an LSN hide.
   *
   * @param outputs the numbers of the files that it wrote
   */
  record Cleaned(Set<Long> outputs, byte[] minKey, byte[] maxKey, long upTo) {}

  /**
   * The SSTables that nobody needs: range deletes hide all they hold from all who read.
   *
   * @param deletes those that no crash takes back
   * @param snapshots LSNs that somebody reads at, ascending
   * @param busy numbers of the files that are in merges
   * @return by the places they stand in
   */
  static List<MergeChoice.Input> hidden(
      Version version, RangeDeletes deletes, long[] snapshots, Set<Long> busy) {
    List<MergeChoice.Input> inputs = new ArrayList<>();
    for (Group group : version.groups()) {
      addHidden(inputs, group.place(), group.run(), new Cover(deletes, snapshots, busy));
    }
    for (int height = version.levelCount() - 1; height >= 0; height--) {
      addHidden(
          inputs,
          Place.level(height),
          version.atHeight(height),
          new Cover(deletes, snapshots, busy));
    }
    return inputs;
  }

  /**
   * The SSTables beside those that go, if range deletes hide their first or last key: what is
   * hidden there stays on disk until they are rewritten. None where that is much beside what goes.
   *
   * @param going what {@link #hidden} told
   */
  static List<MergeChoice.Input> edges(
      Version version, RangeDeletes deletes, long[] snapshots, List<MergeChoice.Input> going) {
    Cover cover = new Cover(deletes, snapshots, Set.of());
    List<MergeChoice.Input> edges = new ArrayList<>();
    for (MergeChoice.Input input : going) {
      Level<SSTableMeta> run = run(version, input.place());
      Set<SSTableMeta> gone = new HashSet<>(input.tables());
      long bytes = 0;
      List<MergeChoice.Input> beside = new ArrayList<>();
      for (int i = 0; i < run.size(); i++) {
        SSTableMeta table = run.meta(i);
        boolean first = i > 0 && gone.contains(run.meta(i - 1));
        boolean last = i + 1 < run.size() && gone.contains(run.meta(i + 1));
        if (!gone.contains(table)
            && (first && cover.hides(table, table.minKey())
                || last && cover.hides(table, table.maxKey()))) {
          beside.add(new MergeChoice.Input(input.place(), List.of(table)));
          bytes += table.sizeBytes();
        }
      }
      if (bytes * EDGE_SHARE <= input.sizeBytes()) {
        edges.addAll(beside);
      }
    }
    return edges;
  }

  /** What stands in a place; nothing if there is no such group or level any more. */
  static Level<SSTableMeta> run(Version version, Place place) {
    if (place.inL0()) {
      for (Group group : version.groups()) {
        if (group.place().equals(place)) {
          return group.run();
        }
      }
    } else if (place.height() < version.levelCount()) {
      return version.atHeight(place.height());
    }
    return Level.empty(version.order());
  }

  private record Cover(RangeDeletes deletes, long[] snapshots, Set<Long> busy) {
    boolean hides(SSTableMeta meta) {
      if (busy.contains(meta.fileNumber())) {
        return false;
      }
      byte[] min = meta.minKey();
      for (int i = deletes.segment(min, min.length); ; i++) {
        if (i == deletes.segments() || deletes.isBeyond(i, meta.maxKey())) {
          return true;
        }
        long newer = deletes.firstAfter(i, meta.maxLsn());
        if (newer == 0 || reads(meta.minLsn(), newer)) {
          return false;
        }
      }
    }

    /** Whether the entries of a key in an SSTable are hidden. */
    boolean hides(SSTableMeta meta, byte[] key) {
      long newer = deletes.firstAfter(deletes.segment(key, key.length), meta.maxLsn());
      return newer != 0 && !reads(meta.minLsn(), newer);
    }

    /** Whether somebody reads at an LSN from {@code from} on, before {@code to}. */
    private boolean reads(long from, long to) {
      for (long snapshot : snapshots) {
        if (snapshot >= from && snapshot < to) {
          return true;
        }
      }
      return false;
    }
  }

  private static void addHidden(
      List<MergeChoice.Input> inputs, Place place, Level<SSTableMeta> run, Cover cover) {
    List<SSTableMeta> tables = run.elements().stream().filter(cover::hides).toList();
    if (!tables.isEmpty()) {
      inputs.add(new MergeChoice.Input(place, tables));
    }
  }

  /**
   * The range deletes that hide nothing any more, or the parts of them.
   *
   * @param after the tree's SSTables, and the range deletes in the manifest
   * @param memory of which the runs in memory count
   * @param readers nobody reads at a lower LSN, nor will after a crash
   */
  public static List<RangeDelete> of(Version after, TreeState memory, long readers) {
    return of(after, memory, readers, null);
  }

  /**
   * As {@link #of(Version, TreeState, long)}, after a merge.
   *
   * @param cleaned what it has done; null if it was none
   */
  static List<RangeDelete> of(
      Version after, TreeState memory, long readers, @Nullable Cleaned cleaned) {
    List<RangeDelete> gone = new ArrayList<>();
    for (RangeDelete delete : after.rangeDeletes().list()) {
      if (delete.lsn() > readers || hidesInMemory(memory, after.order(), delete)) {
        continue;
      }
      Cleaned clean = cleaned != null && delete.lsn() <= cleaned.upTo() ? cleaned : null;
      if (!hidesOnDisk(after, delete, clean)) {
        gone.add(delete);
      } else if (clean != null) {
        RangeDelete part = part(after, delete, clean);
        if (part != null) {
          gone.add(part);
        }
      }
    }
    return gone;
  }

  /** What a merge has made needless of a range delete that others need. */
  private static @Nullable RangeDelete part(Version after, RangeDelete delete, Cleaned clean) {
    KeyOrder order = after.order();
    byte[] from = delete.from();
    byte[] low = from != null && compare(order, from, clean.minKey()) > 0 ? from : clean.minKey();
    byte[] high = delete.to();
    for (Level<SSTableMeta> run : after.runs()) {
      for (int i = run.from(low, 0, low.length); i < run.size(); i++) {
        SSTableMeta meta = run.meta(i);
        if (high != null && compare(order, meta.minKey(), high) >= 0) {
          break;
        }
        if (meta.minLsn() < delete.lsn() && !clean.outputs().contains(meta.fileNumber())) {
          if (compare(order, meta.minKey(), clean.maxKey()) <= 0) {
            return null;
          }
          high = meta.minKey();
          break;
        }
      }
    }
    return high != null && compare(order, low, high) >= 0
        ? null
        : new RangeDelete(low, high, delete.lsn());
  }

  private static boolean hidesOnDisk(Version after, RangeDelete delete, @Nullable Cleaned clean) {
    byte[] from = delete.from();
    byte[] to = delete.to();
    for (Level<SSTableMeta> run : after.runs()) {
      for (int i = from == null ? 0 : run.from(from, 0, from.length); i < run.size(); i++) {
        SSTableMeta meta = run.meta(i);
        if (to != null && compare(after.order(), meta.minKey(), to) >= 0) {
          break;
        }
        if (meta.minLsn() < delete.lsn()
            && (clean == null || !clean.outputs().contains(meta.fileNumber()))) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean hidesInMemory(TreeState state, KeyOrder order, RangeDelete delete) {
    if (state.active().content().minLsn() < delete.lsn()) {
      return true;
    }
    for (Run run : state.memory()) {
      for (Table table : run.tables()) {
        if (table.minLsn(Long.MAX_VALUE) < delete.lsn() && meets(order, table.range(), delete)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean meets(KeyOrder order, Range range, RangeDelete delete) {
    byte[] from = delete.from();
    byte[] to = delete.to();
    return (from == null || range.notBeyond(order, from, 0, from.length))
        && (to == null || range.low() == null || compare(order, range.low(), to) < 0);
  }

  private static int compare(KeyOrder order, byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length);
  }
}
