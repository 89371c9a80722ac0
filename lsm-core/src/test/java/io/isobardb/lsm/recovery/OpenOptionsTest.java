package io.isobardb.lsm.recovery;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.commit.StaticShares;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.component.Visibility;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.flush.FlushPolicy;
import io.isobardb.lsm.flush.FlushStrategy;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.tuning.Tuning;
import io.isobardb.lsm.version.L0Structure;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.tuner.memory.TunerOptions;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The sizes that follow from the options. */
class OpenOptionsTest {
  private static final int KB = 1 << 10;
  private static final int MB = 1 << 20;

  private static OpenOptions options(
      long budget, long logLimit, int activeBytes, MemoryComponent component, int staticTrees) {
    return new OpenOptions(
        budget,
        budget / 2,
        new Tuning(false, 1, logLimit, TunerOptions.DEFAULT),
        new Flusher.Settings(
            FlushPolicy.OPTIMAL,
            FlushStrategy.ROUND_ROBIN,
            L0Structure.GREEDY_GROUPED,
            logLimit,
            1),
        LevelingOptions.DEFAULT,
        component,
        staticTrees,
        activeBytes,
        4096,
        IoMode.BUFFERED,
        1,
        2,
        true,
        Map.of());
  }

  private static OpenOptions ofBudget(long budget) {
    return options(budget, MB, 0, MemoryComponent.PARTITIONED, 0);
  }

  private static OpenOptions ofLogLimit(long logLimit) {
    return options(8 * MB, logLimit, 0, MemoryComponent.PARTITIONED, 0);
  }

  private static OpenOptions ofActiveBytes(int activeBytes) {
    return options(8 * MB, MB, activeBytes, MemoryComponent.PARTITIONED, 0);
  }

  @Test
  void anActiveSSTableOfNoSizeAskedForFollowsTheWriteMemory() {
    assertEquals(2 * MB, ofActiveBytes(0).activeBytes(16 * MB));
    assertEquals(32 * MB, ofActiveBytes(0).activeBytes(1L << 40));
    assertEquals(4 * 4096, ofActiveBytes(0).activeBytes(64 * KB));
    assertEquals(4 * 4096 + 8, ofActiveBytes(0).activeBytes(8 * (4 * 4096 + 8)));
  }

  @Test
  void anActiveSSTableIsAsLargeAsAskedForWithinLimits() {
    assertEquals(MB, ofActiveBytes(MB).activeBytes(16 * MB));
    assertEquals(512 * KB, ofActiveBytes(MB).activeBytes(2 * MB));
    assertEquals(8 * 4096, ofActiveBytes(1).activeBytes(16 * MB));
    assertEquals(4 * 4096, ofActiveBytes(MB).activeBytes(1));
  }

  @Test
  void aDiskSSTableIsAnEighthOfTheWriteMemoryWithinLimits() {
    OpenOptions options = ofBudget(8 * MB);
    assertEquals(256 * KB, options.tableBytes(0));
    assertEquals(256 * KB + 1, options.tableBytes(2 * MB + 8));
    assertEquals(16 * MB, options.tableBytes(128 * MB));
    assertEquals(16 * MB, options.tableBytes(1L << 40));
  }

  @Test
  void theRingIsAPowerOfTwoNearPartOfTheBudget() {
    assertEquals(64 * KB, ofBudget(MB).ringBytes());
    assertEquals(128 * KB, ofBudget(4 * MB).ringBytes());
    assertEquals(128 * KB, ofBudget(8 * MB - 1).ringBytes());
    assertEquals(4 * MB, ofBudget(1L << 40).ringBytes());
  }

  @Test
  void aSegmentIsWholeBlocksAndAnEighthOfTheLogWithinLimits() {
    assertEquals(128 * KB, ofLogLimit(64 * KB).segmentBytes());
    assertEquals(256 * KB, ofLogLimit(2 * MB).segmentBytes());
    assertEquals(256 * KB, ofLogLimit(2 * MB + 8 * 4095).segmentBytes());
    assertEquals(64 * MB, ofLogLimit(1L << 40).segmentBytes());
  }

