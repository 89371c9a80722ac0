package io.isobardb.lsm.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.DiskFullException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A file system that takes no more files, though it has room: {@code DiskFullException} wherever a
 * full disk gives one, nothing is left behind, and what failed can be done once there are inodes.
 */
class FullInodesTest {
  /** More than any call here takes. */
  private static final int MOST = 60;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).logLimit(16 << 20).build();

  @TempDir Path dir;

  /** Tries each call with 0, 1, 2 ... inodes, until it is done. */
  static final class Program {
    private final Path root;
    private final Deque<Path> fillers = new ArrayDeque<>();

    private Program(Path root) {
      this.root = root;
    }

    private interface Call {
      void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
      Program program = new Program(Path.of(arguments[0]));
      try {
        program.run();
      } catch (Throwable e) {
        e.printStackTrace(System.out);
      }
      System.exit(0);
    }

    private void run() throws Exception {
      Path place = root.resolve("store");
      untilDone("open a new one", () -> Store.open(place, OPTIONS).close(), false);
      untilDone("open", () -> Store.open(place, OPTIONS).close(), false);
      try (Store store = Store.open(place, OPTIONS)) {
        Tree tree = store.openTree("logged");
        Tree unlogged = store.openTree("unlogged", TreeOptions.builder().logged(false).build());
        untilDone(
            "flush",
            () -> {
              tree.put(new byte[] {1}, new byte[9]);
              store.flush();
            },
            false);
        untilDone(
            "checkpoint",
            () -> {
              unlogged.put(new byte[] {1}, new byte[9]);
              store.checkpoint();
            },
            false);
        untilDone("copy", () -> store.checkpointTo(root.resolve("a/copy")), true);
        untilDone("open backups", () -> Backups.open(root.resolve("b/backups")).close(), true);
        try (Backups backups = Backups.open(root.resolve("b/backups"))) {
          untilDone("back up", () -> backups.create(store), true);
          untilDone("restore", () -> backups.restore(1, root.resolve("c/restored")), true);
        }
      }
    }

    /**
     * A flush that has failed is tried again after a while only: so calls are repeated.
     *
     * @param leavesNothing whether a call that fails must leave all as it was
     */
    private void untilDone(String name, Call call, boolean leavesNothing) throws Exception {
      for (int free = 0; true; free = Math.min(free + 1, MOST)) {
        leave(free);
        List<Path> before = files();
        try {
          call.run();
          System.out.println(name + ": " + (free == 0 ? "done" : "full, then done"));
          leave(MOST);
          return;
        } catch (DiskFullException e) {
          if (leavesNothing && !files().equals(before)) {
            System.out.println(name + " with " + free + " inodes: " + before + " " + files());
          }
        }
      }
    }

    /** Makes files or deletes them, so that so many more can be made. */
    private void leave(int free) throws IOException {
      try {
        while (true) {
          Path filler = root.resolve("filler" + fillers.size());
          Files.createFile(filler);
          fillers.push(filler);
        }
      } catch (IOException e) {
        for (int i = 0; i < free; i++) {
          Files.delete(fillers.pop());
        }
      }
    }

    private List<Path> files() throws IOException {
      try (Stream<Path> files = Files.walk(root)) {
        // A note in a directory of backups may stay, as it is in their way nowhere.
        return files
            .filter(file -> !file.endsWith("SWEPT"))
            .filter(file -> !file.getFileName().toString().startsWith("filler"))
            .sorted()
            .toList();
      }
    }
  }

  @Test
  void fewInodesAreAFullDisk() throws Exception {
    List<String> output =
        MountNamespace.run(
            "mount -t tmpfs -o nr_inodes=200,size=256m none \"$1\"", Program.class, dir);
    assertEquals(
        List.of(
            "open a new one: full, then done",
            "open: full, then done",
            "flush: full, then done",
            "checkpoint: full, then done",
            "copy: full, then done",
            "open backups: full, then done",
            "back up: full, then done",
            "restore: full, then done"),
        output);
  }
}
