package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that has no descriptor left for a moment. */
class DescriptorsTest {
  private static final int MOST = 100;

  @TempDir Path dir;

  /** Takes all descriptors until the store waits for one. */
  static final class Greedy {
    private static final int TREES = 40;

    private static final List<InputStream> TAKEN = new ArrayList<>();

    public static void main(String[] args) throws Exception {
      StoreOptions options =
          StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).maxOpenFiles(16).build();
      int waits = 0;
      try (Store store = Store.open(Path.of(args[0]), options)) {
        use(store, 0);
        for (int round = 1; round <= 3; round++) {
          int now = round;
          Throwable[] failure = new Throwable[1];
          Thread user =
              new Thread(
                  () -> {
                    try {
                      use(store, now);
                    } catch (Throwable e) {
                      failure[0] = e;
                    }
                  });
          takeAll();
          user.start();
          boolean waiting = false;
          while (!waiting && user.isAlive()) {
            takeAll();
            waiting = Thread.getAllStackTraces().values().stream().anyMatch(Greedy::waits);
          }
          waits += waiting ? 1 : 0;
          give();
          user.join();
          if (failure[0] != null) {
            throw new AssertionError(failure[0]);
          }
        }
      }
      System.out.print(waits > 0);
    }

    /** Writes and reads so many trees that not all their files stay open. */
    private static void use(Store store, int round) {
      for (int t = 0; t < TREES; t++) {
        Tree tree = store.openTree("t" + t);
        byte[] found = tree.get(new byte[] {1});
        if (round > 0 && (found == null || found[0] != round - 1)) {
          throw new AssertionError("tree " + t + " in round " + round);
        }
        tree.put(new byte[] {1}, new byte[] {(byte) round}, Durability.SYNC);
      }
      store.flush();
    }

    private static boolean waits(StackTraceElement[] trace) {
      return Arrays.stream(trace).anyMatch(call -> call.getMethodName().equals("pause"));
    }

    private static void takeAll() {
      while (true) {
        try {
          TAKEN.add(new FileInputStream("/dev/null"));
        } catch (IOException e) {
          return;
        }
      }
    }

    private static void give() throws IOException {
      for (InputStream taken : TAKEN) {
        taken.close();
      }
      TAKEN.clear();
    }
  }

  @Test
  void theStoreGoesOnOnceTheyAreGivenBack() throws Exception {
    assumeTrue(Files.exists(Path.of("/bin/bash")), "a shell that limits descriptors");
    UserProgram program = new UserProgram(dir);
    String store = dir.resolve("store").toString();
    assertEquals("true", program.runWithDescriptors(MOST, Greedy.class, store).out(), "it waited");
  }
}
