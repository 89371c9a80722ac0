package io.isobardb.memory.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What a pool gives up leaves the process. */
@EnabledOnOs(OS.LINUX)
class ResidentMemoryTest {
  private static final int PAGE = 8192;
  private static final long MB = 1 << 20;

  /** The heap of this JVM and its code may grow by this much meanwhile. */
  private static final long NOISE_BYTES = 64 * MB;

  @Test
  void residentMemoryFollowsTheLimitDownEachTime() throws IOException {
    long before = residentBytes();
    for (int round = 1; round <= 4; round++) {
      PagePool pool = new PagePool(256 * MB, PAGE);
      List<Integer> pages = new ArrayList<>();
      for (int cycle = 1; cycle <= 2; cycle++) {
        pool.setLimit(256 * MB);
        for (int page; (page = pool.allocate(Purpose.WRITE)) != PagePool.NONE; ) {
          pool.memory(page).fill(pool.base(page), PAGE, (byte) page);
          pages.add(page);
        }
        assertTrue(residentBytes() > before + 200 * MB, "what was written is resident");
        pages.forEach(page -> pool.release(page, Purpose.WRITE));
        pages.clear();
        pool.setLimit(16 * MB);
        assertFollows(before + 16 * MB, "cycle " + cycle + " of pool " + round);
      }
      pool.close();
      assertFollows(before, "pool " + round + " is closed");
    }
  }

  @Test
  void largeBlocksAreGivenBackToo() throws IOException {
    long before = residentBytes();
    PagePool pool = new PagePool(256 * MB, PAGE);
    for (int megabytes : new int[] {8, 20, 31, 8, 20}) {
      List<Block> blocks = new ArrayList<>();
      for (int i = 0; i < 160 / megabytes; i++) {
        Block block = pool.blocks().allocate(megabytes << 20, Purpose.LOG);
        block.memory().fill(0, megabytes << 20, (byte) 1);
        blocks.add(block);
      }
      blocks.forEach(pool::release);
      assertFollows(before, "blocks of " + megabytes + " MB are given back");
    }
    assertEquals(0, pool.allocatedBytes());
    pool.close();
  }

  private static void assertFollows(long bytes, String when) throws IOException {
    long resident = residentBytes();
    assertTrue(
        resident < bytes + NOISE_BYTES,
        () -> resident / MB + " MB are resident instead of " + bytes / MB + ": " + when);
  }

  private static long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
      }
    }
    throw new IOException("/proc/self/status tells nothing of resident memory");
  }
}
