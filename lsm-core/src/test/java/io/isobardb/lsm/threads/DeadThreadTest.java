package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Background work that dies of an error is told at once: by a listener, and to who writes next. */
class DeadThreadTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .memoryTuner(t -> t.interval(Duration.ofSeconds(1)))
          .build();

  private static final int KEYS = 6000;

  private static class ForwardingJob implements Job {
    private final Job job;

    ForwardingJob(Job job) {
      this.job = job;
    }

    @Override
    public Priority priority() {
      return job.priority();
    }

    @Override
    public String name() {
      return job.name();
    }

    @Override
    public boolean step() throws Exception {
      return job.step();
    }

    @Override
    public void rest() throws Exception {
      job.rest();
    }

    @Override
    public void onFailed(Throwable cause) {
      job.onFailed(cause);
    }
  }

  /** A scheduler of which one thread dies, once, in its next step. */
  private static final class Killer extends ForwardingScheduler {
    private final String victim;
    private boolean armed;
    private @Nullable Error killed;

    Killer(Scheduler scheduler, String victim) {
      super(scheduler);
      this.victim = victim;
    }

    private void meet(String name) {
      if (armed && name.startsWith(victim)) {
        armed = false;
        killed = new AssertionError("planted: " + name + " dies");
        throw killed;
      }
    }

    @Override
    public void submit(Job job) {
      scheduler.submit(
          new ForwardingJob(job) {
            @Override
            public boolean step() throws Exception {
              meet(job.name());
              return super.step();
            }
          });
    }

    @Override
    public Service.Handle start(Service service) {
      return scheduler.start(
          new Service() {
            @Override
            public String name() {
              return service.name();
            }

            @Override
            public boolean ready() {
              return service.ready();
            }

            @Override
            public void run() throws Exception {
              meet(service.name());
              service.run();
            }

            @Override
            public void onFailed(Throwable cause) {
              service.onFailed(cause);
            }
          });
    }
  }

  private static Throwable root(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  @ParameterizedTest
  @ValueSource(strings = {"flush", "merge", "memory merge", "log", "idle"})
  void whateverDiesIsToldToTheNextWriter(String victim) throws Exception {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedScheduler steps = new SimulatedScheduler(clock, 3);
    Killer killer = new Killer(steps, victim);
    List<Throwable> told = new ArrayList<>();
    Store store =
        Inside.open(new Environment(storage, clock, killer, new SplittableRandom(3)), OPTIONS);
    store.addListener(
        new StoreListener() {
          @Override
          public void onFailed(Failure event) {
            told.add(event.cause());
          }
        });
    Tree tree = store.openTree("t");
    tree.put(bytes("first"), bytes("v"), Durability.SYNC);
    killer.armed = true;
    StoreFailedException refused = null;
    for (int i = 0; i < 60_000 && refused == null; i++) {
      boolean dead = killer.killed != null;
      try {
        tree.put(key(i * 7 % KEYS), value(i, 200));
        assertTrue(!dead, "a write passed after the death");
      } catch (StoreFailedException e) {
        refused = e;
      }
      if (i % 100 == 0) {
        // The idle watch has an alarm.
        steps.runFor(i % 5000 == 0 ? 60_000_000_000L : 100_000);
      }
    }
    Error death = killer.killed;
    assertTrue(death != null, "nobody died");
    assertTrue(refused != null, "nobody was told");
    assertSame(death, root(refused));
    assertEquals(List.of(death), told);
    // Reads go on.
    assertArrayEquals(bytes("v"), tree.get(bytes("first")));
    assertEquals(200, tree.get(key(0)).length);
    assertThrows(StoreFailedException.class, () -> tree.put(bytes("more"), bytes("v")));
    assertThrows(StoreFailedException.class, store::flush);
    assertThrows(StoreFailedException.class, store::checkpoint);
    try {
      store.close();
    } catch (IsobarException e) {
      assertSame(death, root(e));
    }
    assertEquals(0, storage.openFiles());
    try (Store again = SimulatedStores.open(storage, clock, 4)) {
      assertArrayEquals(bytes("v"), again.tree("t").get(bytes("first")));
      for (int i = 0; i < KEYS; i++) {
        byte[] found = again.tree("t").get(key(i));
        assertTrue(found == null || found.length == 200, "key " + i);
      }
    }
  }

  @Test
  void ifNoCallWasToldClosingTells() throws Exception {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage storage = new SimulatedStorage(clock);
    SimulatedScheduler steps = new SimulatedScheduler(clock, 3);
    Killer killer = new Killer(steps, "log");
    Store store =
        Inside.open(new Environment(storage, clock, killer, new SplittableRandom(3)), OPTIONS);
    Tree tree = store.openTree("t");
    tree.put(bytes("first"), bytes("v"), Durability.ASYNC);
    killer.armed = true;
    steps.runFor(60_000_000_000L);
    assertTrue(killer.killed != null, "nobody died");
    StoreFailedException told = assertThrows(StoreFailedException.class, store::close);
    assertSame(killer.killed, root(told));
    assertTrue(told.getMessage().contains("before it was closed"), told.getMessage());
    assertEquals(0, storage.openFiles());
    // Once is enough.
    store.close();
  }

  /** A scheduler with so little heap that a flush fails, and then even cleaning up after it. */
  private static final class Exhausted extends ForwardingScheduler {
    private boolean armed;
    private boolean full;

    Exhausted(Scheduler scheduler) {
      super(scheduler);
    }

    @Override
    public int stepBytes() {
      // So that the flush fails in the middle of a file.
      return armed ? 1 : super.stepBytes();
    }

    @Override
    public void submit(Job job) {
      if (full && job.name().startsWith("delete")) {
        throw new OutOfMemoryError("planted: no heap to delete a file");
      }
      scheduler.submit(armed && job.name().startsWith("flush") ? failing(job) : job);
    }

    private Job failing(Job job) {
      return new ForwardingJob(job) {
        @Override
        public boolean step() throws Exception {
          assertTrue(super.step());
          full = true;
          throw new OutOfMemoryError("planted: no heap to flush");
        }

        @Override
        public void onFailed(Throwable cause) {
          // As threads do, which can't tell anybody.
          assertThrows(OutOfMemoryError.class, () -> super.onFailed(cause));
        }
      };
    }
  }

  @Test
  void aFlushWithoutHeapToCleanUpIsToldAndTheStoreCanBeClosed() throws Exception {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage storage = new SimulatedStorage(clock);
    Exhausted scheduler = new Exhausted(new SimulatedScheduler(clock, 3));
    Store store =
        Inside.open(new Environment(storage, clock, scheduler, new SplittableRandom(3)), OPTIONS);
    Tree tree = store.openTree("t");
    for (int i = 0; i < 100; i++) {
      tree.put(key(i), value(i, 200));
    }
    scheduler.armed = true;
    StoreFailedException told = assertThrows(StoreFailedException.class, store::flush);
    assertEquals("planted: no heap to flush", root(told).getMessage());
    scheduler.full = false;
    store.close();
    assertEquals(0, storage.openFiles());
    try (Store again = SimulatedStores.open(storage, clock, 4)) {
      assertArrayEquals(value(99, 200), again.tree("t").get(key(99)));
    }
  }
}
