package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A full disk, damage and a failed sync are told to the task that meets them, with tree and file.
 * What other tasks have is there.
 */
@Tag("any-jdk")
class FaultTest {
  private static final TopicPartition CHANGELOG = new TopicPartition("app-counts-changelog", 0);
  private static final byte[] KILOBYTE = new byte[1 << 10];

  @TempDir Path directory;

  private final Map<String, Object> options = new HashMap<>();
  private final SimulatedStorage disk = new SimulatedStorage();

  @BeforeEach
  void takeTimeIntoItsHands() {
    SharedStore.openIn(new ManualSurroundings());
  }

  @AfterEach
  void close() {
    disk.faults(FaultPlan.NONE);
    SharedStore.openIn(Store::open);
    assertEquals(0, IsobarStores.close(), "all state stores are closed");
  }

  private void useSimulatedDisk() {
    use(disk);
  }

  private static void use(SimulatedStorage disk) {
    SharedStore.openIn(
        new ManualSurroundings(
            (path, of) ->
                Inside.open(
                    new Environment(
                        disk,
                        Clock.SYSTEM,
                        new ThreadScheduler("simulated", 2),
                        new SplittableRandom(1)),
                    of)));
  }

  private MockTask task(int partition) {
    return new MockTask(directory, partition, options);
  }

  private KeyValueStore<Bytes, byte[]> open(int partition) {
    return task(partition).openCounts();
  }

  private Store store() {
    return Objects.requireNonNull(SharedStore.of(task(0).storeDirectory())).store();
  }

  private static Bytes key(int key) {
    return Bytes.wrap(String.valueOf(key).getBytes(UTF_8));
  }

  private static byte[] value(String value) {
    return value.getBytes(UTF_8);
  }

  private static void assertTells(ProcessorStateException told, String... parts) {
    for (String part : parts) {
      assertTrue(told.getMessage().contains(part), told.getMessage());
    }
  }

  @Test
  void aFullDiskIsToldAndWritesGoOnOnceThereIsRoom() {
    useSimulatedDisk();
    KeyValueStore<Bytes, byte[]> store = open(0);
    KeyValueStore<Bytes, byte[]> other = open(1);
    other.put(key(1), value("other's"));
    store.put(key(0), value("first"));
    store.commit(Map.of(CHANGELOG, 0L));
    disk.capacityBytes(disk.usedBytes());
    int[] written = {1};
    ProcessorStateException told =
        assertThrows(
            ProcessorStateException.class,
            () -> {
              for (; ; written[0]++) {
                store.put(key(written[0]), KILOBYTE);
              }
            });
    assertInstanceOf(DiskFullException.class, told.getCause());
    assertTells(told, "state store counts", "tree 0_0-counts.", "no space left", ".log");
    assertNull(store.get(key(written[0])), "what was refused is not there");
    for (int i = 1; i < written[0]; i++) {
      assertArrayEquals(KILOBYTE, store.get(key(i)));
    }
    assertArrayEquals(value("other's"), other.get(key(1)));

    disk.capacityBytes(Long.MAX_VALUE);
    putOnceThereIsRoom(store, key(written[0]));
    assertArrayEquals(KILOBYTE, store.get(key(written[0])));
    store.commit(Map.of(CHANGELOG, 1L));
    other.put(key(2), value("goes on"));
    assertArrayEquals(value("goes on"), other.get(key(2)));
    store.close();
    other.close();
  }

  /** The store looks for room now and then. */
  private static void putOnceThereIsRoom(KeyValueStore<Bytes, byte[]> store, Bytes key) {
    while (true) {
      try {
        store.put(key, KILOBYTE);
        return;
      } catch (ProcessorStateException e) {
        assertInstanceOf(DiskFullException.class, e.getCause());
        LockSupport.parkNanos(10_000_000);
      }
    }
  }

