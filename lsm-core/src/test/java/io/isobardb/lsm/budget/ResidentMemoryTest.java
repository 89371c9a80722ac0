package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Resident memory of a process against the ledger of its store, while the budget goes down and up.
 */
@EnabledOnOs(OS.LINUX)
class ResidentMemoryTest {
  private static final long MB = 1 << 20;
  private static final int CYCLES = Integer.getInteger("isobar.resident.cycles", 3);
  private static final long LARGE_BYTES = Long.getLong("isobar.resident.bytes", 128 * MB);

  /**
   * What may become resident after the start besides slabs: code and classes of the JVM, and what
   * the C library keeps of small blocks. Up to 7 MB were seen on Java 17 and 25.
   */
  private static final long JVM_BYTES = 24 * MB;

  @TempDir Path temp;

  @Test
  void residentMemoryFollowsTheBudgetDownEachTimeAndIsGoneAfterClose() throws Exception {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms64m",
                "-Xmx64m",
                "-XX:+AlwaysPreTouch",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:MaxDirectMemorySize=" + 2 * LARGE_BYTES,
                "-cp",
                System.getProperty("java.class.path"),
                Cycles.class.getName(),
                temp.resolve("store").toString(),
                Long.toString(LARGE_BYTES),
                Integer.toString(CYCLES))
            .redirectErrorStream(true)
            .start();
    String output;
    try {
      output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(child.waitFor(60, TimeUnit.SECONDS));
    } finally {
      child.destroyForcibly();
    }
    System.out.println(output);
    assertEquals(0, child.exitValue(), output);
    List<Sample> samples = output.lines().filter(Sample::isOne).map(Sample::of).toList();
    assertEquals(2 * CYCLES + 2, samples.size(), output);
    // Java 25 and the libraries print nothing: no warning, no need for a flag.
    assertEquals(samples.size(), output.lines().count(), output);
    long start = samples.get(0).resident() - samples.get(0).ledger();
    for (Sample sample : samples) {
      long most = sample.ledger() * 11 / 10 + start + JVM_BYTES;
      assertTrue(sample.resident() <= most, () -> sample + ", more than " + most + "\n" + output);
    }
  }

  /** What a store held, and what was resident, at one moment. */
  private record Sample(String when, long ledger, long resident) {
    static Sample now(String when, long ledger) throws IOException {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmRSS:")) {
          return new Sample(when, ledger, Long.parseLong(line.replaceAll("[^0-9]", "")) << 10);
        }
      }
      throw new IOException("/proc/self/status does not tell what is resident");
    }

    static boolean isOne(String line) {
      return line.startsWith("at ");
    }

    static Sample of(String line) {
      String[] words = line.split(" ");
      return new Sample(words[1], Long.parseLong(words[3]), Long.parseLong(words[5]));
    }

    @Override
    public String toString() {
      return "at " + when + " ledger " + ledger + " resident " + resident;
    }
  }

  /** The process that is looked at. */
  static final class Cycles {
    private static final int KEYS = 400_000;

    private Cycles() {}

    public static void main(String[] args) throws IOException {
      long large = Long.parseLong(args[1]);
      // Not much less: a store keeps its log's buffers and tables while it is open.
      long small = large / 5;
      int cycles = Integer.parseInt(args[2]);
      StoreOptions options = StoreOptions.builder().memoryBudget(large).build();
      try (Store store = Store.open(Path.of(args[0]), options)) {
        Tree tree = store.openTree("t");
        // Most code is loaded and compiled before the start counts.
        fill(store, tree, small);
        store.setMemoryBudget(small);
        store.setMemoryBudget(large);
        System.out.println(Sample.now("start", held(store)));
        for (int i = 0; i < cycles; i++) {
          fill(store, tree, large / 8 * 7);
          System.out.println(Sample.now("full", held(store)));
          store.setMemoryBudget(small);
          System.out.println(Sample.now("lowered", held(store)));
          store.setMemoryBudget(large);
        }
      }
      System.out.println(Sample.now("closed", 0));
    }

    private static void fill(Store store, Tree tree, long bytes) {
      Random random = new Random(bytes);
      byte[] value = new byte[600];
      while (held(store) < bytes) {
        for (int i = 0; i < 2000; i++) {
          tree.put(key(random.nextInt(KEYS)), value);
          tree.get(key(random.nextInt(KEYS)));
        }
      }
    }

    private static long held(Store store) {
      return store.stats().ledger().allocatedBytes();
    }
  }
}