  @Test
  void aStoresOwnPageSizeReplacesTheOneAskedForAndNothingElse() {
    OpenOptions wanted = ofActiveBytes(MB);
    OpenOptions own = wanted.withPageSize(8192);
    assertEquals(8192, own.pageSize());
    assertEquals(wanted, own.withPageSize(4096));
  }

  // ---- what follows from the memory component

  private static OpenOptions policies(MemoryComponent component, int staticTrees) {
    return options(8 * MB, MB, 0, component, staticTrees);
  }

  @Test
  void sharesAreStaticOnlyIfAskedForAndHaveTwoBuffersIfFlushedWhole() {
    assertNull(policies(MemoryComponent.PARTITIONED, 0).shares());
    assertEquals(1, shares(MemoryComponent.PARTITIONED).buffers());
    assertEquals(2, shares(MemoryComponent.MONOLITHIC).buffers());
    assertEquals(3, shares(MemoryComponent.MONOLITHIC).trees());
  }

  private static StaticShares shares(MemoryComponent component) {
    return requireNonNull(policies(component, 3).shares());
  }

  @Test
  void whatIsFlushedWholeIsSoWhateverTheStrategy() {
    FlushStrategy strategy = FlushStrategy.OLDEST;
    assertEquals(FlushStrategy.OLDEST, strategy.with(MemoryComponent.PARTITIONED));
    assertEquals(FlushStrategy.FULL, strategy.with(MemoryComponent.MONOLITHIC));
  }

  /** Nobody reads. */
  private static final Visibility ALL =
      new Visibility() {
        @Override
        public long visible() {
          return 0;
        }

        @Override
        public long newestSnapshot() {
          return -1;
        }
      };

  /** Puts entries until an active SSTable is full; gives its size then. */
  private static long sizeOf(ActiveTree tree) {
    byte[] value = new byte[1000];
    for (int i = 0; !tree.full(); i++) {
      byte[] key = {(byte) (i >> 8), (byte) i};
      long hash = KeyHash.hash(key, 0, key.length);
      tree.put(
          new Write()
              .of(Kind.PUT, key, 0, key.length)
              .value(value, 0, value.length)
              .at(8L * (i + 1))
              .hashed(),
          ALL);
    }
    return tree.bytesUsed();
  }

  @Test
  void activeSSTablesHaveTheSizeForTheWriteMemoryOfTheirTime() {
    long[] writeBytes = {4 * MB};
    try (PagePool pool = new PagePool(16 * MB, 4096)) {
      ActiveFactory factory =
          new ActiveFactory(
              pool, options(16 * MB, MB, 0, MemoryComponent.PARTITIONED, 0), () -> writeBytes[0]);
      assertEquals(512 * KB, factory.smallBytes());
      ActiveTree first = factory.first(KeyOrder.BYTES);
      assertFalse(first.full());
      assertNear(512 * KB, sizeOf(first));
      writeBytes[0] = 2 * MB;
      assertEquals(256 * KB, factory.smallBytes());
      ActiveTree next = factory.next(KeyOrder.BYTES, first);
      assertNear(256 * KB, sizeOf(next));
      first.free();
      next.free();
    }
  }

  @Test
  void anActiveSSTableTakesHalfOfAStaticShareAtMost() {
    try (PagePool pool = new PagePool(16 * MB, 4096)) {
      ActiveFactory factory =
          new ActiveFactory(
              pool, options(16 * MB, MB, 0, MemoryComponent.MONOLITHIC, 8), () -> 4 * MB);
      ActiveTree first = factory.first(KeyOrder.BYTES);
      assertNear(256 * KB, sizeOf(first));
      first.free();
    }
  }

  private static void assertNear(long expected, long bytes) {
    assertTrue(bytes >= expected && bytes < expected + expected / 16, bytes + " bytes");
  }
}
