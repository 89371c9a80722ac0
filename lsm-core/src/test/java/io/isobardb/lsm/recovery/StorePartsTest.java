package io.isobardb.lsm.recovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Failures that concern the store as a whole, and closing. */
class StorePartsTest {
  private static final byte[] KEY = "k".getBytes(UTF_8);
  private static final byte[] VALUE = new byte[100];

  private final HandmadeStore store = new HandmadeStore();

  @AfterEach
  void allIsGivenBack() {
    store.assertAllGivenBack();
  }

  private static FaultPlan fails(Operation of, Fault with, String... parts) {
    return (operation, file, at) ->
        operation == of && List.of(parts).stream().anyMatch(file::contains) ? with : Fault.NONE;
  }

  @Test
  void aFailureIsToldOnceAndEndsAllWritingEvenThatOfClosing() throws IOException {
    List<Throwable> told = new ArrayList<>();
    byte[] current;
    try (Store opened = store.open()) {
      opened.addListener(
          new StoreListener() {
            @Override
            public void onFailed(Failure failure) {
              told.add(failure.cause());
            }
          });
      Tree tree = opened.tree("logged");
      current = store.read("CURRENT");
      store.disk().faults(fails(Operation.SYNC, Fault.EIO, ".log"));
      assertThrows(IsobarException.class, () -> tree.put(KEY, VALUE, Durability.SYNC));
      store.disk().faults(FaultPlan.NONE);
      assertThrows(StoreFailedException.class, () -> tree.put(KEY, VALUE, Durability.ASYNC));
      assertEquals(1, told.size());
    }
    assertEquals(1, told.size());
    assertArrayEquals(current, store.read("CURRENT"));
  }

  @Test
  void aFlushThatFailsEndsAllWritingTheLogsToo() {
    try (Store opened = store.open()) {
      Tree tree = opened.tree("logged");
      tree.put(KEY, VALUE, Durability.ASYNC);
      store.disk().faults(fails(Operation.SYNC, Fault.EIO, ".sst"));
      assertThrows(IsobarException.class, opened::flush);
      store.disk().faults(FaultPlan.NONE);
      assertThrows(StoreFailedException.class, () -> tree.put(KEY, VALUE, Durability.SYNC));
      assertThrows(StoreFailedException.class, opened::sync);
    }
  }

  @Test
  void aStoreIsClosedThoughThereIsNoRoomToNoteSo() {
    try (Store opened = store.open()) {
      opened.tree("logged").put(KEY, VALUE, Durability.ASYNC);
      store.disk().faults(fails(Operation.WRITE, Fault.ENOSPC, "CURRENT"));
    }
    store.disk().faults(FaultPlan.NONE);
    try (Store opened = store.open()) {
      assertNotNull(opened.tree("logged").get(KEY));
    }
  }

  @Test
  void whateverFailsWhileClosingAllIsClosedAndAllIsTold() {
    Store opened = store.open();
    opened.createTree("new", TreeOptions.defaults());
    opened.tree("logged").put(KEY, VALUE, Durability.SYNC);
    store.disk().faults(fails(Operation.CLOSE, Fault.EIO, "MANIFEST", ".log"));
    RuntimeException e = assertThrows(RuntimeException.class, opened::close);
    store.disk().faults(FaultPlan.NONE);
    Throwable first = Objects.requireNonNull(e.getCause());
    assertTrue(first.getMessage().contains(".log"), first.toString());
    assertEquals(1, first.getSuppressed().length);
    assertTrue(first.getSuppressed()[0].getMessage().contains("MANIFEST"));
    try (Store again = store.open()) {
      assertNotNull(again.tree("logged").get(KEY));
      assertNotNull(again.tree("new"));
    }
  }

  @Test
  void whenThereIsRoomAgainFlushesAndWritesGoOn() {
    try (Store opened = store.open()) {
      Tree tree = opened.tree("logged");
      store.disk().capacityBytes(store.disk().usedBytes());
      assertThrows(DiskFullException.class, opened::flush);
      store.disk().capacityBytes(Long.MAX_VALUE);
      store.pass(1_000_000_000L);
      tree.put(KEY, VALUE, Durability.SYNC);
      opened.flush();
      assertEquals(1, opened.stats().flushes());
    }
  }

  @Test
  void aDroppedTreeLeavesNothing() throws IOException {
    try (Store opened = store.open()) {
      Tree tree = opened.createTree("new", TreeOptions.defaults());
      // What the log had for other trees.
      opened.flush();
      List<String> before = tables();
      for (int i = 0; i < 500; i++) {
        tree.put(("k" + i).getBytes(UTF_8), VALUE, Durability.ASYNC);
      }
      opened.flush();
      assertTrue(tables().size() > before.size());
      for (int i = 0; i < 500; i++) {
        tree.put(("k" + i).getBytes(UTF_8), VALUE, Durability.ASYNC);
      }
      long inUse = opened.stats().writeMemoryBytes();
      opened.dropTree("new");
      assertTrue(opened.stats().writeMemoryBytes() < inUse);
      // Its files go once that is durable.
      opened.sync();
      opened.awaitQuiet();
      assertEquals(before, tables());
    }
  }

  private List<String> tables() throws IOException {
    return store.disk().list().stream().filter(name -> name.endsWith(".sst")).sorted().toList();
  }

  @Test
  void allWaysToReadSeeWhatOpeningFound() {
    byte[] key = "logged05".getBytes(UTF_8);
    try (Store opened = store.open()) {
      opened.tree("logged").put(KEY, new byte[20_000]);
      opened.flush();
    }
    try (Store opened = store.open()) {
      Tree tree = opened.tree("logged");
      assertEquals(500, Objects.requireNonNull(tree.get(key)).length);
      assertEquals(Integer.valueOf(20_000), tree.read(KEY, value -> value.remaining()));
      assertEquals(500, Objects.requireNonNull(tree.multiGet(List.of(key)).get(0)).length);
    }
  }

  @Test
  void aKeyThatIsWrittenAgainAndAgainIsFlushedBeforeTheLogGetsTooLong() {
    try (Store opened = store.open()) {
      Tree tree = opened.tree("logged");
      for (int i = 0; i < 3000; i++) {
        tree.put(KEY, new byte[1000], Durability.ASYNC);
        if (i % 100 == 0) {
          store.pass(1_000_000);
        }
      }
      assertTrue(opened.stats().flushes() > 0);
      assertTrue(opened.stats().logSizeBytes() < 2 << 20, opened.stats().toString());
    }
  }

  @Test
  void theMemoryTunerIsOnUnlessItIsSwitchedOff() {
    try (Store opened = store.open()) {
      assertTrue(opened.stats().tuner().on());
    }
  }

  @Test
  void whatNobodyWritesToAnyMoreIsMergedInMemory() {
    try (Store opened = store.open()) {
      Tree tree = opened.tree("backwards");
      for (int i = 0; i < 11_000; i++) {
        tree.put(("key" + i).getBytes(UTF_8), VALUE, Durability.ASYNC);
      }
      store.pass(1_000_000_000);
      assertTrue(opened.stats().memoryMerges() > 0, opened.stats().toString());
    }
  }
}
