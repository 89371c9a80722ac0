package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills a process that writes, again and again, and holds what is left against what it had been
 * told was safe. {@code isobar.kill.cycles} asks for more cycles.
 */
class KillTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_240_613L);
  private static final int CYCLES = Integer.getInteger("isobar.kill.cycles", 4);
  private static final int THREADS = 4;
  private static final int TREES = 3;
  private static final String[] NAMES = {"a", "b", "c"};
  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .durability(Durability.SYNC)
          .build();

  @TempDir Path temp;

  /** Operation {@code n} of a thread is a batch over all trees, or a put into one of them. */
  private static boolean isBatch(long n) {
    return n % 5 == 0;
  }

  private static byte[] key(int thread, long n) {
    return bytes(thread + "/" + Long.toString(n * 0x9E3779B97F4A7C15L >>> 20, 36) + "/" + n);
  }

  private static byte[] value(int thread, long n) {
    byte[] value = new byte[(int) (300 + n * 7 % 400)];
    Arrays.fill(value, (byte) (n + thread));
    return value;
  }

  /** Of one thread in one cycle: all of them are checked one by one, from a small cache. */
  private static final long OPERATIONS = 1500;

  /** The process that is killed: prints {@code thread operation} after each acknowledged write. */
  static final class Victim {
    private Victim() {}

    /** Arguments: the directory, and each thread's first operation. */
    public static void main(String[] args) {
      PrintStream out = System.out;
      Store store = Store.open(Path.of(args[0]), OPTIONS);
      Tree[] trees = new Tree[TREES];
      for (int i = 0; i < TREES; i++) {
        trees[i] = store.openTree(NAMES[i]);
      }
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        long first = Long.parseLong(args[1 + t]);
        new Thread(() -> write(store, trees, thread, first, out)).start();
      }
    }

    private static void write(Store store, Tree[] trees, int thread, long first, PrintStream out) {
      for (long n = first; n < first + OPERATIONS; n++) {
        byte[] key = key(thread, n);
        byte[] value = value(thread, n);
        if (isBatch(n)) {
          WriteBatch batch = store.newBatch();
          for (Tree tree : trees) {
            batch.put(tree, key, value);
          }
          store.write(batch);
        } else {
          trees[(int) (n % TREES)].put(key, value);
        }
        String line = thread + " " + n + "\n";
        synchronized (out) {
          out.print(line);
          out.flush();
        }
      }
      while (true) {
        // To be killed: the background goes on merging.
        LockSupport.park();
      }
    }
  }

  @Test
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  void noAcknowledgedWriteIsLostAndNoBatchTornHoweverOftenTheProcessIsKilled() throws Exception {
    System.out.println("isobar.seed=" + SEED + " isobar.kill.cycles=" + CYCLES);
    SplittableRandom random = new SplittableRandom(SEED);
    Path dir = temp.resolve("store");
    long[] next = new long[THREADS];
    long killed = 0;
    for (int cycle = 0; cycle < CYCLES; cycle++) {
      long[] acknowledged = runAndKill(dir, next, 200 + random.nextInt(800));
      try (Store store = Store.open(dir, OPTIONS)) {
        for (int t = 0; t < THREADS; t++) {
          next[t] = check(store, t, acknowledged[t], cycle);
          killed += next[t];
        }
        check(store);
      }
    }
    assertTrue(killed > 0, "the victim never wrote");
  }

  /** Runs the victim for a while after its first write; gives each thread's last acknowledged. */
  private static long[] runAndKill(Path dir, long[] next, long millis) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Victim.class.getName(), dir.toString()));
    AtomicLongArray acknowledged = new AtomicLongArray(THREADS);
    for (int t = 0; t < THREADS; t++) {
      command.add(Long.toString(next[t]));
      acknowledged.set(t, next[t] - 1);
    }
    Process victim =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    CountDownLatch begun = new CountDownLatch(1);
    Thread witness = new Thread(() -> witness(victim, acknowledged, begun));
    witness.start();
    assertTrue(begun.await(60, TimeUnit.SECONDS), "the victim does not begin");
    assertTrue(!victim.waitFor(millis, TimeUnit.MILLISECONDS), "the victim ended by itself");
    // Process.destroyForcibly would close the pipe, and lose acknowledgements that are in it.
    victim.toHandle().destroyForcibly();
    assertTrue(victim.waitFor(60, TimeUnit.SECONDS));
    witness.join();
    long[] last = new long[THREADS];
    Arrays.setAll(last, acknowledged::get);
    return last;
  }

  private static void witness(Process victim, AtomicLongArray last, CountDownLatch begun) {
    try (BufferedReader reader = victim.inputReader()) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        int space = line.indexOf(' ');
        if (space == 1 && line.length() > 2) {
          // A line cut short by the kill names an operation that was acknowledged before.
          int thread = line.charAt(0) - '0';
          long n = Long.parseLong(line.substring(2));
          last.accumulateAndGet(thread, n, Math::max);
          begun.countDown();
        }
      }
    } catch (IOException e) {
      begun.countDown();
    }
  }

  /** Checks all operations of a thread; gives the first one that is not there. */
  private static long check(Store store, int thread, long acknowledged, int cycle) {
    long n = 0;
    while (isThere(store, thread, n, n <= acknowledged, cycle)) {
      n++;
    }
    assertTrue(n > acknowledged, () -> "acknowledged but lost: thread " + thread);
    assertTrue(n <= acknowledged + 2, "more than one operation of a thread was under way");
    return n;
  }

  private static boolean isThere(Store store, int thread, long n, boolean must, int cycle) {
    String what = "thread " + thread + ", operation " + n + ", cycle " + cycle + ", seed " + SEED;
    byte[] key = key(thread, n);
    byte[] expected = value(thread, n);
    byte[] first = null;
    for (int i = 0; i < TREES; i++) {
      byte[] value = store.tree(NAMES[i]).get(key);
      boolean written = isBatch(n) || i == n % TREES;
      if (!written) {
        assertNull(value, what);
        continue;
      }
      if (must) {
        assertNotNull(value, what);
      }
      if (value != null) {
        assertArrayEquals(expected, value, what);
      }
      if (isBatch(n) && i > 0) {
        assertEquals(first == null, value == null, () -> "a torn batch: " + what);
      }
      first = value;
    }
    return first != null;
  }

  /** Cursors see what point reads see. */
  private static void check(Store store) {
    for (String name : NAMES) {
      Tree tree = store.tree(name);
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          assertArrayEquals(cursor.value(), tree.get(cursor.key()));
        }
      }
    }
  }
}
