package io.isobardb.lsm.state;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.TreeRanges;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where a tree's entries are, newest first: the active SSTable, the runs in memory, the runs on
 * disk.
 *
 * <p>Immutable but for the count of its users. A point read needs no count: it stays within an
 * epoch. A holder of a state for longer acquires it; see {@link TreeStates}.
 */
public final class TreeState {
  private final Table.Active active;
  private final Run[] runs;
  private final int memoryRuns;
  private final Version version;
  private final TreeRanges ranges;

  /** Uses, plus one while this is the current state; 0 once it can't be acquired any more. */
  private final AtomicInteger uses = new AtomicInteger(1);

  /** Run when this state and all before it are out of use; guarded by {@link TreeStates}. */
  final List<Runnable> cleanups = new ArrayList<>();

  /**
   * @param active what is written to
   * @param memory sealed runs, newest first
   * @param disk L0's groups, newest first, then the levels that are not empty
   * @param version what the manifest knows of the disk runs
   */
  public TreeState(
      Table.Active active, Collection<Run> memory, Collection<Run> disk, Version version) {
    this(active, memory, disk, version, new TreeRanges(version.rangeDeletes()));
  }

  private TreeState(
      Table.Active active,
      Collection<Run> memory,
      Collection<Run> disk,
      Version version,
      TreeRanges ranges) {
    this.ranges = ranges;
    this.active = active;
    List<Run> all = new ArrayList<>(memory);
    all.addAll(disk);
    this.runs = all.toArray(new Run[0]);
    this.memoryRuns = memory.size();
    this.version = version;
  }

  /** What is written to. */
  public Table.Active active() {
    return active;
  }

  /**
   * The active SSTable that an entry with this LSN belongs into: the newest that began before it.
   */
  public ActiveTree target(long lsn) {
    Table.Active table = active;
    for (int i = 0; table.startLsn() > lsn; i++) {
      if (!(runs[i].get(0) instanceof Table.Active before)) {
        throw new IllegalStateException("no active SSTable takes LSN " + lsn + " any more");
      }
      table = before;
    }
    return table.content();
  }

  /** Runs below the active SSTable, in memory and on disk. */
  public int runCount() {
    return runs.length;
  }

  /** How many of the first runs lie in memory. */
  public int memoryRunCount() {
    return memoryRuns;
  }

  /** Runs in memory that one merge could make one of, the active one if it is full. */
  public int mergeableRuns() {
    return memoryRuns + (active.content().full() ? 1 : 0);
  }

  /** A run, 0 being the newest. */
  public Run run(int index) {
    return runs[index];
  }

  /** Whether a run is a group of L0. */
  public boolean isInL0(int index) {
    return index >= memoryRuns && index < memoryRuns + version.groups().size();
  }

  public List<Run> memory() {
    return List.of(runs).subList(0, memoryRuns);
  }

  public List<Run> disk() {
    return List.of(runs).subList(memoryRuns, runs.length);
  }

  public Version version() {
    return version;
  }

  /** The range deletes that readers go by. */
  public TreeRanges ranges() {
    return ranges;
  }

  /** What the range deletes take on the heap, in bytes; about. */
  long rangeBytes() {
    return ranges.heapBytes(version.ranges());
  }

  /** This state with a new active SSTable; the old one becomes the newest run in memory. */
  public TreeState sealed(KeyOrder order, Table.Active fresh) {
    List<Run> memory = new ArrayList<>(memoryRuns + 1);
    memory.add(Run.of(order, active));
    memory.addAll(memory());
    return new TreeState(fresh, memory, disk(), version, ranges);
  }

  /** This state with other runs in memory. */
  public TreeState withMemory(List<Run> memory) {
    return new TreeState(active, memory, disk(), version, ranges);
  }

  /** This state with other runs on disk. */
  public TreeState withDisk(List<Run> disk, Version newVersion) {
    return new TreeState(active, memory(), disk, newVersion, ranges);
  }

  /** This state without range deletes that hide nothing any more. */
  public TreeState withoutRanges(List<RangeDelete> gone) {
    return gone.isEmpty()
        ? this
        : new TreeState(active, memory(), disk(), version, ranges.without(gone));
  }

  /** Whether nothing is here that the manifest lacks: no entry in memory, and no range delete. */
  boolean holdsNothing() {
    return memoryRuns == 0 && active.content().isEmpty() && ranges.unsaved().isEmpty();
  }

  /** Bytes of write memory that the tree holds. */
  public long memoryBytes() {
    return active.content().bytesUsed() + sealedBytes();
  }

  /** Bytes of write memory in sealed runs. */
  public long sealedBytes() {
    long bytes = 0;
    for (int i = 0; i < memoryRuns; i++) {
      bytes += runs[i].sizeBytes();
    }
    return bytes;
  }

  /** How many of the oldest runs in memory get no writes any more. */
  public int frozenRuns(long visible) {
    long nextStart = active.startLsn();
    int frozen = 0;
    for (int i = 0; i < memoryRuns; i++) {
      if (nextStart > visible + 1 && runs[i].get(0) instanceof Table.Active sealed) {
        nextStart = sealed.startLsn();
      } else {
        frozen = memoryRuns - i;
        break;
      }
    }
    return frozen;
  }

  /**
   * How many of the first runs may hold anything newer than {@code lsn}: where an active SSTable
   * began before that, all that is behind it is older.
   */
  public int runsSince(long lsn) {
    Table.Active newer = active;
    for (int i = 0; i < runs.length; i++) {
      if (newer.startLsn() <= lsn) {
        return i;
      }
      if (!(runs[i].get(0) instanceof Table.Active sealed)) {
        break;
      }
      newer = sealed;
    }
    return runs.length;
  }

  /**
   * A crash now would lose what is in memory unless the log is kept from this LSN on. {@link
   * Long#MAX_VALUE} if memory holds nothing.
   *
   * @param durable the end of what the log has synced
   */
  public long minMemoryLsn(long durable) {
    return minMemoryLsn(durable, 0);
  }

  /**
   * As {@link #minMemoryLsn(long)}, once the range deletes up to {@code savedUpTo} are in the
   * manifest.
   */
  public long minMemoryLsn(long durable, long savedUpTo) {
    long min = Math.min(active.content().minLsn(), ranges.unsaved().minLsn(savedUpTo));
    for (int i = 0; i < memoryRuns; i++) {
      min = Math.min(min, runs[i].minLsn(durable));
    }
    return min;
  }

  boolean tryAcquire() {
    while (true) {
      int count = uses.get();
      if (count == 0) {
        return false;
      }
      if (uses.compareAndSet(count, count + 1)) {
        return true;
      }
    }
  }

  /** Whether that was the last use. */
  boolean drop() {
    return uses.decrementAndGet() == 0;
  }

  boolean unused() {
    return uses.get() == 0;
  }
}
