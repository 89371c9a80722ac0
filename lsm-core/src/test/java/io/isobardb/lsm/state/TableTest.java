package io.isobardb.lsm.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.MemorySink;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.cache.Guides;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
  private static final long OVERWRITTEN = 80;
  private static final long OLDEST_LEFT = 160;
  private static final long NEWEST = 240;

  @Test
  void theLogIsNeededForWhatAMergeLeftOutUntilWhatReplacedItIsDurable() throws IOException {
    PagePool pool = new PagePool(4 << 20, 4096);
    BufferCache cache = new BufferCache(pool, 1 << 20, 0, CacheNeighbours.NONE, Guides.NONE);
    TableSpace space =
        new TableSpace(
            pool,
            cache,
            new SimulatedStorage(),
            IoMode.BUFFERED,
            1,
            2,
            pool.blocks().allocate(TableSpace.spareBytes(4096), Purpose.CACHE),
            TableSpace::unknownTree);
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
