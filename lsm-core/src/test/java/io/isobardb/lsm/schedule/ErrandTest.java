package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ErrandTest {
  /** What the work uses is given back behind a wait: it must not end early, whatever fails. */
  @Test
  @Timeout(60)
  void aWaitEndsWithTheWorkThoughThereIsNoHeapForIt() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    AtomicBoolean done = new AtomicBoolean();
    ThreadSignal signal = new ThreadSignal("t");
    AtomicBoolean failed = new AtomicBoolean();
    Signal exhausted =
        new Signal() {
          @Override
          public void await(BooleanSupplier condition) {
            if (!failed.getAndSet(true)) {
              go.countDown();
              throw new OutOfMemoryError("planted: no heap to wait");
            }
            signal.await(condition);
          }

          @Override
          public boolean await(BooleanSupplier condition, long nanos) {
            throw new AssertionError();
          }

          @Override
          public void raise() {
            signal.raise();
          }
        };
    Errand errand =
        new Errand(
            () -> {
              begun.countDown();
              try {
                go.await();
                Thread.sleep(20);
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              done.set(true);
            },
            exhausted);
    Thread helper = new Thread(errand::run);
    helper.start();
    begun.await();
    try {
      errand.cancel();
    } catch (OutOfMemoryError e) {
      throw new AssertionError("the wait has ended early", e); // JUnit lets the error itself pass.
    }
    assertTrue(done.get());
    helper.join();
  }
}
