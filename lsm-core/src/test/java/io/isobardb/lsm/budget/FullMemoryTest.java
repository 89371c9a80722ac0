package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.HoldingScheduler;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Large writes that meet in a full write memory, while flushes stand still for some seconds. One
 * waits, and others come meanwhile. A wait that nothing ends is an exception of the scheduler.
 */
@Timeout(value = 120, threadMode = ThreadMode.SAME_THREAD) // which the simulation belongs to
@Tag("any-jdk")
class FullMemoryTest {
  private static final int WRITE_MEMORY = 2 << 20;
  private static final long STALL_NANOS = 3_000_000_000L;
  private static final byte[] KEY = bytes("the one");

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 * WRITE_MEMORY)
          .writeMemory(WRITE_MEMORY)
          .pageSize(4096)
          .memoryTuner(false)
          .durability(Durability.ASYNC)
          .build();

  private final SimulatedClock clock = new SimulatedClock();
  private final List<Throwable> failures = new ArrayList<>();
  private SimulatedScheduler steps;
  private HoldingScheduler scheduler;
  private Store store;
  private Tree tree;
  private int written;

  private enum Writer {
    PUT,
    BATCH,
    OPTIMISTIC,
    PESSIMISTIC
  }

  static LongStream seeds() {
    return LongStream.range(0, 20);
  }

  private Store open(long seed) {
    steps = new SimulatedScheduler(clock, seed);
    scheduler = new HoldingScheduler(steps, job -> job.name().startsWith("flush"));
    SplittableRandom random = new SplittableRandom(seed);
    Environment environment =
        new Environment(new SimulatedStorage(clock), clock, scheduler, random);
    store = Inside.open(environment, OPTIONS);
    tree = store.openTree("t");
    return store;
  }

  private static int percent(int percent) {
    return WRITE_MEMORY / 100 * percent;
  }

  /** Fills the write memory so far; nobody waits for memory yet. */
  private void fill(int percent) {
    while (store.stats().writeMemoryBytes() < percent(percent)) {
      tree.put(key(written++), value(written, 900));
    }
  }

  private void write(Writer writer, int percent) {
    byte[] value = value(percent, percent(percent));
    switch (writer) {
      case PUT -> tree.put(KEY, value);
      case BATCH -> store.write(store.newBatch().put(tree, KEY, value));
      case OPTIMISTIC -> commit(Locking.OPTIMISTIC, value);
      case PESSIMISTIC -> commit(Locking.PESSIMISTIC, value);
    }
  }

  private void commit(Locking locking, byte[] value) {
    try (Transaction tx = store.begin(options(Isolation.READ_COMMITTED, locking, 1_000))) {
      tx.put(tree, KEY, value);
      tx.commit();
    }
  }

  private static TransactionOptions options(Isolation isolation, Locking locking, long millis) {
    return TransactionOptions.builder()
        .isolation(isolation)
        .locking(locking)
        .lockTimeout(Duration.ofMillis(millis))
        .build();
  }

  /** Has something done as soon as somebody waits. */
  private void meanwhile(Runnable action) {
    scheduler.submit(
        new Job() {
          @Override
          public Priority priority() {
            return Priority.IDLE;
          }

          @Override
          public String name() {
            return "meanwhile";
          }

          @Override
          public boolean step() {
            // What clients do, and no job.
            Awaited.apart(action);
            return false;
          }

          @Override
          public void onFailed(Throwable cause) {
            failures.add(cause);
          }
        });
  }

  /** Lets flushes go on after some seconds. */
  private void afterTheStall(Runnable look) {
    Service.Handle alarm =
        scheduler.start(
            new Service() {
              @Override
              public String name() {
                return "end of the stall";
              }

              @Override
              public boolean ready() {
                return false;
              }

              @Override
              public void run() {
                try {
                  look.run();
                } finally {
                  scheduler.letGo();
                }
              }

              @Override
              public void onFailed(Throwable cause) {
                failures.add(cause);
              }
            });
    alarm.wakeWithin(STALL_NANOS);
  }

  private void assertAllWentWell() {
    steps.runFor(2 * STALL_NANOS);
    assertEquals(List.of(), failures);
  }

  private WriteBatch batch(int percent, int firstKey) {
    WriteBatch batch = store.newBatch();
    for (int i = firstKey; batch.sizeBytes() < percent(percent); i++) {
      batch.put(tree, key(i), value(i, 900));
    }
    return batch;
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void batchesOfWhichOneFitsBeforeTheOtherAreBothWritten(long seed) {
    try (Store opened = open(seed)) {
      fill(85);
      meanwhile(() -> store.write(batch(20, 200_000)));
      afterTheStall(() -> {});
      store.write(batch(30, 100_000));
      assertAllWentWell();
      assertNotNull(tree.get(key(100_000)));
      assertNotNull(tree.get(key(200_000)));
      assertEquals(0, opened.stats().transactions().open());
    }
  }

  @ParameterizedTest
  @EnumSource(value = Writer.class, names = "PESSIMISTIC", mode = EnumSource.Mode.EXCLUDE)
  void whoWaitsForMemoryKeepsNobodyFromAKey(Writer writer) {
    try (Store opened = open(1)) {
      opened.begin().close();
      fill(85);
      meanwhile(() -> tree.put(KEY, value(0, 100)));
      meanwhile(() -> tree.put(KEY, value(1, percent(18))));
      meanwhile(() -> store.write(store.newBatch().put(tree, KEY, value(2, percent(18)))));
      afterTheStall(() -> assertArrayEquals(value(0, 100), tree.get(KEY)));
      write(writer, 20);
      assertAllWentWell();
      assertNotNull(tree.get(KEY));
      assertEquals(0, opened.stats().transactions().lockTimeouts());
    }
  }

  @ParameterizedTest
  @EnumSource(Writer.class)
  void whoWaitsForMemoryIsInNoReadersWay(Writer writer) {
    try (Store opened = open(1)) {
      opened.begin().close();
      fill(85);
      meanwhile(
          () -> {
            TransactionOptions serializable =
                options(Isolation.SERIALIZABLE, Locking.OPTIMISTIC, 0);
            try (Transaction tx = store.begin(serializable)) {
              assertNull(tx.get(tree, KEY));
              tx.put(tree, bytes("another"), KEY);
              tx.commit();
            }
          });
      afterTheStall(() -> assertArrayEquals(KEY, tree.get(bytes("another"))));
      write(writer, 20);
      assertAllWentWell();
      assertNotNull(tree.get(KEY));
      assertEquals(0, opened.stats().transactions().conflicts());
    }
  }

  @ParameterizedTest
  @EnumSource(value = Writer.class, names = "PESSIMISTIC", mode = EnumSource.Mode.EXCLUDE)
  void whoHadToWaitForALockWaitsForMemoryAnew(Writer writer) {
    try (Store opened = open(1)) {
      TransactionOptions locking = options(Isolation.READ_COMMITTED, Locking.PESSIMISTIC, 0);
      Transaction holder = opened.begin(locking);
      holder.put(tree, KEY, KEY);
      fill(50);
      meanwhile(
          () -> {
            fill(85);
            holder.close();
          });
      afterTheStall(
          () -> {
            assertNull(tree.get(KEY));
            try (Transaction tx = store.begin(locking)) {
              tx.put(tree, KEY, KEY);
            }
          });
      write(writer, 20);
      assertAllWentWell();
      assertEquals(percent(20), tree.get(KEY).length);
      assertEquals(0, opened.stats().transactions().lockTimeouts());
    }
  }
}
