package io.isobardb.lsm.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreFailedException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A full disk whose file system copies on write: stores to the mapped ring fail there. Whatever
 * becomes of the store, what is there afterwards is what was written, and what had returned is.
 */
class CopyOnWriteDiskTest {
  private static final int ROUNDS = Integer.getInteger("isobar.btrfs.rounds", 1);

  @TempDir Path dir;

  /** Fills what files may take under writers, makes room, and looks at what is there. */
  static final class Program {
    private static final int THREADS = 6;

    private static final StoreOptions OPTIONS =
        StoreOptions.builder().memoryBudget(8 << 20).logLimit(16 << 20).build();

    private final AtomicLongArray written = new AtomicLongArray(THREADS);

    public static void main(String[] arguments) {
      try {
        new Program().run(Path.of(arguments[0]));
        System.out.println("looked at");
      } catch (Throwable e) {
        System.out.println("failed: " + e);
      }
      System.exit(0);
    }

    private void run(Path root) throws Exception {
      Path place = root.resolve("store");
      Store store = Store.open(place, OPTIONS);
      limit(root, "40M");
      write(store);
      try {
        store.close();
      } catch (RuntimeException e) {
        // It was told before.
      }
      limit(root, "none");
      verify(place);
    }

    /** Bounds what all files may take. */
    private static void limit(Path root, String bytes) throws Exception {
      new ProcessBuilder("btrfs", "qgroup", "limit", bytes, root.toString()).start().waitFor();
    }

    private void write(Store store) throws Exception {
      Tree tree = store.openTree("tree");
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        threads.add(new Thread(() -> write(tree, thread)));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
    }

    private void write(Tree tree, int thread) {
      int full = 0;
      for (int i = 0; full < 20; i++) {
        try {
          tree.put(key(thread, i), value(thread, i));
          written.set(thread, i + 1);
        } catch (DiskFullException e) {
          full++;
          i--;
          pause();
        } catch (StoreFailedException e) {
          return;
        }
      }
    }

    private static void pause() {
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private static byte[] key(int thread, int i) {
      return ByteBuffer.allocate(8).putInt(thread).putInt(i).array();
    }

    private static byte[] value(int thread, int i) {
      SplittableRandom random = new SplittableRandom(31L * i + thread);
      byte[] value = new byte[random.nextInt(1500)];
      random.nextBytes(value);
      return value;
    }

    private void verify(Path place) {
      int[] there = new int[THREADS];
      try (Store store = Store.open(place, OPTIONS);
          Cursor cursor = store.openTree("tree").cursor(CursorOptions.all())) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          ByteBuffer key = ByteBuffer.wrap(cursor.key());
          int thread = key.getInt();
          int i = key.getInt();
          if (i != there[thread]++ || !Arrays.equals(value(thread, i), cursor.value())) {
            System.out.println("thread " + thread + ": another value at " + i);
          }
        }
      }
      for (int thread = 0; thread < THREADS; thread++) {
        if (there[thread] < written.get(thread)) {
          System.out.println(
              "thread " + thread + ": " + there[thread] + " of " + written.get(thread));
        }
      }
    }
  }

  @Test
  void whatIsThereWasWrittenAndWhatHadReturnedIsThere() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/sbin/mkfs.btrfs")), "needs mkfs.btrfs");
    for (int round = 0; round < ROUNDS; round++) {
      Path mount = Files.createDirectory(dir.resolve("mount" + round));
      List<String> output =
          MountNamespace.run(
              "truncate -s 300M \"$1.image\" && /sbin/mkfs.btrfs -q \"$1.image\" > /dev/null 2>&1"
                  + " && mount -o loop \"$1.image\" \"$1\" && btrfs quota enable \"$1\"",
              Program.class,
              mount);
      assertEquals(
          List.of("looked at"), output.stream().filter(CopyOnWriteDiskTest::isOurs).toList());
    }
  }

  /** Not what the log says. */
  private static boolean isOurs(String line) {
    return line.startsWith("thread ") || line.startsWith("failed: ") || line.equals("looked at");
  }
}
