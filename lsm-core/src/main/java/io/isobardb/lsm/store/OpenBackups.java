package io.isobardb.lsm.store;

import io.isobardb.lsm.Backup;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.recovery.BackupDirectory;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** A directory of backups that users have open: one call after the other uses it. */
public final class OpenBackups implements Backups {
  private final BackupDirectory directory;
  private final long bytesPerSecond;
  private final FileAccess access;
  private final Lock turn = new ReentrantLock();

  /** Guarded by {@link #turn}. */
  private boolean closed;

  /**
   * @param directory closed with this
   * @param bytesPerSecond how much of a store is read in a second
   * @param access who else may use what is made
   */
  public OpenBackups(BackupDirectory directory, long bytesPerSecond, FileAccess access) {
    this.directory = directory;
    this.bytesPerSecond = bytesPerSecond;
    this.access = access;
  }

  @Override
  public Backup create(Store store) {
    Objects.requireNonNull(store, "store");
    if (!(store instanceof OpenStore open)) {
      throw new IllegalArgumentException(
          "only a store that Store.open gave can be backed up, not a " + store.getClass());
    }
    return holding(
        "the store can't be backed up", () -> backup(open.backup(directory, bytesPerSecond)));
  }

  private static Backup backup(BackupDirectory.Entry entry) {
    return new Backup(
        entry.id(),
        entry.storePath(),
        Instant.ofEpochMilli(entry.createdMillis()),
        entry.tables(),
        entry.sizeBytes(),
        entry.copiedBytes());
  }

  @Override
  public List<Backup> list() {
    return holding(
        "backups can't be listed",
        () -> directory.list().stream().map(OpenBackups::backup).toList());
  }

  @Override
  public List<Finding> verify() {
    return holding("backups can't be verified", directory::verify);
  }

  @Override
  public void restore(long id, Path target) {
    Objects.requireNonNull(target, "target");
    holding(
        "backup " + id + " can't be restored to " + target,
        () -> {
          NewDirectory.fill(target, access, made -> directory.restore(id, made));
          return true;
        });
  }

  @Override
  public void delete(long id) {
    holding(
        "backup " + id + " can't be deleted",
        () -> {
          directory.delete(id);
          return true;
        });
  }

  @Override
  public int keep(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("count must be at least 1, not " + count);
    }
    return holding("backups can't be deleted", () -> directory.keep(count));
  }

  @Override
  public void close() {
    turn.lock();
    try {
      if (!closed) {
        closed = true;
        Opening.doing(
            "the backups can't be closed",
            () -> {
              directory.close();
              return true;
            });
      }
    } finally {
      turn.unlock();
    }
  }

  private <T> T holding(String failed, Opening.Work<T> work) {
    turn.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the backups are closed");
      }
      return Opening.doing(failed, work);
    } finally {
      turn.unlock();
    }
  }
}
