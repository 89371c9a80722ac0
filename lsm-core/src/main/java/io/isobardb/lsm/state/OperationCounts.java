package io.isobardb.lsm.state;

import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.observe.OperationStats;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.SlotCounters;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What users have done to a tree since the store was opened, and what is learnt of their writes.
 *
 * <p>Thread rule: all methods may be called by any thread, within the epoch whose slot they are
 * given.
 */
public final class OperationCounts {
  private static final int PUTS = 0;
  private static final int DELETES = 1;
  private static final int BYTES = 2;
  private static final int WRITE_COUNTERS = 3;

  private final SlotCounters gets;
  private final SlotCounters writes;
  private final LongAdder scans = new LongAdder();
  private final LongAdder steps = new LongAdder();
  private final LongAdder replayedBytes = new LongAdder();
  private volatile @Nullable WriteSample sample;

  /**
   * @param reading the epochs that reads of pages enter
   * @param operations the epochs that operations enter
   */
  public OperationCounts(Epochs reading, Epochs operations) {
    this.gets = new SlotCounters(reading, 1);
    this.writes = new SlotCounters(operations, WRITE_COUNTERS);
  }

  /**
   * Counts gets.
   *
   * @param slot of the epochs for reading
   * @return how many were counted with this slot so far
   */
  public long countGets(int slot, long count) {
    return gets.add(slot, 0, count);
  }

  /**
   * Counts a write, and has it learnt from.
   *
   * @param slot of the epochs for operations
   */
  public void countWrite(int slot, Write write) {
    writes.add(slot, write.isDelete() || write.isRange() ? DELETES : PUTS, 1);
    writes.add(slot, BYTES, write.keyLength() + write.valueLength());
    WriteSample learner = sample;
    if (learner != null && !write.isRange()) {
      learner.learn(write.hash(), write.lsn());
    }
  }

  /** What learns from the tree's writes, or null. */
  public @Nullable WriteSample sample() {
    return sample;
  }

  public void setSample(@Nullable WriteSample learner) {
    sample = learner;
  }

  /** Counts a cursor that is being opened. */
  public void countScan() {
    scans.increment();
  }

  /** Counts steps of a cursor. */
  public void countSteps(long count) {
    steps.add(count);
  }

  /** Puts and deletes so far. */
  public long writes() {
    return writes.sum(PUTS) + writes.sum(DELETES);
  }

  /** Counts an entry that was replayed from the log, of any thread; its bytes with some for it. */
  public void countReplayed(long bytes) {
    replayedBytes.add(bytes);
  }

  /** Bytes written, replayed ones included, with some per entry. */
  public long bytesWritten() {
    return replayedBytes.sum() + writes.sum(BYTES) + Write.OVERHEAD * writes();
  }

  /** All of it. */
  public OperationStats stats() {
    return new OperationStats(
        gets.sum(0),
        writes.sum(PUTS),
        writes.sum(DELETES),
        scans.sum(),
        steps.sum(),
        writes.sum(BYTES));
  }
}