  /** Whatever the opening had made by then, it has given back. */
  @Test
  void aStoreThatCouldNotBeOpenedCanBeOpenedLater() {
    boolean failed = true;
    for (int call = 0; failed; call++) {
      SimulatedStorage own = new SimulatedStorage();
      use(own);
      AtomicInteger left = new AtomicInteger(call);
      own.faults((operation, file, index) -> left.getAndDecrement() == 0 ? Fault.EIO : Fault.NONE);
      try {
        closeAfterFailure(open(0));
      } catch (ProcessorStateException e) {
        assertTells(e, "state store counts", "simulated");
      }
      failed = left.get() < 0;
      own.faults(FaultPlan.NONE);
      IsobarStores.close();
      open(0).close();
      assertEquals(0, IsobarStores.close());
    }
  }

  @Test
  void aFailedSyncStopsWritesUntilAllHaveClosedTheStore() {
    useSimulatedDisk();
    KeyValueStore<Bytes, byte[]> store = open(0);
    KeyValueStore<Bytes, byte[]> other = open(1);
    store.put(key(0), value("0"));
    store.commit(Map.of(CHANGELOG, 0L));
    other.put(key(1), value("other's"));
    other.commit(Map.of(CHANGELOG, 7L));
    store().sync();
    // Of the log: files that are made for it in advance may be synced first.
    disk.faults(
        (operation, file, index) ->
            operation == Operation.SYNC && file.endsWith(".log") ? Fault.EIO : Fault.NONE);
    ProcessorStateException told =
        assertThrows(
            ProcessorStateException.class,
            () -> {
              for (long offset = 1; ; offset++) {
                store.put(key((int) offset), value(String.valueOf(offset)));
                store.commit(Map.of(CHANGELOG, offset));
              }
            });
    assertInstanceOf(StoreFailedException.class, told.getCause());
    assertTells(told, "state store counts", "tree 0_0-counts.", ".log");
    assertThrows(ProcessorStateException.class, () -> other.put(key(2), value("2")));
    assertArrayEquals(value("other's"), other.get(key(1)), "reads go on");

    disk.faults(FaultPlan.NONE);
    closeAfterFailure(store);
    closeAfterFailure(other);
    assertNull(SharedStore.of(task(0).storeDirectory()), "it does not linger");
    KeyValueStore<Bytes, byte[]> again = open(0);
    long committed = Objects.requireNonNull(again.committedOffset(CHANGELOG));
    for (long offset = 0; offset <= committed; offset++) {
      assertArrayEquals(value(String.valueOf(offset)), again.get(key((int) offset)));
    }
    again.put(key(0), value("more"));
    again.commit(Map.of(CHANGELOG, committed + 1));
    KeyValueStore<Bytes, byte[]> others = open(1);
    assertEquals(7L, others.committedOffset(CHANGELOG));
    assertArrayEquals(value("other's"), others.get(key(1)));
    again.close();
    others.close();
  }

  /** An idle task never meets the failure, and would hold the store for ever. */
  @Test
  void aStateStoreThatIsIdleDoesNotKeepOthersFromGoingOn() {
    useSimulatedDisk();
    KeyValueStore<Bytes, byte[]> store = open(0);
    KeyValueStore<Bytes, byte[]> idle = open(1);
    KeyValueStore<Bytes, byte[]> uncommitted = open(2);
    uncommitted.commit(Map.of(CHANGELOG, 3L));
    idle.put(key(1), value("idle's"));
    idle.commit(Map.of(CHANGELOG, 7L));
    uncommitted.put(key(2), value("2"));
    store().sync();
    KeyValueIterator<Bytes, byte[]> open = idle.all();
    failSync(store);
    closeAfterFailure(store);
    assertThrows(ProcessorStateException.class, () -> open(0), "it can't be opened anew either");
    assertThrows(ProcessorStateException.class, () -> idle.get(key(1)));
    disk.faults(FaultPlan.NONE);

    KeyValueStore<Bytes, byte[]> again = open(0);
    again.put(key(0), value("0"));
    again.commit(Map.of(CHANGELOG, 0L));
    assertArrayEquals(value("idle's"), idle.get(key(1)));
    assertThrows(InvalidStateStoreException.class, open::hasNext, "it was on the other store");
    open.close();
    assertEquals(7L, idle.committedOffset(CHANGELOG));
    idle.put(key(2), value("goes on"));
    idle.commit(Map.of(CHANGELOG, 8L));
    ProcessorStateException told =
        assertThrows(ProcessorStateException.class, () -> uncommitted.get(key(2)));
    assertTells(told, "state store counts", "tree 0_2-counts.", "opened anew");
    uncommitted.close();
    again.close();
    idle.close();
    Store lingering = store();
    KeyValueStore<Bytes, byte[]> idleAgain = open(1);
    assertSame(lingering, store(), "those that were closed late did not close it");
    assertEquals(8L, idleAgain.committedOffset(CHANGELOG));
    assertArrayEquals(value("goes on"), idleAgain.get(key(2)));
    idleAgain.close();
    open(2).close();
  }

