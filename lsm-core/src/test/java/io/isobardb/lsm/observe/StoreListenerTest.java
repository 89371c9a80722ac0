package io.isobardb.lsm.observe;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreListenerTest {
  private static final StoreOptions SMALL =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).build();

  @TempDir Path temp;

  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage storage = new SimulatedStorage(clock);

  /** Remembers all it is told. */
  private static final class Memory implements StoreListener {
    final List<Flush> flushes = new CopyOnWriteArrayList<>();
    final List<Merge> merges = new CopyOnWriteArrayList<>();
    final List<Stall> stalls = new CopyOnWriteArrayList<>();
    final List<Sync> syncs = new CopyOnWriteArrayList<>();
    final List<Failure> failures = new CopyOnWriteArrayList<>();

    @Override
    public void onFlushed(Flush event) {
      flushes.add(event);
    }

    @Override
    public void onMerged(Merge event) {
      merges.add(event);
    }

    @Override
    public void onStalled(Stall event) {
      stalls.add(event);
    }

    @Override
    public void onSynced(Sync event) {
      syncs.add(event);
    }

    @Override
    public void onFailed(Failure event) {
      failures.add(event);
    }
  }

  /** Fails whatever it is told. */
  private static final class Grumpy implements StoreListener {
    @Override
    public void onFlushed(Flush event) {
      throw new IllegalStateException("no");
    }

    @Override
    public void onMerged(Merge event) {
      throw new AssertionError("no");
    }

    @Override
    public void onStalled(Stall event) {
      throw new IllegalStateException("no");
    }

    @Override
    public void onSynced(Sync event) {
      throw new IllegalStateException("no");
    }
  }

  private static byte[] key(int i) {
    return ("key" + i * 7919 % 100_000).getBytes();
  }

  private static void load(Store store) {
    Tree tree = store.openTree("t");
    for (int i = 0; i < 30_000; i++) {
      tree.put(key(i), new byte[400]);
    }
    tree.put(key(0), new byte[1], Durability.SYNC);
    store.flush();
    store.awaitQuiet();
  }

  private Store open() {
    return Inside.open(
        new Environment(storage, clock, new SimulatedScheduler(clock, 5), new SplittableRandom(5)),
        SMALL);
  }

  @Test
  void aListenerIsToldOfAllThatIsCounted() {
    Memory memory = new Memory();
    try (Store store = open()) {
      store.addListener(memory);
      load(store);
      StoreStats stats = store.stats();
      assertEquals(stats.flushes(), memory.flushes.size());
      assertEquals(
          stats.flushBytesWritten(),
          memory.flushes.stream().mapToLong(StoreListener.Flush::bytesWritten).sum());
      List<StoreListener.Merge> disk =
          memory.merges.stream()
              .filter(merge -> merge.kind() != StoreListener.MergeKind.MEMORY)
              .toList();
      assertEquals(stats.merges(), disk.size());
      assertEquals(
          stats.mergeBytesWritten(),
          disk.stream().mapToLong(StoreListener.Merge::bytesWritten).sum());
      assertEquals(stats.logSyncs(), memory.syncs.size());
      assertEquals(
          stats.stalls().values().stream().mapToLong(StoreStats.StallStats::count).sum(),
          memory.stalls.size());
      assertFalse(memory.flushes.isEmpty());
      assertFalse(disk.isEmpty());
      assertFalse(memory.stalls.isEmpty());
      assertEquals("t", memory.flushes.get(0).tree());
      assertTrue(memory.failures.isEmpty());
    }
  }

  @Test
  void aListenerIsToldOfTreesThatComeAndGo() {
    List<String> told = new CopyOnWriteArrayList<>();
    try (Store store = open()) {
      store.openTree("before");
      store.addListener(
          new StoreListener() {
            @Override
            public void onTreeCreated(TreeCreated event) {
              told.add("+" + event.tree() + store.treeNames());
            }

            @Override
            public void onTreeDropped(TreeDropped event) {
              told.add("-" + event.tree() + store.treeNames());
            }
          });
      store.openTree("a");
      store.openTree("a");
      store.createTree("b", TreeOptions.defaults());
      store.renameTree("b", "c");
      store.dropTree("a");
      assertThrows(IllegalArgumentException.class, () -> store.dropTree("a"));
    }
    assertEquals(
        List.of(
            "+a[a, before]",
            "+b[a, b, before]",
            "-b[a, before, c]",
            "+c[a, before, c]",
            "-a[before, c]"),
        told);
  }

  @Test
  void whatAListenerThrowsHarmsNeitherTheStoreNorOtherListeners() {
    Memory memory = new Memory();
    try (Store store = open()) {
      store.addListener(new Grumpy());
      store.addListener(memory);
      load(store);
      assertFalse(memory.flushes.isEmpty());
      assertFalse(memory.merges.isEmpty());
      store.tree("t").put(key(1), new byte[] {7});
      assertArrayEquals(new byte[] {7}, store.tree("t").get(key(1)));
    }
  }

  @Test
  void callsThatMayWaitForTheListenerAreRefused() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      List<Runnable> calls =
          List.of(
              store::flush,
              store::sync,
              store::checkpoint,
              store::awaitQuiet,
              store::close,
              store::bulkLoad,
              () -> store.setMemoryBudget(8 << 20),
              () -> store.checkpointTo(temp.resolve("copy")),
              () -> store.openTree("other"),
              () -> store.dropTree("t"),
              () -> store.renameTree("t", "other"),
              () -> tree.compact(null, null),
              () -> tree.put(key(2), new byte[1]),
              () -> tree.delete(key(1)),
              () -> tree.deleteRange(key(0), key(9)),
              () -> tree.putIfAbsent(key(2), new byte[1]),
              () -> store.write(store.newBatch().put(tree, key(2), new byte[1])),
              () -> commitTo(tree, store));
      List<Runnable> done = new CopyOnWriteArrayList<>();
      List<String> refusals = new CopyOnWriteArrayList<>();
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              calls.forEach(
                  call -> {
                    try {
                      call.run();
                      done.add(call);
                    } catch (IllegalStateException e) {
                      refusals.add(e.getMessage());
                    }
                  });
            }
          });
      tree.put(key(1), new byte[1]);
      store.flush();
      assertEquals(List.of(), done);
      assertEquals(calls.size(), refusals.size());
      assertTrue(
          refusals.stream().allMatch(text -> text.contains("by a listener")), refusals::toString);
      assertArrayEquals(new byte[1], tree.get(key(1)));
      assertNull(tree.get(key(2)));
      assertNull(tree.get(key(3)));
    }
  }

  private static void commitTo(Tree tree, Store store) {
    try (Transaction transaction = store.begin()) {
      transaction.put(tree, key(3), new byte[1]);
      transaction.commit();
    }
  }

  /** A write in each of its calls, one that waits for the disk. */
  private static final class Writer implements StoreListener {
    private final Tree tree;
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private final Set<String> written = ConcurrentHashMap.newKeySet();

    Writer(Tree tree) {
      this.tree = tree;
    }

    private void write(String where) {
      try {
        tree.put(key(2), new byte[1], Durability.SYNC);
        written.add(where);
      } catch (IllegalStateException e) {
        refused.add(where);
      }
    }

    @Override
    public void onFlushed(Flush event) {
      write("flushed");
    }

    @Override
    public void onMerged(Merge event) {
      write("merged");
    }

    @Override
    public void onStalled(Stall event) {
      write("stalled");
    }

    @Override
    public void onSynced(Sync event) {
      write("synced");
    }
  }

  @Test
  void aWriteIsRefusedInEachCallOfAListener() {
    try (Store store = open()) {
      Writer writer = new Writer(store.openTree("t"));
      store.addListener(writer);
      load(store);
      assertEquals(Set.of(), writer.written);
      assertEquals(Set.of("flushed", "merged", "stalled", "synced"), writer.refused);
    }
  }

  @Test
  void aListenerThatWasRemovedIsToldNothing() {
    Memory memory = new Memory();
    Store store = open();
    try (store) {
      store.addListener(memory);
      Tree tree = store.openTree("t");
      tree.put(key(1), new byte[1]);
      store.flush();
      assertEquals(1, memory.flushes.size());
      store.removeListener(memory);
      tree.put(key(2), new byte[1]);
      store.flush();
      assertEquals(1, memory.flushes.size());
      store.removeListener(memory);
    }
    store.removeListener(memory);
  }

  @Test
  void aListenerThatRemovesItselfIsStillRefusedWhatWouldWaitForIt() {
    try (Store store = open()) {
      List<String> refusals = new CopyOnWriteArrayList<>();
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              store.removeListener(this);
              refusals.add(assertThrows(IllegalStateException.class, store::flush).getMessage());
            }
          });
      store.openTree("t").put(key(1), new byte[1]);
      store.flush();
      assertEquals(1, refusals.size());
      assertTrue(refusals.get(0).contains("by a listener"), refusals::toString);
    }
  }

  @Test
  void aFailureOfTheStoreIsToldOnce() {
    Memory memory = new Memory();
    try (Store store = open()) {
      store.addListener(memory);
      Tree tree = store.openTree("t");
      storage.faults(FaultPlan.every(Operation.SYNC, Fault.EIO));
      assertThrows(IsobarException.class, () -> tree.put(key(1), new byte[1], Durability.SYNC));
      assertThrows(IsobarException.class, () -> tree.put(key(1), new byte[1]));
      assertEquals(1, memory.failures.size());
      assertTrue(memory.failures.get(0).cause().getMessage().contains("simulated"));
    }
    assertEquals(1, memory.failures.size());
  }

  @Test
  void flightRecordingsShowFlushesMergesStallsAndSyncs() throws Exception {
    Path file = temp.resolve("recording.jfr");
    try (Recording recording = new Recording()) {
      for (String name : List.of("Flush", "Merge", "Stall", "Sync")) {
        recording.enable("isobar." + name).withoutThreshold();
      }
      recording.start();
      try (Store store = open()) {
        load(store);
      }
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertTrue(sum(events, "isobar.Flush", "bytesWritten") > 100_000);
    assertTrue(sum(events, "isobar.Merge", "bytesWritten") > 100_000);
    assertTrue(sum(events, "isobar.Sync", "bytes") > 100_000);
    assertTrue(
        events.stream()
            .filter(event -> event.getEventType().getName().equals("isobar.Stall"))
            .anyMatch(event -> event.getString("reason").startsWith("MEMORY")));
  }

  private static long sum(List<RecordedEvent> events, String type, String field) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals(type))
        .peek(event -> assertEquals("simulated", event.getString("store")))
        .mapToLong(event -> event.getLong(field))
        .sum();
  }
}
