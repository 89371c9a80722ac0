package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.lsm.error.StoreClosedException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who asks a cursor for its key while another thread closes it gets the key, or is told that. */
class CursorCloseTest {
  private static final int ROUNDS = 3_000;
  private static final byte[] KEY = {1, 2, 3};

  @TempDir Path temp;

  @Test
  void keyOrClosed() throws Exception {
    CyclicBarrier both = new CyclicBarrier(2);
    AtomicReference<Cursor> shared = new AtomicReference<>();
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < ROUNDS; i++) {
                  both.await();
                  readUntilClosed(shared.get(), i % 3);
                  both.await();
                }
              } catch (Throwable e) {
                wrong.set(e);
                both.reset();
              }
            });
    try (Store store =
        Store.open(temp.resolve("s"), StoreOptions.builder().memoryBudget(8 << 20).build())) {
      Tree tree = store.openTree("t");
      tree.put(KEY, KEY);
      reader.start();
      for (int i = 0; i < ROUNDS && wrong.get() == null; i++) {
        Cursor cursor = tree.cursor();
        cursor.first();
        shared.set(cursor);
        both.await();
        cursor.close();
        both.await();
      }
      reader.join();
    } catch (BrokenBarrierException e) {
      reader.join();
    }
    assertNull(wrong.get(), () -> "" + wrong.get());
  }

  private static void readUntilClosed(Cursor cursor, int way) {
    try {
      while (true) {
        switch (way) {
          case 0 -> assertArrayEquals(KEY, cursor.key());
          case 1 -> assertEquals(KEY.length, cursor.keyLength());
          default -> assertEquals(KEY.length, cursor.key(ByteBuffer.allocate(8)));
        }
      }
    } catch (StoreClosedException e) {
      // As it should be.
      return;
    }
  }
}