  private void failSync(KeyValueStore<Bytes, byte[]> store) {
    disk.faults(
        (operation, file, index) ->
            operation == Operation.SYNC && file.endsWith(".log") ? Fault.EIO : Fault.NONE);
    assertThrows(
        ProcessorStateException.class,
        () -> {
          while (true) {
            store.put(key(0), value("0"));
          }
        });
  }

  /** The store fails, and another thread opens it anew, while a state store is being opened. */
  @Test
  void aStateStoreThatIsBeingOpenedMovesOnWithTheStore() {
    useSimulatedDisk();
    KeyValueStore<Bytes, byte[]> store = open(0);
    store.put(key(0), value("0"));
    store.commit(Map.of(CHANGELOG, 0L));
    List<KeyValueStore<Bytes, byte[]>> others = new ArrayList<>();
    KeyValueStore<Bytes, byte[]> opened = IsobarStores.keyValueStore("counts").get();
    StateStoreContext context =
        beforeMetrics(
            task(1).context().getStateStoreContext(),
            () -> {
              failSync(store);
              closeAfterFailure(store);
              disk.faults(FaultPlan.NONE);
              others.add(open(2));
            });
    opened.init(context, opened);
    opened.put(key(1), value("1"));
    opened.commit(Map.of(CHANGELOG, 1L));
    assertEquals(1L, opened.committedOffset(CHANGELOG));
    opened.close();
    assertEquals(1, others.size());
    others.get(0).close();
  }

