package io.isobardb.lsm.wal;

import io.isobardb.lsm.io.Storage;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.memory.system.Region;
import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a log takes of the budget: a scratch block, the writer's staging buffer, and the
 * ring. While the log is replayed, a window of the ring's size stands in for the ring.
 *
 * <p>Thread rule: opened and closed by one thread; in between, {@link #stage} and {@link #syncRing}
 * are the log's writer's. {@link #growRing} may be called by any thread.
 */
final class LogMemory implements AutoCloseable {
  private final PagePool pool;
  private final int ringBytes;
  private @Nullable Block scratch;
  private @Nullable Block stage;
  private @Nullable Block window;
  private @Nullable RingFile ringFile;
  private @Nullable Ring ring;
  private boolean charged;

  /**
   * Takes the memory.
   *
   * @throws io.isobardb.memory.pool.OutOfBudgetException if the pool has too little; nothing is
   *     taken then
   */
  LogMemory(PagePool pool, int ringBytes) {
    this.pool = pool;
    this.ringBytes = ringBytes;
    try {
      scratch = pool.blocks().allocate(Segments.SCRATCH_BYTES, Purpose.LOG);
      stage = pool.blocks().allocate(LogWriter.stageMemoryBytes(ringBytes), Purpose.LOG);
      window = pool.blocks().allocate(ringBytes, Purpose.LOG);
    } catch (Throwable e) {
      releaseBlocks();
      throw e;
    }
  }

  /** What it takes of a pool, in bytes. */
  static long bytes(int ringBytes) {
    long blocks = 3L * Region.OVERHEAD_BYTES;
    return blocks + Segments.SCRATCH_BYTES + LogWriter.stageMemoryBytes(ringBytes) + ringBytes;
  }

  /** As {@link Segments#SCRATCH_BYTES} says. */
  Memory scratch() {
    return held(scratch);
  }

  /** What the writer writes from. */
  Memory stage() {
    return held(stage);
  }

  /** What replay reads into; gone once the ring is mapped. */
  Memory window() {
    return held(window);
  }

  /** Gives the window up for an empty ring at a position of the stream. */
  Ring mapRing(Storage storage, UUID storeId, long position) throws IOException {
    Block replayed = window;
    window = null;
    if (replayed != null) {
      pool.release(replayed);
    }
    pool.blocks().chargeOutside(ringBytes, Purpose.LOG);
    charged = true;
    long block = Ring.blockOf(position);
    RingFile file = RingFile.create(storage, storeId, ringBytes, block, scratch());
    ringFile = file;
    Ring mapped = new Ring(file.map(), RecordLayout.seed(storeId), storage.mayCopyOnWrite());
    mapped.reset(position, RingFile.firstBytes(ringBytes));
    ring = mapped;
    return mapped;
  }

  /** Makes durable what was stored in the ring before the call. */
  void syncRing() throws IOException {
    mapped(ringFile).sync();
  }

  /**
   * Gives the ring twice the space on the disk that it has, unless it has all.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room for it
   */
  synchronized void growRing() throws IOException {
    Ring grown = mapped(ring);
    int space = grown.spaceBytes();
    if (space < ringBytes) {
      mapped(ringFile).giveSpace(grown.spaceEnd(), space);
      grown.doubleSpace();
    }
  }

  private static <T> T mapped(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("the ring is not mapped");
    }
    return part;
  }

  private static Memory held(@Nullable Block block) {
    if (block == null) {
      throw new IllegalStateException("given back");
    }
    return block.memory();
  }

  private void releaseBlocks() {
    for (Block block : new @Nullable Block[] {scratch, stage, window}) {
      if (block != null) {
        pool.release(block);
      }
    }
    scratch = null;
    stage = null;
    window = null;
  }

  /** Gives everything back. Nobody uses the ring any more. */
  @Override
  public void close() throws IOException {
    releaseBlocks();
    if (charged) {
      charged = false;
      pool.blocks().dischargeOutside(ringBytes, Purpose.LOG);
    }
    RingFile file = ringFile;
    ringFile = null;
    if (file != null) {
      file.close();
    }
  }
}
