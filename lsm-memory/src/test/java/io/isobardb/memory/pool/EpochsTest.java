package io.isobardb.memory.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class EpochsTest {
  @Test
  void aReaderHoldsBackWhatWasUnlinkedSinceItEntered() {
    Epochs epochs = new Epochs();
    long before = epochs.advance();
    int reader = epochs.enter();
    long after = epochs.advance();
    assertTrue(epochs.passed(before));
    assertFalse(epochs.passed(after));
    int late = epochs.enter();
    epochs.exit(reader);
    assertTrue(epochs.passed(after), "a reader that entered later could not see it");
    epochs.exit(late);
  }

  @Test
  void withoutReadersEverythingHasPassed() {
    Epochs epochs = new Epochs();
    assertTrue(epochs.passed(epochs.advance()));
  }

  @Test
  void manyReadersOfOneThreadHaveASlotEach() {
    Epochs epochs = new Epochs();
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      slots.add(epochs.enter());
    }
    assertEquals(64, slots.stream().distinct().count());
    long tag = epochs.advance();
    for (int slot : slots) {
      assertFalse(epochs.passed(tag));
      epochs.exit(slot);
    }
    assertTrue(epochs.passed(tag));
  }

  @Test
  void noReaderSeesWhatWasReclaimed() throws InterruptedException {
    // A cell holds the index of the live element; an element is killed when its tag has passed.
    Epochs epochs = new Epochs();
    int elements = 4;
    boolean[][] alive = new boolean[elements][16];
    AtomicInteger cell = new AtomicInteger();
    alive[0][0] = true;
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong seenDead = new AtomicLong();
    List<Thread> readers = new ArrayList<>();
    for (int t = 0; t < 3; t++) {
      Thread reader =
          new Thread(
              () -> {
                while (!stop.get()) {
                  int slot = epochs.enter();
                  if (!alive[cell.get()][0]) {
                    seenDead.incrementAndGet();
                  }
                  epochs.exit(slot);
                }
              });
      reader.start();
      readers.add(reader);
    }
    for (int i = 0; i < 200_000; i++) {
      int old = cell.get();
      int next = (old + 1) % elements;
      alive[next][0] = true;
      cell.set(next);
      long tag = epochs.advance();
      while (!epochs.passed(tag)) {
        Thread.onSpinWait();
      }
      alive[old][0] = false;
    }
    stop.set(true);
    for (Thread reader : readers) {
      reader.join();
    }
    assertEquals(0, seenDead.get());
  }
}
