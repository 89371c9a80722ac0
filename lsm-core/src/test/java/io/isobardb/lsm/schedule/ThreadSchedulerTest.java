package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.schedule.Job.Priority;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ThreadSchedulerTest {
  private final List<String> log = Collections.synchronizedList(new ArrayList<>());

  private StepJob logging(Priority priority, String name, CountDownLatch done) {
    return new StepJob(
        priority,
        name,
        () -> {
          log.add(name);
          done.countDown();
          return false;
        });
  }

  @Test
  void ifOneWorkerCanNotBeStartedNoneStays() {
    List<Thread> started = new ArrayList<>();
    Consumer<Thread> starter =
        thread -> {
          if (started.size() == 2) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          thread.start();
          started.add(thread);
        };
    assertThrows(OutOfMemoryError.class, () -> new ThreadScheduler("t", 4, starter));
    assertEquals(2, started.size());
    assertTrue(started.stream().noneMatch(Thread::isAlive));
  }

  /** A sleep and a wake-up cost more than most writes take, which later ones wait for. */
  @Test
  void aWaitThatIsMostlyBriefLooksForLongerBeforeItSleeps() {
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1);
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      assertEquals(List.of(true, false), endsBySpinning(scheduler));
    }
  }

  /** Whether the 500th look comes without a sleep, in a brief wait and in another one. */
  private static List<Boolean> endsBySpinning(Scheduler scheduler) {
    List<Boolean> ends = new ArrayList<>();
    for (Awaited what : List.of(Awaited.EARLIER_WRITES, Awaited.MEMORY)) {
      int[] looks = {0};
      ends.add(scheduler.signal(what).await(() -> ++looks[0] == 500, 0));
    }
    return ends;
  }

  @Test
  void theMostUrgentGoesFirstAndEqualsInTurn() throws Exception {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      CountDownLatch go = new CountDownLatch(1);
      CountDownLatch done = new CountDownLatch(6);
      scheduler.submit(
          new StepJob(
              Priority.FLUSH,
              "block",
              () -> {
                go.await();
                return false;
              }));
      scheduler.submit(logging(Priority.IDLE, "idle", done));
      scheduler.submit(logging(Priority.MERGE_DEEP, "deep 1", done));
      scheduler.submit(logging(Priority.MERGE_DEEP, "deep 2", done));
      scheduler.submit(logging(Priority.MERGE_MEMORY, "memory", done));
      scheduler.submit(logging(Priority.FLUSH, "flush", done));
      scheduler.submit(logging(Priority.MERGE_L0, "l0", done));
      assertEquals(7, scheduler.pending());
      go.countDown();
      done.await();
      assertEquals(List.of("flush", "l0", "memory", "deep 1", "deep 2", "idle"), log);
    }
  }

  /** As when the heap is full: whatever is logged or told then may fail, too. */
  @Test
  void aWorkerOutlivesAFailureThatCanNotBeTold() {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1);
        FailingLog failing = new FailingLog(ThreadScheduler.class)) {
      StepJob first = new StepJob(Priority.FLUSH, "first", ThreadSchedulerTest::exhaust);
      scheduler.submit(first);
      StepJob last = new StepJob(Priority.FLUSH, "last", ThreadSchedulerTest::exhaust);
      scheduler.submit(last);
      scheduler.jobEnded().await(() -> scheduler.pending() == 0);
      assertInstanceOf(OutOfMemoryError.class, first.failure);
      assertInstanceOf(OutOfMemoryError.class, last.failure);
      // A worker that dies comes no further than to its log.
      CountDownLatch done = new CountDownLatch(1);
      scheduler.submit(logging(Priority.FLUSH, "after", done));
      scheduler.jobEnded().await(() -> scheduler.pending() == 0);
      assertEquals(0, done.getCount());
      assertTrue(failing.isAsked());
    }
  }

  @Test
  void anErrandIsDoneOnceByAHelperOrItsOwner() throws Exception {
    AtomicInteger done = new AtomicInteger();
    ThreadScheduler scheduler = new ThreadScheduler("t", 1);
    List<Errand> errands = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      Errand errand = new Errand(done::incrementAndGet, scheduler.signal("the end of an errand"));
      assertTrue(scheduler.help(errand));
      errands.add(errand);
    }
    errands.forEach(Errand::finish);
    assertEquals(500, done.get());
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    Errand slow =
        new Errand(
            () -> {
              begun.countDown();
              awaitUninterrupted(go);
              done.incrementAndGet();
            },
            scheduler.signal("the end of a slow errand"));
    scheduler.help(slow);
    begun.await();
    Thread canceller = new Thread(slow::cancel);
    canceller.start();
    while (canceller.getState() != Thread.State.WAITING) {
      assertTrue(canceller.isAlive(), "the errand is not done");
      Thread.onSpinWait();
    }
    go.countDown();
    canceller.join();
    assertEquals(501, done.get());
    scheduler.close();
    Errand late = new Errand(done::incrementAndGet, scheduler.signal("the end of a late errand"));
    assertFalse(scheduler.help(late));
    late.cancel();
    assertFalse(late.run());
    assertEquals(501, done.get());
    assertTrue(
        Thread.getAllStackTraces().keySet().stream()
            .noneMatch(thread -> thread.getName().startsWith("isobar-t-helper-")));
  }

  /** Helpers may wait for pages that are being read for others. */
  @Test
  void readsGoOnWhileAllHelpersWait() {
    CountDownLatch read = new CountDownLatch(1);
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      List<Errand> waiting = new ArrayList<>();
      for (int i = 0; i < 2 * HelperThreads.MOST; i++) {
        Errand errand = new Errand(() -> awaitUninterrupted(read), scheduler.signal("a wait"));
        assertTrue(scheduler.help(errand));
        waiting.add(errand);
      }
      Errand reads = new Errand(read::countDown, scheduler.signal("a read"));
      assertTrue(scheduler.read(reads));
      reads.await();
      waiting.forEach(Errand::finish);
    }
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** An error is an errand's end, too. */
  @Test
  void anErrandThatFailsHasEnded() {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1);
        FailingLog failing = new FailingLog(HelperThreads.class)) {
      for (int i = 0; i < 40; i++) {
        Errand errand =
            new Errand(ThreadSchedulerTest::exhaust, scheduler.signal("the end of an errand"));
        scheduler.help(errand);
        errand.await();
      }
      assertTrue(failing.isAsked());
    }
  }

  @Test
  void aServiceIsToldOfAFailureThatCanNotBeLogged() throws Exception {
    CountDownLatch told = new CountDownLatch(1);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Service service =
        new Service() {
          @Override
          public String name() {
            return "exhausted";
          }

          @Override
          public boolean ready() {
            return true;
          }

          @Override
          public void run() {
            exhaust();
          }

          @Override
          public void onFailed(Throwable cause) {
            failure.set(cause);
            told.countDown();
          }
        };
    try (FailingLog failing = new FailingLog(ServiceThread.class)) {
      try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
        scheduler.start(service);
        told.await();
      }
      assertInstanceOf(OutOfMemoryError.class, failure.get());
      assertTrue(failing.isAsked());
    }
  }

  private static boolean exhaust() {
    throw new OutOfMemoryError("planted");
  }

  @Test
  @Timeout(60)
  void whoeverWaitsForJobsIsToldWhenTheLastHasEnded() throws Exception {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      for (boolean fails : List.of(false, true)) {
        CountDownLatch go = new CountDownLatch(1);
        scheduler.submit(
            new StepJob(
                Priority.IDLE,
                "last",
                () -> {
                  go.await();
                  if (fails) {
                    throw new IllegalStateException("planted");
                  }
                  return false;
                }));
        Thread waiter =
            new Thread(() -> scheduler.jobEnded().await(() -> scheduler.pending() == 0));
        waiter.start();
        while (waiter.getState() != Thread.State.WAITING) {
          Thread.onSpinWait();
        }
        go.countDown();
        waiter.join();
      }
    }
  }

  @Test
  void aJobInDebtHoldsUpNoOtherAndGoesOnWhenTheLimitEnds() throws Exception {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      scheduler.limit(new IoLimits(1, 1, false, 1 << 20, 1 << 20, "test"));
      CountDownLatch other = new CountDownLatch(1);
      CountDownLatch done = new CountDownLatch(1);
      AtomicInteger steps = new AtomicInteger();
      scheduler.submit(
          new StepJob(
              Priority.MERGE_L0,
              "in debt",
              () -> {
                Stepping own = Stepping.current();
                if (own != null) {
                  own.countRead(1 << 20);
                }
                if (steps.incrementAndGet() == 1) {
                  scheduler.submit(logging(Priority.MERGE_MEMORY, "memory", other));
                  return true;
                }
                log.add("in debt");
                done.countDown();
                return false;
              }));
      other.await();
      assertEquals("memory", log.get(0));
      assertTrue(scheduler.interruptions().throttled() > 0, "it was not put aside");
      scheduler.limit(IoLimits.NONE);
      done.await();
      assertEquals(2, steps.get());
    }
  }

  @Test
  void aMoreUrgentJobRunsBetweenTwoStepsAndTheOldOneGoesOnFirst() throws Exception {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      CountDownLatch started = new CountDownLatch(1);
      CountDownLatch go = new CountDownLatch(1);
      CountDownLatch done = new CountDownLatch(3);
      AtomicInteger steps = new AtomicInteger();
      scheduler.submit(
          new StepJob(
              Priority.MERGE_DEEP,
              "deep",
              () -> {
                log.add("deep " + steps.incrementAndGet());
                started.countDown();
                go.await();
                if (steps.get() == 3) {
                  done.countDown();
                }
                return steps.get() < 3;
              }));
      started.await();
      scheduler.submit(logging(Priority.MERGE_DEEP, "later", done));
      scheduler.submit(logging(Priority.FLUSH, "flush", done));
      go.countDown();
      done.await();
      assertEquals(List.of("deep 1", "flush", "deep 2", "deep 3", "later"), log);
    }
  }

  @Test
  void slowJobsNeverHaveAllWorkers() throws Exception {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 3)) {
      Semaphore release = new Semaphore(0);
      CountDownLatch twoRun = new CountDownLatch(2);
      AtomicInteger running = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      CountDownLatch ended = new CountDownLatch(5);
      for (int i = 0; i < 5; i++) {
        scheduler.submit(
            new StepJob(
                i % 2 == 0 ? Priority.MERGE_DEEP : Priority.IDLE,
                "slow",
                () -> {
                  most.accumulateAndGet(running.incrementAndGet(), Math::max);
                  twoRun.countDown();
                  release.acquire();
                  running.decrementAndGet();
                  ended.countDown();
                  return false;
                }));
      }
      twoRun.await();
      CountDownLatch flushed = new CountDownLatch(1);
      scheduler.submit(logging(Priority.FLUSH, "flush", flushed));
      flushed.await();
      release.release(5);
      ended.await();
      assertEquals(2, most.get());
    }
  }

  @Test
  void anIdleJobGivesWayToADeepMergeEvenIfSlowOnesAreLimited() throws Exception {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 2)) {
      CountDownLatch started = new CountDownLatch(1);
      CountDownLatch go = new CountDownLatch(1);
      CountDownLatch done = new CountDownLatch(2);
      AtomicInteger steps = new AtomicInteger();
      scheduler.submit(
          new StepJob(
              Priority.IDLE,
              "idle",
              () -> {
                log.add("idle " + steps.incrementAndGet());
                started.countDown();
                go.await();
                if (steps.get() == 2) {
                  done.countDown();
                }
                return steps.get() < 2;
              }));
      started.await();
      scheduler.submit(logging(Priority.MERGE_DEEP, "deep", done));
      go.countDown();
      done.await();
      assertEquals(List.of("idle 1", "deep", "idle 2"), log);
    }
  }

  @Test
  void aJobThatThrowsIsToldAndTheWorkerGoesOn() throws Exception {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      Exception exception = new Exception("planned");
      Error error = new AssertionError("planned");
      StepJob first =
          new StepJob(
              Priority.FLUSH,
              "first",
              () -> {
                throw exception;
              });
      StepJob second =
          new StepJob(
              Priority.FLUSH,
              "second",
              () -> {
                throw error;
              });
      CountDownLatch done = new CountDownLatch(1);
      scheduler.submit(first);
      scheduler.submit(second);
      scheduler.submit(logging(Priority.FLUSH, "third", done));
      done.await();
      assertSame(exception, first.failure);
      assertSame(error, second.failure);
    }
  }

  /** What it has used can't be paid for: it has given back by then what failing gives back. */
  @Test
  void aJobThatIsDoneDoesNotFail() throws Exception {
    AtomicBoolean planted = new AtomicBoolean();
    SharedIo budget = new SharedIo(100 << 20);
    SharedIo.Share share =
        budget.join(
            () -> {
              if (planted.get()) {
                throw new OutOfMemoryError("planted: no heap to divide the budget");
              }
              return 0;
            },
            () -> 0);
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      scheduler.share(share);
      StepJob job =
          new StepJob(
              Priority.FLUSH,
              "flush",
              () -> {
                planted.set(true);
                budget.join(() -> 0, () -> 0).close(); // So it is divided anew.
                return false;
              });
      scheduler.submit(job);
      scheduler.jobEnded().await(() -> scheduler.pending() == 0);
      assertNull(job.failure);
      planted.set(false);
    }
  }

  @Test
  void closeFinishesTheStepInProgressAndFailsTheRest() throws Exception {
    ThreadScheduler scheduler = new ThreadScheduler("closing", 1);
    CountDownLatch started = new CountDownLatch(1);
    Semaphore go = new Semaphore(0);
    AtomicReference<Thread> worker = new AtomicReference<>();
    StepJob running =
        new StepJob(
            Priority.MERGE_DEEP,
            "running",
            () -> {
              worker.set(Thread.currentThread());
              started.countDown();
              go.acquire();
              log.add("step");
              return true;
            });
    scheduler.submit(running);
    started.await();
    StepJob queued = new StepJob(Priority.IDLE, "queued", () -> log.add("never"));
    scheduler.submit(queued);
    Thread closer = new Thread(scheduler::close);
    closer.start();
    while (queued.failure == null) {
      Thread.onSpinWait();
    }
    go.release();
    closer.join();
    assertEquals(List.of("step"), log);
    assertInstanceOf(StoreClosedException.class, running.failure);
    assertInstanceOf(StoreClosedException.class, queued.failure);
    assertEquals(0, scheduler.pending());
    assertEquals("isobar-closing-worker-1", worker.get().getName());
    assertTrue(worker.get().isDaemon());
    assertFalse(worker.get().isAlive());
    StepJob late = new StepJob(Priority.FLUSH, "late", () -> log.add("never"));
    scheduler.submit(late);
    assertInstanceOf(StoreClosedException.class, late.failure);
    assertThrows(StoreClosedException.class, () -> scheduler.start(new LoopService()));
  }

  @Test
  void anInterruptedThreadClosesAndKeepsItsFlag() {
    ThreadScheduler scheduler = new ThreadScheduler("t", 2);
    scheduler.start(new LoopService());
    Thread.currentThread().interrupt();
    scheduler.close();
    assertTrue(Thread.interrupted());
  }

  @Test
  void aJobMayCloseTheScheduler() throws Exception {
    ThreadScheduler scheduler = new ThreadScheduler("t", 2);
    CountDownLatch closed = new CountDownLatch(1);
    scheduler.submit(
        new StepJob(
            Priority.FLUSH,
            "closing",
            () -> {
              scheduler.close();
              closed.countDown();
              return false;
            }));
    closed.await();
    scheduler.close();
  }

  @Test
  void aServiceCatchesUpWithEveryWake() throws Exception {
    int wakers = 3;
    int each = 20_000;
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      LoopService service = new LoopService();
      Signal progress = scheduler.signal("progress");
      service.progress = progress;
      Service.Handle handle = scheduler.start(service);
      CyclicBarrier together = new CyclicBarrier(wakers);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < wakers; t++) {
        Thread thread =
            new Thread(
                () -> {
                  try {
                    together.await();
                  } catch (Exception e) {
                    throw new AssertionError(e);
                  }
                  for (int i = 0; i < each; i++) {
                    long mine = service.wanted.incrementAndGet();
                    handle.wake();
                    if (i % 16 == 0) {
                      progress.await(() -> service.done >= mine);
                    }
                  }
                });
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      progress.await(() -> service.done == (long) wakers * each);
      handle.stop();
      assertFalse(service.ready());
    }
  }

  @Test
  void aWakeBetweenALookAndTheSleepIsNotMissed() {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      AtomicReference<Service.Handle> handle = new AtomicReference<>();
      AtomicInteger work = new AtomicInteger();
      AtomicInteger done = new AtomicInteger();
      Signal progress = scheduler.signal("progress");
      handle.set(
          scheduler.start(
              new Service() {
                @Override
                public String name() {
                  return "racy";
                }

                @Override
                public boolean ready() {
                  boolean seen = work.get() > done.get();
                  // Work comes up just after the look that found none.
                  if (!seen && done.get() == 1 && work.compareAndSet(1, 2)) {
                    handle.get().wake();
                  }
                  return seen;
                }

                @Override
                public void run() {
                  done.set(work.get());
                  progress.raise();
                }

                @Override
                public void onFailed(Throwable cause) {}
              }));
      work.set(1);
      handle.get().wake();
      progress.await(() -> done.get() == 2);
    }
  }

  @Test
  void anAlarmRunsAServiceThatNobodyWakes() {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      LoopService service = new LoopService();
      Signal progress = scheduler.signal("progress");
      service.progress = progress;
      Service.Handle handle = scheduler.start(service);
      for (int i = 0; i < 20; i++) {
        long before = service.runs;
        handle.wakeWithin(1_000_000_000_000L);
        handle.wakeWithin(100_000);
        handle.wakeWithin(200_000);
        progress.await(() -> service.runs > before);
      }
      assertNull(service.failure);
    }
  }

  /** A sync that is due later would never come if the heap is full now. */
  @Test
  void anAlarmTakesNoHeap() {
    ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      Service.Handle handle = scheduler.start(new LoopService());
      long hours = 3_600_000_000_000L;
      handle.wakeWithin(9 * hours);
      long before = memory.getCurrentThreadAllocatedBytes();
      for (int i = 8; i > 0; i--) {
        handle.wakeWithin(i * hours);
      }
      assertEquals(0, memory.getCurrentThreadAllocatedBytes() - before);
    }
  }

  @Test
  void aServiceThatThrowsIsToldAndNotCalledAgain() {
    try (ThreadScheduler scheduler = new ThreadScheduler("t", 1)) {
      LoopService service = new LoopService();
      Signal progress = scheduler.signal("progress");
      service.progress = progress;
      Service.Handle handle = scheduler.start(service);
      service.broken = true;
      service.wanted.incrementAndGet();
      handle.wake();
      progress.await(() -> service.failure != null);
      service.broken = false;
      handle.wake();
      handle.stop();
      assertEquals(0, service.runs);
    }
  }
}
