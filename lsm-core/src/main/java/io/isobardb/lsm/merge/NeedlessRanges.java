package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.HiddenRanges;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which SSTables have nothing but what range deletes hide, and which range deletes have nothing
 * left to hide. Pure functions; any thread.
 */
public final class NeedlessRanges {
  /** How many times as much has to go as is rewritten for its sake. */
  private static final int EDGE_SHARE = 4;

  private NeedlessRanges() {}

  /**
   * A merge that left out all that range deletes up to an LSN hide.
   *
   * @param outputs the numbers of the files that it wrote
   */
  record Cleaned(Set<Long> outputs, byte[] minKey, byte[] maxKey, long upTo) {}

  /**
   * The SSTables that nobody needs: range deletes hide all they hold from all readers.
   *
   * @param busy numbers of the files that are in merges
   * @return by the places they stand in
   */
  static List<MergeChoice.Input> hidden(Version version, HiddenRanges by, Set<Long> busy) {
    List<MergeChoice.Input> inputs = new ArrayList<>();
    for (PlacedRun placed : version.placedRuns()) {
      List<SSTableMeta> tables =
          placed.run().elements().stream()
              .filter(meta -> !busy.contains(meta.fileNumber()))
              .filter(meta -> hides(by, meta, meta.minKey(), meta.maxKey()))
              .toList();
      if (!tables.isEmpty()) {
        inputs.add(new MergeChoice.Input(placed.place(), tables));
      }
    }
    return inputs;
  }

  private static boolean hides(HiddenRanges by, SSTableMeta meta, byte[] minKey, byte[] maxKey) {
    return by.isFromAll(minKey, maxKey, meta.minLsn(), meta.maxLsn());
  }

  /**
   * The SSTables beside those that go, if range deletes hide their first or last key: what is
   * hidden there stays on disk until they are rewritten. None where that is much beside what goes.
   *
   * @param going what {@link #hidden} told
   */
  static List<MergeChoice.Input> edges(
      Version version, HiddenRanges by, List<MergeChoice.Input> going) {
    List<MergeChoice.Input> edges = new ArrayList<>();
    for (MergeChoice.Input input : going) {
      Level<SSTableMeta> run = version.run(input.place());
      Set<SSTableMeta> gone = new HashSet<>(input.tables());
      long bytes = 0;
      List<MergeChoice.Input> beside = new ArrayList<>();
      for (int i = 0; i < run.size(); i++) {
        SSTableMeta table = run.meta(i);
        boolean first = i > 0 && gone.contains(run.meta(i - 1));
        boolean last = i + 1 < run.size() && gone.contains(run.meta(i + 1));
        if (!gone.contains(table)
            && (first && hides(by, table, table.minKey(), table.minKey())
                || last && hides(by, table, table.maxKey(), table.maxKey()))) {
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
    long upTo = Math.min(readers, memory.active().content().minLsn());
    List<RangeDelete> all =
        after.rangeDeletes().newest().segments().stream()
            .filter(segment -> segment.lsn() <= upTo)
            .map(segment -> new RangeDelete(segment.low(), segment.high(), segment.lsn()))
            .toList();
    if (all.isEmpty()) {
      return all;
    }
    Needed needed = new Needed(after.order(), all, cleaned);
    for (Run run : memory.memory()) {
      needed.pass(
          run.tables(),
          table ->
              new Older(
                  table.range().low(), table.range().high(), table.minLsn(Long.MAX_VALUE), false));
    }
    for (Level<SSTableMeta> run : after.runs()) {
      needed.pass(
          run.elements(),
          meta ->
              new Older(
                  meta.minKey(),
                  meta.maxKey(),
                  meta.minLsn(),
                  cleaned != null && cleaned.outputs().contains(meta.fileNumber())));
    }
    List<RangeDelete> gone = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      RangeDelete delete = all.get(i);
      if (!needed.is(i)) {
        gone.add(delete);
      } else if (cleaned != null && delete.lsn() <= cleaned.upTo() && !needed.byMemory(i)) {
        RangeDelete part = part(after, delete, cleaned);
        if (part != null) {
          gone.add(part);
        }
      }
    }
    return gone;
  }

  /**
   * What may hold something older than a range delete.
   *
   * @param low its keys are not lower, null for no bound
   * @param high its keys are not higher, null for no bound
   * @param cleaned whether the merge has written it that left out what is hidden
   */
  private record Older(
      byte @Nullable [] low, byte @Nullable [] high, long minLsn, boolean cleaned) {}

  /** Which of some range deletes have something to hide. They ascend and are disjoint. */
  private static final class Needed {
    private final KeyOrder order;
    private final List<RangeDelete> deletes;
    private final long cleanUpTo;
    private final BitSet needed = new BitSet();
    private final BitSet inMemory = new BitSet();

    Needed(KeyOrder order, List<RangeDelete> deletes, @Nullable Cleaned cleaned) {
      this.order = order;
      this.deletes = deletes;
      this.cleanUpTo = cleaned == null ? -1 : cleaned.upTo();
    }

    boolean is(int index) {
      return needed.get(index);
    }

    boolean byMemory(int index) {
      return inMemory.get(index);
    }

    /** Looks at the tables of a run, which ascend and are disjoint, too. */
    <T> void pass(List<T> tables, Function<T, Older> older) {
      int first = 0;
      for (T table : tables) {
        Older one = older.apply(table);
        while (first < deletes.size() && endsBefore(deletes.get(first), one.low())) {
          first++;
        }
        for (int i = first; i < deletes.size() && !beginsBehind(deletes.get(i), one.high()); i++) {
          RangeDelete delete = deletes.get(i);
          if (one.minLsn() < delete.lsn() && !(one.cleaned() && delete.lsn() <= cleanUpTo)) {
            needed.set(i);
            if (table instanceof Table) {
              inMemory.set(i);
            }
          }
        }
      }
    }

    private boolean endsBefore(RangeDelete delete, byte @Nullable [] low) {
      byte[] to = delete.to();
      return to != null && low != null && compare(order, to, low) <= 0;
    }

    private boolean beginsBehind(RangeDelete delete, byte @Nullable [] high) {
      byte[] from = delete.from();
      return from != null && high != null && compare(order, from, high) > 0;
    }
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

  private static int compare(KeyOrder order, byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length);
  }
}
