package io.isobardb.lsm.recovery;

import static io.isobardb.lsm.SimulatedStores.SMALL;
import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.contents;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What becomes of trees that were created or dropped shortly before a crash. */
class TreesAfterCrashTest {
  private static final StoreOptions SYNC = SMALL.toBuilder().durability(Durability.SYNC).build();

  private final SimulatedWorld world = new SimulatedWorld(1);
  private final SplittableRandom random = new SplittableRandom(1);

  /** The disk without what was not synced. */
  private SimulatedWorld powerLoss() {
    return new SimulatedWorld(world.storage().crash(random, CrashMode.ONLY_SYNCED), 2);
  }

  /** The same, but all that was written to the log is there. */
  private SimulatedWorld powerLossButForTheLog() throws IOException {
    SimulatedStorage synced = world.storage().crash(random, CrashMode.ONLY_SYNCED);
    SimulatedStorage left = world.storage().copy();
    for (String name : left.list()) {
      if (name.startsWith("MANIFEST-")) {
        try (DataFile durable = synced.open(name, IoMode.BUFFERED);
            DataFile file = left.open(name, IoMode.BUFFERED)) {
          file.truncate(durable.size());
        }
      }
    }
    return new SimulatedWorld(left, 2);
  }

  private int syncs(Runnable work) {
    AtomicInteger syncs = new AtomicInteger();
    world
        .storage()
        .faults(
            (operation, file, index) -> {
              syncs.addAndGet(operation == Operation.SYNC ? 1 : 0);
              return Fault.NONE;
            });
    work.run();
    world.storage().faults(FaultPlan.NONE);
    return syncs.get();
  }

  private static void createAndDrop(Store store, int count) {
    for (int i = 0; i < count; i++) {
      store.createTree("tree " + i, TreeOptions.builder().timeToLive(Duration.ofDays(1)).build());
    }
    for (int i = 0; i < count; i++) {
      store.dropTree("tree " + i);
    }
  }

  @Test
  void treesAreCreatedAndDroppedWithoutASyncOfEach() {
    try (Store store = world.open(SMALL)) {
      assertEquals(0, syncs(() -> createAndDrop(store, 100)));
    }
    try (Store store = world.open(SYNC)) {
      assertEquals(200, syncs(() -> createAndDrop(store, 100)));
    }
  }

  @Test
  void theDeathOfTheProcessTakesNoTreeAndBringsNoneBack() {
    try (Store store = world.open(SMALL)) {
      store.createTree("dropped", TreeOptions.defaults()).put(bytes("k"), bytes("v"));
      store.dropTree("dropped");
      store.createTree("created", TreeOptions.defaults()).put(bytes("k"), bytes("v"));
      SimulatedWorld killed = new SimulatedWorld(world.storage().copy(), 2);
      try (Store reopened = killed.open(SMALL)) {
        assertEquals(List.of("created"), reopened.treeNames());
        assertEquals(Map.of("k", "v"), contents(reopened.tree("created")));
      }
    }
  }

  @Test
  void aWriteThatIsSyncedMakesAllTreesDurable() {
    try (Store store = world.open(SMALL)) {
      Tree old = store.createTree("old", TreeOptions.defaults());
      store.createTree("dropped", TreeOptions.defaults());
      store.sync();
      store.dropTree("dropped");
      store.createTree("t", TreeOptions.builder().timeToLive(Duration.ofDays(1)).build());
      try (Store lost = powerLoss().open(SMALL)) {
        assertEquals(List.of("dropped", "old"), lost.treeNames());
      }
      old.put(bytes("k"), bytes("v"), Durability.SYNC);
      try (Store kept = powerLoss().open(SMALL)) {
        assertEquals(List.of("old", "t"), kept.treeNames());
        assertEquals(Duration.ofDays(1), kept.tree("t").timeToLive());
      }
    }
  }

  @Test
  void aFlushAndACheckpointMakeThemDurableToo() {
    try (Store store = world.open(SMALL)) {
      store.createTree("flushed", TreeOptions.defaults());
      store.flush();
      try (Store kept = powerLoss().open(SMALL)) {
        assertEquals(List.of("flushed"), kept.treeNames());
      }
      store.createTree("saved", TreeOptions.builder().logged(false).build());
      store.checkpoint();
      try (Store kept = powerLoss().open(SMALL)) {
        assertEquals(List.of("flushed", "saved"), kept.treeNames());
      }
    }
  }

  @Test
  void withSyncAsTheDefaultTheyAreDurableAtOnce() {
    try (Store store = world.open(SYNC)) {
      store.createTree("dropped", TreeOptions.defaults());
      store.createTree("t", TreeOptions.defaults());
      store.dropTree("dropped");
      try (Store kept = powerLoss().open(SMALL)) {
        assertEquals(List.of("t"), kept.treeNames());
      }
    }
  }

  @Test
  void whatIsSetIsDurableEvenIfTheTreeWasCreatedLikeThat() {
    Duration day = Duration.ofDays(1);
    Runs two = Runs.lazy(2);
    TreeOptions options =
        TreeOptions.builder()
            .timeToLive(day)
            .runs(two)
            .maxSpace(4)
            .compression(Compression.LZ4)
            .build();
    List<Consumer<Tree>> settings =
        List.of(
            tree -> tree.setTimeToLive(day),
            tree -> tree.setRuns(two),
            tree -> tree.setMaxSpace(4),
            tree -> tree.setCompression(Compression.LZ4));
    try (Store store = world.open(SMALL)) {
      for (int i = 0; i < settings.size(); i++) {
        Tree tree = store.createTree("t" + i, options);
        Consumer<Tree> set = settings.get(i);
        assertEquals(1, syncs(() -> set.accept(tree)));
        try (Store kept = powerLoss().open(SMALL)) {
          assertEquals(options, kept.tree("t" + i).options());
        }
        assertEquals(0, syncs(() -> set.accept(tree)));
      }
    }
  }

