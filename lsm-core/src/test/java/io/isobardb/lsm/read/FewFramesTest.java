package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.BufferCache;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nearly all pages of the cache are pinned, as many cursors do. */
class FewFramesTest {
  private static final int KEYS = 2000;
  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .writeMemory(1 << 20)
          .pageSize(4096)
          .memoryTuner(false)
          .build();

  private record Pin(SSTable table, int page) {}

  /** A key needs a page of the filter, one of the index and one of data: they don't fit at once. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void manyKeysAreFoundThoughTheirPagesDoNotFitAtOnce(int free) {
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(OPTIONS)) {
      fill(store.openTree("t"), KEYS, 100);
      fill(store.openTree("pinned"), 4000, 1500);
      store.flush();
      store.awaitQuiet();
    }
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      List<Pin> pins = pinAllBut(free, store, store.openTree("pinned"));
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < KEYS; i += 7) {
        keys.add(key(i));
      }
      List<byte @Nullable []> found = tree.multiGet(keys);
      for (int i = 0; i < keys.size(); i++) {
        assertArrayEquals(value(7 * i, 100), found.get(i));
      }
      pins.forEach(pin -> pin.table().unpin(pin.page()));
    }
  }

  private static void fill(Tree tree, int keys, int bytes) {
    for (int i = 0; i < keys; i++) {
      tree.put(key(i), value(i, bytes));
    }
  }

  private static List<Pin> pinAllBut(int free, Store store, Tree tree) {
    BufferCache cache = Inside.of(store).engine().catalog().space().cache();
    List<Pin> pages = new ArrayList<>();
    for (Run run : Inside.handle(tree).states().current().disk()) {
      for (Table table : run.tables()) {
        SSTable content = ((Table.Stored) table).content();
        for (int page = 1; page < content.meta().pageCount() - 1; page++) {
          pages.add(new Pin(content, page));
        }
      }
    }
    for (Pin page : pages) {
      page.table().loadPage(page.page(), Access.QUERY);
      page.table().unpin(page.page());
    }
    assertTrue(cache.stats().evictions() > 0, "all are there");
    List<Pin> pins = new ArrayList<>();
    for (Pin page : pages) {
      if (cache.stats().heldPages() - pins.size() <= free) {
        return pins;
      }
      page.table().loadPage(page.page(), Access.QUERY);
      pins.add(page);
    }
    throw new AssertionError("too few pages");
  }
}
