package io.isobardb.lsm.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.damage.MountNamespace;
import io.isobardb.lsm.error.DiskFullException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that sees backups on a read-only mount, in a mount namespace of its own. */
final class ReadOnlyMountTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).logLimit(16 << 20).build();

  @TempDir Path dir;

  /** Reads backups in one directory and restores one to another. */
  static final class Reader {
    public static void main(String[] arguments) {
      try (Backups first = Backups.open(Path.of(arguments[0]));
          Backups second = Backups.open(Path.of(arguments[0]))) {
        System.out.println(first.list().size() + " " + second.verify());
        second.restore(1, Path.of(arguments[1]));
        first.keep(1);
        System.out.println("changed");
      } catch (UncheckedIOException e) {
        System.out.println(e.getMessage().contains("read-only file system") ? "refused" : e);
      }
    }
  }

  @Test
  void backupsAreRestoredFromAReadOnlyMount() throws Exception {
    Path backups = dir.resolve("backups");
    Path restored = dir.resolve("restored");
    try (Store store = Store.open(dir.resolve("store"), OPTIONS);
        Backups made = Backups.open(backups)) {
      store.openTree("t").put(new byte[1], new byte[5]);
      made.create(store);
    }
    Path mount = Files.createDirectory(dir.resolve("mount"));
    String script = "mount --bind \"$1\" \"$2\" && mount -o remount,bind,ro \"$2\" && shift";
    List<String> output = MountNamespace.run(script, Reader.class, backups, mount, restored);
    assertEquals(List.of("1 []", "refused"), output);
    try (Store store = Store.open(restored, OPTIONS)) {
      assertEquals(5, store.tree("t").get(new byte[1]).length);
    }
  }

  /** Says why a store can't be opened, and what one that is opened to be read only holds. */
  static final class Opener {
    public static void main(String[] arguments) {
      Path store = Path.of(arguments[0], "store");
      for (Path path : List.of(store, Path.of(arguments[0], "new"))) {
        try {
          Store.open(path, OPTIONS).close();
          System.out.println("opened");
        } catch (UncheckedIOException | DiskFullException e) {
          System.out.println(e.getMessage().contains("read-only file system") ? "refused" : e);
        }
      }
      try (Store read = Store.openReadOnly(store, OPTIONS)) {
        System.out.println(read.treeNames());
      }
    }
  }

  /** As an image is that was made to be read: it has no room, and that is not why. */
  @Test
  void aReadOnlyMountWithoutRoomIsNotToldAsAFullDisk() throws Exception {
    Path made = dir.resolve("store");
    try (Store store = Store.open(made, OPTIONS)) {
      store.openTree("t");
    }
    Path mount = Files.createDirectory(dir.resolve("mount"));
    String script =
        "mount -t tmpfs -o size=32m tmpfs \"$1\" && cp -r \"$2\" \"$1\""
            + " && ! cat /dev/zero > \"$1/full\" 2> /dev/null && mount -o remount,ro \"$1\"";
    List<String> output = MountNamespace.run(script, Opener.class, mount, made);
    assertEquals(List.of("refused", "refused", "[t]"), output);
  }
}
