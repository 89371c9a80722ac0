package io.isobardb.lsm.recovery;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.baseline.StaticShares;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.flush.FlushExtent;
import io.isobardb.lsm.flush.FlushRules;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.schedule.Bandwidth;
import io.isobardb.lsm.schedule.BandwidthRules;
import io.isobardb.lsm.schedule.ProcessorRules;
import io.isobardb.lsm.tuning.Tuning;
import io.isobardb.tuner.memory.TunerOptions;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The sizes that follow from the options. */
class OpenOptionsTest {
  private static final int KB = 1 << 10;
  private static final int MB = 1 << 20;

  private static OpenOptions options(
      long budget, long logLimit, MemoryComponent component, int staticTrees) {
    return new OpenOptions(
        budget,
        budget / 2,
        2,
        new OpenOptions.Policies(
            new FlushRules(
                FlushPolicy.OPTIMAL,
                FlushStrategy.ROUND_ROBIN,
                logLimit,
                component,
                Fullness.USUAL),
            LevelingOptions.DEFAULT,
            new OpenOptions.Merging(
                64 * budget,
                MergeSchedule.ALWAYS,
                new Bandwidth.Rules(
                    new BandwidthRules(Long.MAX_VALUE, 0, 1 << 20), new ProcessorRules(0))),
            component,
            staticTrees,
            0,
            new Tuning(false, 1, logLimit, TunerOptions.DEFAULT, null)),
        new OpenOptions.Files(4096, IoMode.BUFFERED, 1, true, true),
        new OpenOptions.Known(Map.of(), Map.of()));
  }

  private static OpenOptions ofBudget(long budget) {
    return options(budget, MB, MemoryComponent.PARTITIONED, 0);
  }

  private static OpenOptions ofLogLimit(long logLimit) {
    return options(8 * MB, logLimit, MemoryComponent.PARTITIONED, 0);
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
    OpenOptions wanted = ofBudget(8 * MB);
    OpenOptions own = wanted.with(8192, wanted.writeMemory());
    assertEquals(8192, own.files().pageSize());
    assertEquals(wanted, own.with(4096, wanted.writeMemory()));
  }

  @Test
  void jobsAtOnceHave256PagesOfTheBudgetEachAndThereIsOne() {
    OpenOptions wanted = ofBudget(8 * MB);
    assertEquals(2, wanted.with(16_384, MB).backgroundJobs());
    assertEquals(1, wanted.with(32_768, MB).backgroundJobs());
    assertEquals(1, wanted.with(65_536, MB).backgroundJobs());
  }

  // ---- what follows from the memory component

  private static OpenOptions policies(MemoryComponent component, int staticTrees) {
    return options(8 * MB, MB, component, staticTrees);
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
    assertEquals(FlushStrategy.OLDEST, FlushExtent.strategy(strategy, MemoryComponent.PARTITIONED));
    assertEquals(FlushStrategy.FULL, FlushExtent.strategy(strategy, MemoryComponent.MONOLITHIC));
  }

  @Test
  void defaultsOfPartsAreThoseOfOptions() {
    OpenOptions.Policies usual = OpenOptions.of(StoreOptions.defaults()).policies();
    assertEquals(LevelingOptions.DEFAULT, usual.leveling());
    assertEquals(Fullness.USUAL, usual.flushing().fullness());
  }
}
