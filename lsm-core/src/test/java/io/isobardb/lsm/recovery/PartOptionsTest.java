package io.isobardb.lsm.recovery;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.baseline.StaticShares;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.flush.FlushExtent;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import org.junit.jupiter.api.Test;

/** The sizes that follow from the options. */
class PartOptionsTest {
  private static final int KB = 1 << 10;
  private static final int MB = 1 << 20;

  private static StoreOptions.Builder ofBudget() {
    return StoreOptions.builder().memoryBudget(8 * MB).backgroundThreads(2);
  }

  private static PartOptions options(MemoryComponent component) {
    StoreOptions.Builder builder = ofBudget();
    ExperimentalOptions.set(builder, e -> e.memoryComponent(component));
    return new PartOptions(builder.build(), 4096, MB, false);
  }

  @Test
  void aStoresOwnPageSizeReplacesTheOneAskedFor() {
    StoreOptions given = ofBudget().pageSize(4096).build();
    assertEquals(
        new TableSizes(8192, 0), new PartOptions(given, 8192, MB, false).flushing().sizes());
    StoreOptions sized = ExperimentalOptions.set(ofBudget(), e -> e.diskTableSize(MB)).build();
    assertEquals(
        new TableSizes(8192, MB), new PartOptions(sized, 8192, MB, false).merging().sizes());
  }

  @Test
  void jobsAtOnceHave256PagesOfTheBudgetEachAndThereIsOne() {
    assertEquals(2, new PartOptions(ofBudget().build(), 16_384, MB, false).jobs());
    assertEquals(1, new PartOptions(ofBudget().build(), 32_768, MB, false).jobs());
    assertEquals(1, new PartOptions(ofBudget().build(), 65_536, MB, false).jobs());
  }

  // ---- what follows from the memory component

  @Test
  void sharesAreStaticOnlyIfAskedForAndHaveTwoBuffersIfFlushedWhole() {
    assertNull(options(MemoryComponent.PARTITIONED).shares());
    assertEquals(1, shares(MemoryComponent.PARTITIONED).buffers());
    assertEquals(2, shares(MemoryComponent.MONOLITHIC).buffers());
    assertEquals(3, shares(MemoryComponent.MONOLITHIC).trees());
  }

  private static StaticShares shares(MemoryComponent component) {
    StoreOptions.Builder builder = ofBudget();
    ExperimentalOptions.set(
        builder,
        e ->
            e.memoryComponent(component)
                .writeMemoryAllocation(WriteMemoryAllocation.STATIC)
                .staticTrees(3));
    return requireNonNull(new PartOptions(builder.build(), 4096, MB, false).shares());
  }

  @Test
  void whatIsFlushedWholeIsSoWhateverTheStrategy() {
    FlushStrategy strategy = FlushStrategy.OLDEST;
    assertEquals(FlushStrategy.OLDEST, FlushExtent.strategy(strategy, MemoryComponent.PARTITIONED));
    assertEquals(FlushStrategy.FULL, FlushExtent.strategy(strategy, MemoryComponent.MONOLITHIC));
  }

  @Test
  void defaultsOfPartsAreThoseOfOptions() {
    PartOptions usual = new PartOptions(StoreOptions.defaults(), 4096, MB, false);
    assertEquals(LevelingOptions.DEFAULT, usual.leveling());
    Fullness memory = usual.backpressure().memory();
    assertEquals(Fullness.USUAL.trigger(), memory.trigger());
    assertEquals(128 << 10, memory.leastRoom(), "half of the least that a flush takes");
  }
}
