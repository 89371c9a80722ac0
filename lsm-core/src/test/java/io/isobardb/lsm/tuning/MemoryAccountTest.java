package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TunerOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryAccountTest {
  private static final long MB = 1 << 20;

  @ParameterizedTest
  @ValueSource(ints = {4096, 8192, 16384, 32768, 65536})
  void whateverIsAskedForFitsIntoTheBudgetTogether(int pageSize) {
    long least = OptionLimits.leastBudget(pageSize);
    for (long budget : new long[] {least, least + 12_345, 2 * least, 64 * MB, 1024 * MB}) {
      for (int sixteenths = 1; sixteenths <= 12; sixteenths++) {
        try (PagePool pool = new PagePool(budget, pageSize)) {
          long fixed = 512 << 10;
          long asked = budget / 16 * sixteenths;
          MemoryAccount account = MemoryAccount.of(pool, budget, fixed, asked);
          String what = account + " of " + budget + ", asked " + asked;
          assertTrue(account.writeBytes() >= 16L * pageSize, what);
          assertTrue(account.writeBytes() <= Math.max(asked, 16L * pageSize), what);
          assertTrue(account.writeBytes() <= account.mostWriteBytes(), what);
          long cache = account.sharedBytes() - account.mostWriteBytes();
          assertTrue(cache >= (long) BufferCache.MINIMUM_PAGES * pageSize, what);
          assertTrue(account.sharedBytes() + account.blockBytes() <= budget, what);
          assertTrue(fixed + account.slabBytes() <= budget, what);
        }
      }
    }
  }

  /** Else a step that is not carried out is taken for another workload, in each cycle anew. */
  @ParameterizedTest
  @ValueSource(ints = {4096, 8192, 16384, 32768, 65536})
  void whereverTheTunerMaySendTheWallItCanStand(int pageSize) {
    long least = OptionLimits.leastBudget(pageSize);
    WallRules rules = new WallRules(0, 0, pageSize);
    for (long budget : new long[] {least, least + 12_345, 2 * least, 64 * MB, 1024 * MB}) {
      for (int sixteenths = 1; sixteenths <= 12; sixteenths++) {
        try (PagePool pool = new PagePool(budget, pageSize)) {
          MemoryAccount account =
              MemoryAccount.of(pool, budget, 512 << 10, budget / 16 * sixteenths);
          WallRules.Division division =
              new WallRules.Division(
                  budget, account.sharedBytes(), account.writeBytes(), account.mostWriteBytes());
          WallRules.Floors floors = rules.floors(division, new WallRules.Needs(1, 0, 0));
          StoreCycle cycle =
              new StoreCycle(
                  1,
                  account.sharedBytes(),
                  account.writeBytes(),
                  pageSize,
                  1,
                  0,
                  0,
                  0,
                  0,
                  1,
                  List.of());
          TunerOptions options = TunerOptions.DEFAULT.withFloors(floors.write(), floors.cache());
          for (long end : new long[] {options.minWriteBytes(cycle), options.maxWriteBytes(cycle)}) {
            String what = end + " with " + floors + ", " + division;
            assertEquals(end, floors.within(end, division), 1, what);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"4096, 4", "8192, 4", "32768, 4", "65536, 8"})
  void theLeastBudgetIsTold(int pageSize, long megabytes) {
    assertEquals(megabytes * MB, OptionLimits.leastBudget(pageSize));
    try (PagePool pool = new PagePool(64 * MB, pageSize)) {
      long fixed = 2 * MB;
      long least = MemoryAccount.leastBudget(pool, fixed);
      MemoryAccount account = MemoryAccount.of(pool, least, fixed, 0);
      assertTrue(account.mostWriteBytes() >= 16L * pageSize, account + " of " + least);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8192, 65536})
  void whatIsKeptForWritesIsThereEvenIfOthersTakeAllTheyCan(int pageSize) {
    long budget = OptionLimits.leastBudget(pageSize);
    try (PagePool pool = new PagePool(budget, pageSize)) {
      MemoryAccount account = MemoryAccount.of(pool, budget, 0, budget / 4 * 3);
      account.apply(pool);
      List<Block> blocks = new ArrayList<>();
      for (Block block = pool.blocks().tryAllocate(16 << 10, Purpose.MERGE);
          block != null;
          block = pool.blocks().tryAllocate(16 << 10, Purpose.MERGE)) {
        blocks.add(block);
      }
      List<Integer> pages = new ArrayList<>();
      for (int i = 0; i < BufferCache.MINIMUM_PAGES; i++) {
        pages.add(pool.allocate(Purpose.WRITE));
      }
      for (int page = pool.allocate(Purpose.WRITE);
          page != PagePool.NONE;
          page = pool.allocate(Purpose.WRITE)) {
        pages.add(page);
      }
      long forWrites = (pages.size() - BufferCache.MINIMUM_PAGES) * (long) pageSize;
      assertTrue(forWrites >= account.writeBytes(), forWrites + " bytes, " + account);
      pages.forEach(page -> pool.release(page, Purpose.WRITE));
      blocks.forEach(pool::release);
    }
  }
}
