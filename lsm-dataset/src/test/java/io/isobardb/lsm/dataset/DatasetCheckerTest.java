package io.isobardb.lsm.dataset;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a check finds is the same however much it looks up at a time, and it reads each page once.
 */
class DatasetCheckerTest {
  private static final int PAGE_BYTES = 4096;

  private final SimulatedClock clock = new SimulatedClock();

  /** Ten figures in another order than the keys, then 200 bytes. */
  private static byte[] record(int i) {
    return Arrays.copyOf(bytes(String.format("%010d", i * 0x9E3779B1L & 0xFFFFFFFFL)), 210);
  }

  private static Index byFigures(String name, Maintenance maintenance, boolean unique) {
    return Index.builder(name)
        .key((key, value) -> List.of(Arrays.copyOf(value, 10)))
        .maintenance(maintenance)
        .unique(unique)
        .build();
  }

  private static Dataset open(Store store, TreeOptions primary) {
    return Dataset.open(
        store,
        "d",
        DatasetOptions.builder()
            .primary(primary)
            .index(byFigures("eager", Maintenance.EAGER, false))
            .index(byFigures("lazy", Maintenance.VALIDATION, false))
            .index(byFigures("unique", Maintenance.EAGER, true))
            .build());
  }

  /** Pages of all trees whose names end like this. */
  private static long pages(Store store, String name) {
    return store.stats().trees().stream()
            .filter(tree -> tree.name().endsWith(name))
            .mapToLong(StoreStats.TreeStats::diskBytes)
            .sum()
        / PAGE_BYTES;
  }

  /** An index as the dataset has it. */
  private static SecondaryIndex index(Store store, IndexStatus status) {
    Index index = byFigures(status.name(), status.maintenance(), status.unique());
    return new SecondaryIndex(
        index, store.tree(status.tree()), IndexCatalog.Stored.of(index, 1, IndexState.READY));
  }

  @Test
  void aCheckReadsEachPageOnceForEachTreeThatAsksForIt() {
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
      Tree records = store.openTree("d");
      try (BulkLoad load = store.bulkLoad(records)) {
        for (int i = 0; i < 20_000; i++) {
          load.add(records, key(i), record(i));
        }
        load.commit();
      }
      Dataset dataset = open(store, TreeOptions.defaults());
      long primary = pages(store, "d");
      long all = pages(store, "");
      long cached = store.stats().cache().targetPages();
      assertTrue(primary > 2 * cached, primary + " pages, of which " + cached + " are cached");
      long before = store.stats().cache().queryMisses();
      DatasetCheck check = dataset.check();
      assertTrue(check.isSound(), check::toString);
      long read = store.stats().cache().queryMisses() - before;
      // Records: once to go through them, and once for each of three indexes. Entries: twice.
      long most = 4 * primary + 2 * (all - primary);
      assertTrue(read <= most * 11 / 10, read + " pages read, " + most + " expected");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 5000, 1 << 20})
  void whatIsFoundDoesNotDependOnThePieces(long pieceBytes) {
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
      Dataset dataset = open(store, TreeOptions.builder().keyOrder(FallingOrder.FALLING).build());
      for (int i = 0; i < 1000; i++) {
        dataset.put(key(i), record(i));
      }
      Tree records = store.tree("d");
      for (int i = 0; i < 1000; i += 100) {
        records.delete(key(i));
        records.put(key(i + 1), record(i + 5000));
      }
      List<SecondaryIndex> indexes =
          dataset.indexes().stream().map(status -> index(store, status)).toList();
      DatasetCheck check;
      try (Snapshot snapshot = store.snapshot()) {
        check = new DatasetChecker(View.of(snapshot), records, indexes, pieceBytes).run();
      }
      assertEquals(990, check.records());
      for (DatasetCheck.IndexCheck index : check.indexes()) {
        boolean lazy = index.index().equals("lazy");
        assertEquals(1000, index.entries(), index.toString());
        assertEquals(lazy ? 10 : 30, index.errors(), index.toString());
        assertEquals(lazy ? 20 : 0, index.stale(), index.toString());
        Set<String> kinds =
            index.findings().stream()
                .map(finding -> finding.replaceAll("'[^']*'", "K"))
                .collect(Collectors.toSet());
        assertTrue(kinds.contains("record K has no entry at K"), kinds::toString);
        assertEquals(lazy ? 1 : 3, kinds.size(), kinds::toString);
      }
    }
  }
}
