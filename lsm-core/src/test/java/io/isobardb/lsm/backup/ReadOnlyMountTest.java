package io.isobardb.lsm.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
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

  private static boolean canMount() throws InterruptedException {
    try {
      Process process = new ProcessBuilder("unshare", "-m", "true").start();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void backupsAreRestoredFromAReadOnlyMount() throws Exception {
    assumeTrue(canMount(), "needs the right to mount, as root has it");
    Path backups = dir.resolve("backups");
    Path restored = dir.resolve("restored");
    try (Store store = Store.open(dir.resolve("store"), OPTIONS);
        Backups made = Backups.open(backups)) {
      store.openTree("t").put(new byte[1], new byte[5]);
      made.create(store);
    }
    Path mount = Files.createDirectory(dir.resolve("mount"));
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process process =
        new ProcessBuilder(
                "unshare",
                "-m",
                "sh",
                "-c",
                "mount --bind \"$0\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"",
                backups.toString(),
                mount.toString(),
                java,
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Reader.class.getName(),
                mount.toString(),
                restored.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(List.of("1 []", "refused"), output.lines().toList());
    try (Store store = Store.open(restored, OPTIONS)) {
      assertEquals(5, store.tree("t").get(new byte[1]).length);
    }
  }
}