  /** A context for which something happens before it first tells its metrics. */
  private static StateStoreContext beforeMetrics(StateStoreContext context, Runnable happens) {
    AtomicBoolean happened = new AtomicBoolean();
    return (StateStoreContext)
        Proxy.newProxyInstance(
            StateStoreContext.class.getClassLoader(),
            new Class<?>[] {StateStoreContext.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("metrics") && !happened.getAndSet(true)) {
                happens.run();
              }
              return method.invoke(context, arguments);
            });
  }

  @Test
  void aStoreThatFailsWhileNobodyUsesItIsOpenedAnew() {
    useSimulatedDisk();
    KeyValueStore<Bytes, byte[]> store = open(0);
    store.put(key(0), value("0"));
    store.commit(Map.of(CHANGELOG, 0L));
    Store lingering = store();
    lingering.sync();
    store.close();
    disk.faults(FaultPlan.every(Operation.SYNC, Fault.EIO));
    assertThrows(StoreFailedException.class, lingering::sync);
    disk.faults(FaultPlan.NONE);
    KeyValueStore<Bytes, byte[]> again = open(0);
    assertArrayEquals(value("0"), again.get(key(0)));
    again.put(key(1), value("1"));
    again.commit(Map.of(CHANGELOG, 1L));
    again.close();
  }

  /** What it had written may not be noted: Kafka is told, and the store is given back. */
  private static void closeAfterFailure(KeyValueStore<Bytes, byte[]> store) {
    try {
      store.close();
    } catch (ProcessorStateException e) {
      assertInstanceOf(StoreFailedException.class, e.getCause());
    }
  }

  @Test
  void afterAFailedSyncExactlyOnceBeginsAnewOnce() throws IOException {
    useSimulatedDisk();
    options.put("processing.guarantee", "exactly_once_v2");
    KeyValueStore<Bytes, byte[]> store = open(0);
    store.put(key(0), value("0"));
    store.commit(Map.of(CHANGELOG, 0L));
    store().sync();
    disk.faults(FaultPlan.every(Operation.SYNC, Fault.EIO));
    assertThrows(
        ProcessorStateException.class,
        () -> {
          while (true) {
            store.put(key(1), value("1"));
          }
        });
    closeAfterFailure(store);
    disk.faults(FaultPlan.NONE);
    assertThrows(TaskCorruptedException.class, () -> open(0));
    task(0).wipe();
    KeyValueStore<Bytes, byte[]> again = open(0);
    assertNull(again.committedOffset(CHANGELOG));
    assertNull(again.get(key(0)));
    again.put(key(0), value("restored"));
    again.commit(Map.of(CHANGELOG, 1L));
    again.close();
    KeyValueStore<Bytes, byte[]> closedInOrder = open(0);
    assertEquals(1L, closedInOrder.committedOffset(CHANGELOG));
    closedInOrder.close();
  }

  @Test
  void damageIsToldToTheTaskThatReadsItAlone() throws IOException {
    KeyValueStore<Bytes, byte[]> other = open(1);
    other.put(key(1), value("other's"));
    other.commit(Map.of(CHANGELOG, 7L));
    store().flush();
    List<Path> before = tables();
    KeyValueStore<Bytes, byte[]> store = open(0);
    for (int i = 0; i < 200; i++) {
      store.put(key(i), KILOBYTE);
    }
    store.commit(Map.of(CHANGELOG, 199L));
    store.close();
    other.close();
    // The ledger's rows are flushed, too: the largest new file has the entries.
    SharedStore shared = Objects.requireNonNull(SharedStore.of(task(0).storeDirectory()));
    shared.store().flush();
    Path damaged =
        tables().stream()
            .filter(file -> !before.contains(file))
            .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
            .orElseThrow();
    IsobarStores.close();
    damage(damaged);

    KeyValueStore<Bytes, byte[]> again = open(0);
    assertEquals(199L, again.committedOffset(CHANGELOG));
    ProcessorStateException told =
        assertThrows(ProcessorStateException.class, () -> readAll(again));
    assertInstanceOf(CorruptionException.class, told.getCause());
    assertTells(told, "state store counts", "tree 0_0-counts.", damaged.toString());
    KeyValueStore<Bytes, byte[]> others = open(1);
    assertArrayEquals(value("other's"), others.get(key(1)));
    assertEquals(7L, others.committedOffset(CHANGELOG));
    others.put(key(2), value("2"));
    others.commit(Map.of(CHANGELOG, 8L));
    assertEquals(8L, others.committedOffset(CHANGELOG));
    others.close();
    again.close();

    // Restored from the changelog, it is as new.
    task(0).wipe();
    KeyValueStore<Bytes, byte[]> restored = open(0);
    assertNull(restored.committedOffset(CHANGELOG));
    readAll(restored);
    restored.put(key(1), value("restored"));
    restored.commit(Map.of(CHANGELOG, 1L));
    assertEquals(1, SharedStore.onlyOne().sweep().size(), "the damaged tree is dropped");
    assertArrayEquals(value("restored"), restored.get(key(1)));
    restored.close();
  }

  private static void readAll(KeyValueStore<Bytes, byte[]> store) {
    for (int i = 0; i < 200; i++) {
      store.get(key(i));
    }
    try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
      assertNotNull(all);
      while (all.hasNext()) {
        all.next();
      }
    }
  }

  private List<Path> tables() throws IOException {
    try (Stream<Path> files = Files.list(task(0).storeDirectory())) {
      return files.filter(file -> file.toString().endsWith(".sst")).toList();
    }
  }

  /** Changes each data page, and not what opening reads at the end. */
  private static void damage(Path file) throws IOException {
    try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
      for (long at = 8192 + 100; at < opened.length() / 2; at += 8192) {
        opened.seek(at);
        int old = opened.read();
        opened.seek(at);
        opened.write(old ^ 1);
      }
    }
  }
}
