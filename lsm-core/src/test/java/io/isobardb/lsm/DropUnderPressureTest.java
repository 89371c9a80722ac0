package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** A tree that holds nearly all write memory goes while writers to another one wait for memory. */
class DropUnderPressureTest {
  private static final int ROUNDS = Integer.getInteger("isobar.drop.rounds", 60);
  private static final int VALUE_BYTES = 60_000;

  @TempDir Path temp;

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = ThreadMode.SEPARATE_THREAD)
  void writersThatWaitForTheTreesMemoryGetIt() throws InterruptedException {
    StoreOptions options =
        StoreOptions.builder()
            .memoryBudget(8 << 20)
            .writeMemory(1 << 20)
            .pageSize(4096)
            .durability(Durability.ASYNC)
            .build();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (Store store = Store.open(temp.resolve("s"), options)) {
      Tree other = store.openTree("other");
      for (int round = 0; round < ROUNDS; round++) {
        Tree large = store.openTree("large");
        for (int i = 0; i < 8_000; i++) {
          large.put(key(i), new byte[60]);
        }
        List<Thread> writers = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
          int first = 1_000 * t;
          Thread writer =
              new Thread(
                  () -> {
                    for (int i = 0; i < 12; i++) {
                      other.put(key(first + i), new byte[VALUE_BYTES]);
                    }
                  });
          writer.setUncaughtExceptionHandler((who, cause) -> failure.set(cause));
          writers.add(writer);
          writer.start();
        }
        store.dropTree("large");
        for (Thread writer : writers) {
          writer.join();
        }
        assertNull(failure.get());
        assertThrows(RuntimeException.class, () -> large.get(key(1)));
      }
    }
  }

  private static byte[] key(int i) {
    return new byte[] {(byte) (i >> 16), (byte) (i >> 8), (byte) i};
  }
}
