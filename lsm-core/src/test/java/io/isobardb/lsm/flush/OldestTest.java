package io.isobardb.lsm.flush;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.MemorySink;
import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.cache.Guides;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Where the next slice of an oldest flush begins. */
class OldestTest {
  private static final long DURABLE = 1000;

  private final PagePool pool = new PagePool(4 << 20, 4096);
  private final TableSpace space =
      new TableSpace(
          pool,
          new BufferCache(pool, 1 << 20, 0, CacheNeighbours.NONE, Guides.NONE),
          new SimulatedStorage(),
          IoMode.BUFFERED,
          1,
          2,
          pool.blocks().allocate(TableSpace.spareBytes(4096), Purpose.CACHE),
          TableSpace::unknownTree);

  /** A run of SSTables in memory, each as {@code first-last@lsn}. */
  private Run run(String... tables) {
    return new Run(KeyOrder.BYTES, Stream.of(tables).map(this::table).toList());
  }

  private Table table(String text) {
    String[] parts = text.split("[-@]");
    byte[] first = parts[0].getBytes(UTF_8);
    byte[] last = parts[1].getBytes(UTF_8);
    long lsn = Long.parseLong(parts[2]);
    SSTableMeta meta =
        new SSTableMeta(
            0,
            1,
            2,
            9,
            0,
            first,
            last,
            lsn,
            lsn,
            1,
            1,
            2,
            0,
            4096,
            Packing.NONE,
            0,
            SSTableMeta.Expiring.NONE);
    MemorySink sink = new MemorySink(space.pool(), bytes -> false);
    sink.emit(1, PagePool.NONE, false);
    return new Table.Stored(SSTable.inMemory(space, KeyOrder.BYTES, meta, sink));
  }

  private static @Nullable String oldest(List<Run> runs, @Nullable String sweep) {
    byte[] from = sweep == null ? null : sweep.getBytes(UTF_8);
    byte[] low = TreeFlush.oldest(KeyOrder.BYTES, runs, DURABLE, from);
    return low == null ? null : new String(low, UTF_8);
  }

  @Test
  void itGoesOnFromTheSweepToTheNextOfTheOldestTables() {
    List<Run> runs =
        List.of(run("a-e@88", "f-z@96"), run("a-c@80", "d-f@40", "g-i@80", "j-l@40", "m-o@80"));
    assertEquals("c", oldest(runs, null));
    assertEquals("c", oldest(runs, "b"));
    assertEquals("e", oldest(runs, "e"));
    assertEquals("i", oldest(runs, "f"));
    assertEquals("k", oldest(runs, "k"));
  }

  @Test
  void behindTheLastOfTheOldestTablesItGoesRoundToTheFirst() {
    List<Run> runs =
        List.of(run("a-e@88", "f-z@96"), run("a-c@80", "d-f@40", "g-i@80", "j-l@40", "m-o@80"));
    assertEquals("c", oldest(runs, "l"));
    assertEquals("c", oldest(runs, "n"));
    assertNull(oldest(List.of(run("b-c@40", "d-f@80")), "e"));
  }

  private static int ofLevels(FlushKind kind, List<Run> frozen) {
    return TreeFlush.ofLevels(frozen, kind, DURABLE).size();
  }

  @Test
  void ofMemoryInLevelsASliceTakesTheLastOneOrWhatKeepsTheLogWithAllBelowIt() {
    List<Run> first = List.of(run("a-e@88", "f-z@40"), run("a-c@80", "d-f@60"), run("a-z@70"));
    assertEquals(1, ofLevels(FlushKind.PARTIAL, first));
    assertEquals(3, ofLevels(FlushKind.OLDEST, first));
    List<Run> second = List.of(run("a-e@88"), run("a-c@80", "d-f@60"), run("a-z@70"));
    assertEquals(2, ofLevels(FlushKind.OLDEST, second));
    List<Run> third = List.of(run("a-e@88"), run("a-c@80", "d-f@70"), run("a-z@70"));
    assertEquals(1, ofLevels(FlushKind.OLDEST, third));
    assertEquals(0, ofLevels(FlushKind.PARTIAL, List.of()));
  }
}
