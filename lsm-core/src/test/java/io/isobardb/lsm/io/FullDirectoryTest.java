package io.isobardb.lsm.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.DiskFullException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A directory is made on a disk that becomes full, of which the system tells in German: at each
 * call that makes a file or a directory, or writes.
 */
class FullDirectoryTest {
  private static final String GERMAN =
      "Auf dem Ger\u00e4t ist kein Speicherplatz mehr verf\u00fcgbar";
  private static final byte[] KEY = {1};

  private static final StoreOptions SMALL =
      StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build();

  @TempDir Path dir;

  /** Has room for so many calls. */
  private static final class Filling implements GuardedFiles.Guard {
    private final Path below;
    private int left;

    Filling(Path below, int calls) {
      this.below = below;
      this.left = calls;
    }

    synchronized boolean isFull() {
      return left < 0;
    }

    private synchronized boolean hasRoom() {
      left = Math.max(-1, left - 1);
      return left >= 0;
    }

    @Override
    public void check(GuardedFiles.Access access, Path path) throws IOException {
      boolean makes =
          access == GuardedFiles.Access.WRITE && path.startsWith(below) && !Files.exists(path);
      if (makes && !hasRoom()) {
        throw new FileSystemException(path.toString(), null, GERMAN);
      }
    }

    @Override
    public FileChannel opened(Path path, FileChannel channel) {
      return path.endsWith(StoreLock.FILE) || !path.startsWith(below)
          ? channel
          : new ShortChannel(channel, 1, null) {
            @Override
            public int write(ByteBuffer source, long position) throws IOException {
              checkRoom();
              return super.write(source, position);
            }

            @Override
            public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
              checkRoom();
              return super.write(sources, offset, length);
            }

            private void checkRoom() throws IOException {
              if (!hasRoom()) {
                throw new IOException(GERMAN);
              }
            }
          };
    }

    @Override
    public long usableBytes(long found) {
      return isFull() ? 0 : found;
    }
  }

  /** Makes something in a directory that is not there. */
  private interface Making {
    void in(Path target);
  }

  private void assertLeavesNothing(Making making) throws IOException {
    Path top = dir.toRealPath().resolve("top");
    Path target = top.resolve("target");
    boolean done = false;
    for (int calls = 0; !done; calls++) {
      Filling filling = new Filling(top, calls);
      try {
        making.in(GuardedFiles.guard(target, filling));
        assertFalse(filling.isFull(), "made on a full disk");
        done = true;
      } catch (DiskFullException e) {
        assertTrue(filling.isFull(), e.toString());
        assertFalse(Files.exists(top), "left behind after " + calls + " calls");
      }
    }
    assertTrue(Files.exists(target));
  }

  @Test
  void aCopyThatFindsNoRoomLeavesNothing() throws IOException {
    try (Store store = Store.open(dir.resolve("store"), SMALL)) {
      store.openTree("t").put(KEY, KEY);
      store.flush();
      store.openTree("u").put(KEY, KEY);
      assertLeavesNothing(store::checkpointTo);
    }
  }

  @Test
  void backupsThatFindNoRoomLeaveNothing() throws IOException {
    assertLeavesNothing(target -> Backups.open(target).close());
  }

  @Test
  void aBackupThatFindsNoRoomToBeRestoredLeavesNothing() throws IOException {
    try (Store store = Store.open(dir.resolve("store"), SMALL);
        Backups backups = Backups.open(dir.resolve("backups"))) {
      store.openTree("t").put(KEY, KEY);
      long id = backups.create(store).id();
      assertLeavesNothing(target -> backups.restore(id, target));
    }
  }

  /** Also if a store can't even be locked. */
  @Test
  void aStoreThatFindsNoRoomIsOpenedOnceThereIsSome() throws IOException {
    Path top = dir.toRealPath().resolve("top");
    Path target = top.resolve("target");
    boolean lockRefused = false;
    for (int calls = 0; !Files.exists(target.resolve(StoreLock.FILE)); calls++) {
      Path full = GuardedFiles.guard(target, new Filling(top, calls));
      try {
        Store.open(full, SMALL).close();
      } catch (DiskFullException e) {
        lockRefused |= e.getMessage().contains(StoreLock.FILE);
        assertTrue(!Files.exists(top) || Files.exists(target.resolve(StoreLock.FILE)), e::toString);
      }
    }
    assertTrue(lockRefused);
    try (Store store = Store.open(target, SMALL)) {
      store.openTree("t").put(KEY, KEY);
      assertArrayEquals(KEY, store.tree("t").get(KEY));
    }
  }
}
