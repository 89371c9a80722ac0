package io.isobardb.lsm.merge;

import io.isobardb.lsm.baseline.IndexMergeJob;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Sealing;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What {@link MemoryMerging} looks at: the memory of one tree. All sizes in bytes.
 *
 * @param runs what the tree has in memory
 * @param grown whether its active SSTable is full, and may be sealed
 * @param lostNanos what reads have lost since the last merge, by asking several runs
 * @param activeNanos what they have lost since then by asking the active SSTable
 * @param cursorNanos what of that are cursors
 * @param markerNanos what cursors have lost since then by passing delete markers
 * @param hoped whether a merge of all may make room, as far as earlier ones tell
 * @param sizes what SSTables and runs go by
 * @param room how full the write memory is
 * @param fits whether nothing of the tree is on disk
 */
record MemoryMergeView(
    Runs runs,
    boolean grown,
    long lostNanos,
    long activeNanos,
    long cursorNanos,
    long markerNanos,
    boolean hoped,
    Sizes sizes,
    Room room,
    boolean fits) {

  /**
   * The runs of a tree.
   *
   * @param frozen the sizes of those that get no writes any more, from the youngest to the oldest
   * @param open how many younger ones there are
   * @param mergedBytes what of the frozen ones was merged before
   * @param memoryBytes all that the tree has in memory, the active SSTable too
   * @param besidesBytes what making one of all that is sealed takes besides it
   * @param levels the oldest runs, if the memory has levels; empty if it has none
   */
  record Runs(
      long[] frozen,
      int open,
      long mergedBytes,
      long memoryBytes,
      long besidesBytes,
      List<List<MemoryLeveling.Item>> levels) {
    int count() {
      return open + frozen.length;
    }

    /** Whether all is in one run that was merged. */
    boolean areOne() {
      return open == 0 && frozen.length == 1 && mergedBytes == frozen[0];
    }

    /** Bytes of what still gets writes, or would. */
    long activeBytes() {
      return memoryBytes - LongStream.of(frozen).sum();
    }
  }

  /**
   * Sizes.
   *
   * @param active a small active SSTable
   * @param table an SSTable that is flushed
   * @param page a page
   */
  record Sizes(long active, long table, long page) {}

  /**
   * The write memory.
   *
   * @param used what all trees have of it
   * @param limit its size
   */
  record Room(long used, long limit) {}

  /** What a tree is like now. */
  static MemoryMergeView of(
      Engine engine,
      Sealing sealing,
      MemoryComponent component,
      TableSizes sizes,
      TreeHandle tree) {
    TreeState state = tree.states().current();
    long limit = engine.gate().limitBytes();
    // While the log is replayed, what replay seals has to do with where it is.
    boolean grown = tree.activeTree().full() && engine.log().isOpen();
    return new MemoryMergeView(
        runs(engine, state, component),
        grown,
        tree.memory().readLoss().nanos(),
        engine.log().isOpen() ? tree.memory().readLoss().nanosSinceCleared() : 0,
        engine.log().isOpen() ? tree.memory().readLoss().cursorNanosSinceCleared() : 0,
        engine.log().isOpen() ? tree.memory().readLoss().nanosOfMarkers() : 0,
        tree.memory().mergeGain().hoped(tree.counts().bytesWritten()),
        new Sizes(
            sealing.smallBytes(limit), sizes.flushed(limit), engine.catalog().space().pageSize()),
        new Room(engine.gate().usedBytes(), limit),
        state.version().sizeBytes() == 0);
  }

  private static Runs runs(Engine engine, TreeState state, MemoryComponent component) {
    List<Run> memory = state.memory();
    int frozen = state.frozenRuns(engine.log().visible());
    int open = memory.size() - frozen;
    long[] sizes = new long[frozen];
    long merged = 0;
    for (int i = 0; i < frozen; i++) {
      Run run = memory.get(open + i);
      sizes[i] = run.sizeBytes();
      merged += run.get(0) instanceof Table.Active ? 0 : sizes[i];
    }
    long besides =
        component == MemoryComponent.ACCORDION_INDEX
            ? IndexMergeJob.bytesFor(engine, memory, frozen)
            : state.sealedBytes();
    List<List<MemoryLeveling.Item>> levels =
        component == MemoryComponent.LEVELED
            ? levels(memory.subList(open, memory.size()))
            : List.of();
    return new Runs(sizes, open, merged, state.memoryBytes(), besides, levels);
  }

  private static List<List<MemoryLeveling.Item>> levels(List<Run> frozen) {
    List<List<MemoryLeveling.Item>> levels = new ArrayList<>();
    for (int i = 0; i < frozen.size(); i++) {
      Run run = frozen.get(i);
      Run below = i + 1 < frozen.size() ? frozen.get(i + 1) : null;
      List<MemoryLeveling.Item> level = new ArrayList<>();
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored) {
          level.add(item(stored, below));
        }
      }
      if (!level.isEmpty()) {
        levels.add(level);
      }
    }
    return levels;
  }

  private static MemoryLeveling.Item item(Table.Stored table, @Nullable Run below) {
    List<Table> overlapped =
        below == null ? List.of() : below.overlapping(table.lowest(), table.range().high());
    long bytes = overlapped.stream().mapToLong(Table::sizeBytes).sum();
    return new MemoryLeveling.Item(table.sizeBytes(), bytes);
  }
}
