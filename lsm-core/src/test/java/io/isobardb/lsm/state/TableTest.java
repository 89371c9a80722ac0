package io.isobardb.lsm.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.MemorySink;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.cache.Guides;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class TableTest {
  private static final long OVERWRITTEN = 80;
  private static final long OLDEST_LEFT = 160;
  private static final long NEWEST = 240;

  private static TableSpace space() {
    PagePool pool = new PagePool(4 << 20, 4096);
    BufferCache cache = new BufferCache(pool, 1 << 20, 0, CacheNeighbours.NONE, Guides.NONE);
    return new TableSpace(
        pool,
        cache,
        new SimulatedStorage(),
        IoMode.BUFFERED,
        1,
        2,
        pool.blocks().allocate(TableSpace.spareBytes(4096), Purpose.CACHE),
        TableSpace::unknownTree);
  }

  private static byte[] key(int i) {
    return String.format("key%04d", i).getBytes(UTF_8);
  }

  @Test
  void whereAReaderEndsDoesNotChangeWhatLiesBeforeThat() throws IOException {
    TableSpace space = space();
    MemorySink sink = new MemorySink(space.pool(), bytes -> false);
    SSTableWriter writer = new SSTableWriter(sink, KeyOrder.BYTES, 1, 1, 10);
    Memory value = new Memory(ByteBuffer.allocateDirect(50));
    for (int i = 0; i < 1000; i += 10) {
      writer.add(key(i), key(i).length, 8, Kind.PUT, value, 0, 50);
    }
    SSTable content = SSTable.inMemory(space, KeyOrder.BYTES, writer.finish(), sink);
    Run run = Run.of(KeyOrder.BYTES, new Table.Stored(content, 8, false));
    for (int from : new int[] {100, 500, 800}) {
      run = run.without(new Range(key(from), key(from + 100)));
    }
    for (int end = 5; end < 1000; end += 5) {
      byte[] bound = key(end);
      Function<Table, EntryCursor> opener =
          table -> {
            LeafCursor leaf = table.cursor(Access.QUERY, Long.MAX_VALUE).leaf();
            leaf.endBefore(bound);
            return leaf;
          };
      int last = (end - 1) / 10 * 10;
      while (last > 100 && last <= 200 || last > 500 && last <= 600 || last > 800 && last <= 900) {
        last -= 10;
      }
      try (RunCursor cursor = new RunCursor(KeyOrder.BYTES, run, opener, bound)) {
        cursor.seekBefore(bound, 0, bound.length);
        assertArrayEquals(
            key(last), Arrays.copyOf(cursor.key(), cursor.keyLength()), "before " + end);
      }
    }
    content.release();
  }

  @Test
  void theLogIsNeededForWhatAMergeLeftOutUntilWhatReplacedItIsDurable() throws IOException {
    TableSpace space = space();
    PagePool pool = space.pool();
    MemorySink sink = new MemorySink(pool, bytes -> false);
    SSTableWriter writer = new SSTableWriter(sink, KeyOrder.BYTES, 1, 1, 10);
    Memory value = new Memory(ByteBuffer.allocateDirect(8));
    writer.add(new byte[] {1}, 1, NEWEST, Kind.PUT, value, 0, 8);
    writer.add(new byte[] {2}, 1, OLDEST_LEFT, Kind.PUT, value, 0, 8);
    SSTableMeta meta = writer.finish();
    SSTable content = SSTable.inMemory(space, KeyOrder.BYTES, meta, sink);
    Table table = new Table.Stored(content, OVERWRITTEN, false);
    List<Table> rest = table.without(KeyOrder.BYTES, new Range(null, new byte[] {1}));
    for (Table piece : List.of(table, rest.get(0))) {
      assertEquals(OVERWRITTEN, piece.minLsn(OLDEST_LEFT));
      assertEquals(OVERWRITTEN, piece.minLsn(NEWEST));
      assertEquals(OLDEST_LEFT, piece.minLsn(NEWEST + 8));
    }
    // What was folded stands for entries that are nowhere else.
    assertEquals(OVERWRITTEN, new Table.Stored(content, OVERWRITTEN, true).minLsn(NEWEST + 8));
    Run run = new Run(KeyOrder.BYTES, List.of(table));
    assertEquals(OLDEST_LEFT, run.minLsn(NEWEST + 8, new Range(new byte[] {1}, null)));
    for (Range outside :
        List.of(new Range(null, new byte[] {0}), new Range(new byte[] {2}, null))) {
      assertEquals(Long.MAX_VALUE, run.minLsn(NEWEST + 8, outside));
    }
  }
}