  @Test
  void openingATreeAgainWaitsForNoSync() {
    TreeOptions options = TreeOptions.builder().timeToLive(Duration.ofDays(1)).build();
    try (Store store = world.open(SMALL)) {
      assertEquals(0, syncs(() -> store.openTree("t", options)));
      assertEquals(0, syncs(() -> store.openTree("t", options)));
    }
  }

  @Test
  void aTreeThatIsLostTakesWhatWasWrittenBehindIt() throws IOException {
    try (Store store = world.open(SMALL)) {
      Tree rows = store.createTree("rows", TreeOptions.defaults());
      rows.put(bytes("before"), bytes("1"));
      store.sync();
      rows.put(bytes("unsynced"), bytes("1"));
      store.createTree("t", TreeOptions.defaults());
      rows.put(bytes("t"), bytes("is there"));
      SimulatedWorld left = powerLossButForTheLog();
      try (Store reopened = left.open(SMALL)) {
        assertEquals(List.of("rows"), reopened.treeNames());
        assertEquals(Map.of("before", "1", "unsynced", "1"), contents(reopened.tree("rows")));
        // The same number again, and the log goes on.
        reopened.createTree("t", TreeOptions.defaults());
        reopened.tree("rows").put(bytes("t"), bytes("is there again"));
      }
      left.checkClosed();
      try (Store reopened = left.open(SMALL)) {
        assertEquals("is there again", contents(reopened.tree("rows")).get("t"));
        assertEquals(List.of("rows", "t"), reopened.treeNames());
      }
    }
  }

  @Test
  void aTreeThatIsBackHasAllItHadAndTakesWhatWasWrittenBehindItsDrop() throws IOException {
    try (Store store = world.open(SMALL)) {
      Tree rows = store.createTree("rows", TreeOptions.defaults());
      Tree tree = store.createTree("t", TreeOptions.defaults());
      tree.put(bytes("flushed"), bytes("1"));
      store.flush();
      tree.put(bytes("logged"), bytes("1"));
      store.sync();
      List<String> before = world.storage().list();
      store.dropTree("t");
      rows.put(bytes("t"), bytes("is gone"));
      world.background(4);
      assertEquals(before, world.storage().list());
      SimulatedWorld left = powerLossButForTheLog();
      try (Store reopened = left.open(SMALL)) {
        assertEquals(Map.of(), contents(reopened.tree("rows")));
        assertEquals(Map.of("flushed", "1", "logged", "1"), contents(reopened.tree("t")));
      }
      left.checkClosed();
    }
    world.checkClosed();
  }

  @Test
  void filesOfADroppedTreeGoOnceTheDropIsDurable() throws IOException {
    try (Store store = world.open(SMALL)) {
      Tree tree = store.createTree("t", TreeOptions.defaults());
      tree.put(bytes("k"), bytes("v"));
      store.flush();
      store.dropTree("t");
      assertTrue(hasTables());
      long used = Inside.of(store).engine().gate().usedBytes();
      assertEquals(0, used);
      store.sync();
      world.pass(1_000_000_000);
      assertFalse(hasTables());
    }
  }

  private boolean hasTables() throws IOException {
    return world.storage().list().stream().anyMatch(name -> name.endsWith(".sst"));
  }

  @Test
  void anEditThatIsGoneFromTheManifestThoughTheLogWasSyncedIsDamage() throws IOException {
    try (Store store = world.open(SMALL)) {
      Tree rows = store.createTree("rows", TreeOptions.defaults());
      store.sync();
      SimulatedStorage early = world.storage().copy();
      store.createTree("t", TreeOptions.defaults());
      rows.put(bytes("a"), bytes("1"), Durability.SYNC);
      rows.put(bytes("b"), bytes("1"), Durability.SYNC);
      SimulatedStorage left = world.storage().copy();
      for (String name : left.list()) {
        if (name.startsWith("MANIFEST-")) {
          try (DataFile old = early.open(name, IoMode.BUFFERED);
              DataFile file = left.open(name, IoMode.BUFFERED)) {
            file.truncate(old.size());
          }
        }
      }
      CorruptionException e =
          assertThrows(
              CorruptionException.class, () -> new SimulatedWorld(left, 2).open(SMALL).close());
      assertTrue(e.getMessage().contains("the manifest lacks changes of trees"), e::getMessage);
    }
  }

  @Test
  void onAFullDiskATreeIsCreatedOrNotAtAll() {
    try (Store store = world.open(SMALL)) {
      Tree rows = store.createTree("rows", TreeOptions.defaults());
      world.storage().faults(FaultPlan.every(Operation.WRITE, Fault.ENOSPC));
      assertThrows(
          DiskFullException.class, () -> store.createTree("refused", TreeOptions.defaults()));
      assertThrows(DiskFullException.class, () -> store.dropTree("rows"));
      world.storage().faults(FaultPlan.NONE);
      rows.put(bytes("k"), bytes("v"));
      store.createTree("t", TreeOptions.defaults());
      store.sync();
      try (Store kept = powerLoss().open(SMALL)) {
        assertEquals(List.of("rows", "t"), kept.treeNames());
      }
    }
  }
}
