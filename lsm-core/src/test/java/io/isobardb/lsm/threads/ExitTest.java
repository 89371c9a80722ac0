package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.StoreListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that end without closing their store. */
class ExitTest {
  private static final int PUTS = 1000;

  /** How many programs end in each way. */
  private static final int EXITS = Integer.getInteger("isobar.exits", 1);

  @TempDir Path dir;

  /** What a program does with a store; the way it ends is its first argument. */
  static final class Program {
    private static StoreOptions options(boolean closeOnExit) {
      return StoreOptions.builder()
          .memoryBudget(8 << 20)
          .asyncSyncInterval(Duration.ofHours(1))
          .closeOnExit(closeOnExit)
          .build();
    }

    public static void main(String[] arguments) throws Exception {
      Path dir = Path.of(arguments[1]);
      switch (arguments[0]) {
        case "main ends" -> put(Store.open(dir, options(true)));
        case "exit" -> {
          put(Store.open(dir, options(true)));
          System.exit(0);
        }
        case "exits in a listener" -> exitsInAListener(dir);
        case "lost before" -> {
          put(Store.open(dir, options(true)));
          for (int i = 0; i < 20; i++) {
            System.gc();
          }
        }
        case "closes itself" -> closesItself(dir);
        case "opens at exit" -> opensAtExit(dir);
        case "writes on" -> writesOn(dir);
        default -> throw new IllegalArgumentException(arguments[0]);
      }
    }

    private static void put(Store store) {
      put(store.openTree("t"));
    }

    private static void put(Tree tree) {
      for (int i = 0; i < PUTS; i++) {
        tree.put(key(i), bytes("value"));
      }
    }

    /** On threads of the store, which its closing would wait for, and on the one that closes it. */
    private static void exitsInAListener(Path dir) {
      Store store = Store.open(dir, options(true));
      for (String name : List.of("t", "u")) {
        put(store.openTree(name, TreeOptions.builder().logged(false).build()));
      }
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush flush) {
              System.exit(0);
            }

            @Override
            public void onSynced(Sync sync) {
              System.exit(0);
            }
          });
      store.flush();
    }

    /** With a hook of its own beside that of the library. */
    private static void closesItself(Path dir) {
      Store store = Store.open(dir, options(true));
      put(store);
      for (int i = 0; i < 3; i++) {
        Runtime.getRuntime().addShutdownHook(new Thread(store::close));
      }
      System.exit(0);
    }

    private static void opensAtExit(Path dir) {
      Store store = Store.open(dir, options(true));
      put(store);
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    try {
                      while (true) {
                        store.tree("t").get(key(1));
                        Thread.onSpinWait();
                      }
                    } catch (StoreClosedException e) {
                      System.out.println("closed");
                    }
                    try {
                      Store.open(dir.resolveSibling("other"), options(true));
                    } catch (IllegalStateException e) {
                      System.out.println(e.getMessage());
                    }
                    Store.open(dir.resolveSibling("other"), options(false)).close();
                    System.out.println("done");
                  }));
      System.exit(0);
    }

    /** Until it is ended from outside: says what was written, and how it ended. */
    private static void writesOn(Path dir) throws InterruptedException {
      Store store = Store.open(dir, options(true));
      Tree tree = store.openTree("t");
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        int own = t;
        threads.add(
            new Thread(
                () -> {
                  int written = 0;
                  try {
                    while (true) {
                      tree.put(bytes(own + "/" + written), bytes("value"));
                      written++;
                      if (written == PUTS) {
                        System.out.println("running");
                      }
                    }
                  } catch (StoreClosedException e) {
                    System.out.println("thread " + own + " wrote " + written);
                    System.out.flush();
                  }
                }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  private Process start(String way, String name) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Program.class.getName(),
            way,
            dir.resolve(name).toString())
        .redirectError(errors(name).toFile())
        .start();
  }

  private Path errors(String name) {
    return dir.resolve(name + ".errors");
  }

  private static String output(Process process) throws Exception {
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertTrue(process.waitFor(1, TimeUnit.MINUTES));
    return output;
  }

  private Store reopen(String name) {
    return Store.open(dir.resolve(name), Program.options(true));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "main ends",
        "exit",
        "exits in a listener",
        "lost before",
        "closes itself",
        "opens at exit"
      })
  void whatWasWrittenBeforeAnOrderlyEndIsThere(String way) throws Exception {
    for (int i = 0; i < EXITS; i++) {
      nothingIsLost(way, "store-" + i);
    }
  }

  private void nothingIsLost(String way, String name) throws Exception {
    Process process = start(way, name);
    String output = output(process);
    String errors = Files.readString(errors(name));
    assertEquals(0, process.exitValue(), errors);
    assertFalse(errors.contains("Close it before"), errors);
    try (Store store = reopen(name)) {
      Tree tree = store.tree("t");
      for (int i = 0; i < PUTS; i++) {
        assertNotNull(tree.get(key(i)), way + ": write " + i + " is gone");
      }
    }
    if (way.equals("opens at exit")) {
      assertTrue(output.startsWith("closed\n"), output);
      assertTrue(output.contains("the JVM is ending"), output);
      assertTrue(output.endsWith("done\n"), output);
    }
  }

  @Test
  void aSignalEndsWritersAndWhatTheyWroteIsThere() throws Exception {
    Process process = start("writes on", "store");
    byte[] running = process.getInputStream().readNBytes(3 * "running\n".length());
    assertEquals("running\nrunning\nrunning\n", new String(running, UTF_8));
    // Unlike Process.destroy, this leaves the stream open.
    process.toHandle().destroy();
    String output = output(process);
    try (Store store = reopen("store")) {
      Tree tree = store.tree("t");
      List<String> lines = output.lines().toList();
      assertEquals(3, lines.size(), output);
      for (String line : lines) {
        String[] words = line.split(" ");
        int written = Integer.parseInt(words[3]);
        assertNotNull(tree.get(bytes(words[1] + "/" + (written - 1))), line);
        assertNull(tree.get(bytes(words[1] + "/" + (written + 1))), line);
      }
    }
  }
}
