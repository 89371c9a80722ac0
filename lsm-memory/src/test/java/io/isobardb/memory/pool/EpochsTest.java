package io.isobardb.memory.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
  @Timeout(60)
  void entersAtOnceHoweverManyAreInside() {
    Epochs epochs = new Epochs();
    List<Integer> slots = new ArrayList<>();
    int readers = 10_000;
    for (int i = 0; i < readers; i++) {
      int slot = epochs.enter();
      slots.add(slot);
      epochs.count(slot, i % 3);
    }
    assertEquals(readers, slots.stream().distinct().count());
    assertEquals(readers - 1, epochs.counted());
    long tag = epochs.advance();
    Collections.shuffle(slots, new Random(1));
    for (int i = 0; i < readers; i++) {
      if (i % 97 == 0 || i > readers - 20) {
        assertFalse(epochs.passed(tag), "before exit " + i);
      }
      epochs.exit(slots.get(i));
    }
    assertTrue(epochs.passed(tag));
    int slot = epochs.enter();
    assertTrue(slots.contains(slot), "slots that are free are used before more are made");
    epochs.exit(slot);
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
    // Each round waits for readers to get a processor: where that takes long, fewer rounds will do.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
    for (int i = 0; i < 20_000 && System.nanoTime() < end; i++) {
      int old = cell.get();
      int next = (old + 1) % elements;
      alive[next][0] = true;
      cell.set(next);
      long tag = epochs.advance();
      while (!epochs.passed(tag)) {
        Thread.yield();
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
