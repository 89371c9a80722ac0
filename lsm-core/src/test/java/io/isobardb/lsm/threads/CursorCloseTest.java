package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.StoreClosedException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A cursor that stands on an entry is closed by another thread while its key is read. */
@Timeout(60)
class CursorCloseTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_124L);
  private static final int ROUNDS = Integer.getInteger("isobar.cursor.rounds", 20_000);
  private static final byte[] KEY = bytes("key");

  @TempDir Path temp;

  private volatile Cursor cursor;
  private volatile boolean stop;

  /** How often a closed cursor said that it is closed. */
  private int readUntilClosed() {
    int closed = 0;
    Cursor last = null;
    while (!stop) {
      Cursor on = cursor;
      if (on == last) {
        Thread.onSpinWait();
        continue;
      }
      try {
        while (true) {
          assertTrue(on.isValid());
          assertArrayEquals(KEY, on.key());
          assertEquals(KEY.length, on.keyLength());
          assertEquals(KEY.length, on.key(ByteBuffer.allocate(10)));
        }
      } catch (StoreClosedException e) {
        closed++;
        last = on;
      }
    }
    return closed;
  }

  @Test
  void itsReaderSeesTheEntryOrHearsThatItIsClosed() throws Exception {
    System.out.println("isobar.seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    try (Store store = Store.open(temp, options)) {
      Tree tree = store.openTree("t");
      tree.put(KEY, KEY);
      FutureTask<Integer> reader = new FutureTask<>(this::readUntilClosed);
      Thread thread = new Thread(reader, "reader");
      for (int round = 0; round < ROUNDS && !reader.isDone(); round++) {
        try (Cursor fresh = tree.cursor()) {
          assertTrue(fresh.first());
          cursor = fresh;
          if (round == 0) {
            thread.start();
          }
          for (int i = random.nextInt(300); i > 0; i--) {
            Thread.onSpinWait();
          }
        }
      }
      stop = true;
      assertTrue(reader.get() > 0);
    }
  }
}
