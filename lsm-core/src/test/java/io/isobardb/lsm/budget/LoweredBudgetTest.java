package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Large writes while the budget is being lowered, which waits for flushes. */
@Tag("any-jdk")
class LoweredBudgetTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(32 << 20)
          .pageSize(4096)
          .memoryTuner(false)
          .writeTimeout(Duration.ofMillis(20))
          .build();

  @TempDir Path temp;

  /** Keeps flushes back until it is told to let them go. */
  private static final class SlowFlushes extends ForwardingScheduler {
    private @Nullable List<Job> held = new ArrayList<>();

    SlowFlushes() {
      super(new ThreadScheduler("slow", 1));
    }

    @Override
    public synchronized void submit(Job job) {
      if (held != null && job.name().startsWith("flush")) {
        held.add(job);
      } else {
        scheduler.submit(job);
      }
    }

    synchronized void letGo() {
      List<Job> jobs = held;
      held = null;
      if (jobs != null) {
        jobs.forEach(scheduler::submit);
      }
    }

    @Override
    public void close() {
      letGo();
      scheduler.close();
    }
  }

  /** A call by a thread of its own. */
  private static final class Call {
    private final Thread thread;
    private volatile @Nullable Throwable failure;

    Call(Runnable call) {
      thread = new Thread(call);
      thread.setUncaughtExceptionHandler((same, e) -> failure = e);
      thread.start();
    }

    void awaitEndOr(Thread.State state) {
      while (thread.isAlive() && thread.getState() != state) {
        Thread.onSpinWait();
      }
    }

    void awaitEnd() throws InterruptedException {
      thread.join();
    }
  }

  @Test
  @Timeout(60)
  void aLargeWriteWaitsNoLongerThanItMay() throws Exception {
    SlowFlushes scheduler = new SlowFlushes();
    Environment environment =
        new Environment(
            DirectoryStorage.open(temp.resolve("s"), true),
            Clock.SYSTEM,
            scheduler,
            new SplittableRandom(1));
    try (Store store = Inside.open(environment, OPTIONS)) {
      Tree tree = store.openTree("t");
      byte[] large = value(7, 3 << 20);
      for (int i = 0; i < 8 << 10; i++) {
        tree.put(key(i), value(i, 1000));
      }
      long before = store.stats().writeMemoryLimitBytes();
      Call lowering = new Call(() -> store.setMemoryBudget(8 << 20));
      while (store.stats().writeMemoryLimitBytes() == before) {
        Thread.onSpinWait();
      }
      Call write = new Call(() -> tree.put(key(-1), large));
      // Without a limit it would wait here.
      write.awaitEndOr(Thread.State.WAITING);
      scheduler.letGo();
      write.awaitEnd();
      lowering.awaitEnd();
      assertInstanceOf(WriteStalledException.class, write.failure);
      assertNull(lowering.failure);
      assertArrayEquals(value(1, 1000), tree.get(key(1)));
    }
  }
}
