package io.isobardb.memory.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotCountersTest {
  private static final int THREADS = 8;
  private static final int ROUNDS = 20_000;

  @Test
  void nothingIsLostHoweverThreadsMeetInSlots() throws InterruptedException {
    Epochs epochs = new Epochs();
    SlotCounters counters = new SlotCounters(epochs, 2);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int round = 0; round < ROUNDS; round++) {
                  int outer = epochs.enter();
                  int inner = epochs.enter();
                  counters.add(inner, 0, 1);
                  epochs.exit(inner);
                  counters.add(outer, 1, 3);
                  epochs.exit(outer);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(THREADS * ROUNDS, counters.sum(0));
    assertEquals(3L * THREADS * ROUNDS, counters.sum(1));
  }

  @Test
  void slotsThatWereMadeLaterCountToo() {
    Epochs epochs = new Epochs();
    SlotCounters counters = new SlotCounters(epochs, 1);
    int slots = 3 * epochs.slotCount();
    List<Integer> held = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      held.add(epochs.enter());
      counters.add(held.get(i), 0, i);
    }
    assertEquals((long) slots * (slots - 1) / 2, counters.sum(0));
    held.forEach(epochs::exit);
  }

  @Test
  void aCellKnowsWhatItsSlotHasAdded() {
    Epochs epochs = new Epochs();
    SlotCounters counters = new SlotCounters(epochs, 8);
    int slot = epochs.enter();
    assertEquals(5, counters.add(slot, 7, 5));
    assertEquals(6, counters.add(slot, 7, 1));
    epochs.exit(slot);
    assertThrows(IllegalArgumentException.class, () -> new SlotCounters(epochs, 9));
  }
}
