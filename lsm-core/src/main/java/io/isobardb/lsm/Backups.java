package io.isobardb.lsm;

import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.recovery.BackupDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A directory of backups, of one store or of several.
 *
 * <pre>{@code
 * try (Backups backups = Backups.open(Path.of("backups"))) {
 *   long id = backups.create(store).id();
 *   backups.keep(7); // and deletes those before
 *   backups.restore(id, Path.of("restored"));
 * }
 * }</pre>
 *
 * <p>Each backup is whole: it can be restored, and deleted, without the others. An SSTable that
 * several have is stored once, and known by its contents (SHA-256). So another backup copies the
 * SSTables that are new, and what was in memory. So a store that is smaller than its write memory
 * is copied as a whole each time, unless {@link Store#flush} comes before. A backup still reads all
 * of the store, to know the contents.
 *
 * <p>If the process or the machine fails, or the disk is full, in the middle of any call, earlier
 * backups are whole, and the next change cleans up. The store that is backed up is not harmed.
 *
 * <p>Reading backups ({@link #list}, {@link #verify}, {@link #restore}) takes no lock and needs no
 * right to write: it works on a read-only file system, and beside whoever changes them. A backup
 * that is deleted while it is restored is an {@link IllegalArgumentException}.
 *
 * <p>Thread rule: all methods may be called by any thread; one waits for the other. Several may
 * have a directory open, here or in other processes. One of them changes it at a time.
 *
 * <p>Errors: {@link UncheckedIOException} if a file can't be read or written, {@code
 * DiskFullException} if there is no room for a backup, {@link IllegalArgumentException} for an ID
 * that there is not, {@code CorruptionException} for a backup that is damaged, {@code
 * StoreLockedException} for a change while somebody else makes one.
 */
public final class Backups implements AutoCloseable {
  private final BackupDirectory directory;
  private final long bytesPerSecond;
  private final FileAccess access;
  private final Lock turn = new ReentrantLock();

  /** Guarded by {@link #turn}. */
  private boolean closed;

  private Backups(BackupDirectory directory, long bytesPerSecond, FileAccess access) {
    this.directory = directory;
    this.bytesPerSecond = bytesPerSecond;
    this.access = access;
  }

  /** Opens a directory of backups, or makes one, without a limit to the rate. */
  public static Backups open(Path directory) {
    return open(directory, Long.MAX_VALUE);
  }

  /**
   * Opens a directory of backups, or makes one.
   *
   * @param directory one of backups, or empty, or not there yet
   * @param bytesPerSecond how much of a store {@link #create} reads in a second, at least 1
   * @throws io.isobardb.lsm.error.FormatException if it holds something else
   * @throws IllegalArgumentException if there are no backups yet, and it lies within a store or
   *     within other backups; nothing is made
   * @throws io.isobardb.lsm.error.StoreLockedException if there are no backups yet, and somebody
   *     else makes the directory one of backups
   */
  public static Backups open(Path directory, long bytesPerSecond) {
    return open(directory, bytesPerSecond, FileAccess.OWNER);
  }

  /**
   * As {@link #open(Path, long)}.
   *
   * @param access who else may use the backups that are made, and the stores that are restored
   */
  public static Backups open(Path directory, long bytesPerSecond, FileAccess access) {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(access, "access");
    if (bytesPerSecond < 1) {
      throw new IllegalArgumentException(
          "bytesPerSecond must be at least 1, not " + bytesPerSecond);
    }
    return doing(
        "the backups in " + directory + " can't be opened",
        () -> {
          Storage storage = NewDirectory.forBackups(directory, access);
          return new Backups(BackupDirectory.open(storage), bytesPerSecond, access);
        });
  }

  /** Opens backups in a given directory, which may be simulated. */
  static Backups open(Storage storage, long bytesPerSecond) throws IOException {
    return new Backups(BackupDirectory.open(storage), bytesPerSecond, FileAccess.OWNER);
  }

  /**
   * Backs a store up, as of one moment of this call, over all trees, unlogged ones included.
   * Writers go on meanwhile. It is durable when this returns.
   *
   * <p>It takes 16 MB beside the memory budget while it works.
   *
   * @throws IllegalArgumentException if the backups would lie within the store's directory
   * @throws io.isobardb.lsm.error.StoreFailedException if the store has failed
   * @throws io.isobardb.lsm.error.StoreClosedException if the store is closed meanwhile
   */
  public Backup create(Store store) {
    Objects.requireNonNull(store, "store");
    return holding(
        "the store can't be backed up",
        () -> backup(store.session().backup(directory, bytesPerSecond)));
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

  /** The backups, oldest first, but for those that {@link #verify} would find to be unreadable. */
  public List<Backup> list() {
    return holding(
        "backups can't be listed", () -> directory.list().stream().map(Backups::backup).toList());
  }

  /** Reads all files of all backups; gives what is damaged or missing. */
  public List<Finding> verify() {
    return holding("backups can't be verified", directory::verify);
  }

  /**
   * Makes a store of a backup. All of it is durable when this returns; no store is there before.
   *
   * @param target empty or not there yet; if this fails, it is again as it was
   * @throws io.isobardb.lsm.error.FormatException if the target is not empty
   * @throws IllegalArgumentException if there is no such backup, or the target lies within a store
   *     or a directory of backups; nothing is made
   */
  public void restore(long id, Path target) {
    Objects.requireNonNull(target, "target");
    holding(
        "backup " + id + " can't be restored to " + target,
        () -> {
          NewDirectory.fill(target, access, made -> directory.restore(id, made));
          return true;
        });
  }

  /** Deletes a backup, whether it can be read or not, and the SSTables that no other one has. */
  public void delete(long id) {
    holding(
        "backup " + id + " can't be deleted",
        () -> {
          directory.delete(id);
          return true;
        });
  }

  /**
   * Deletes all but the last backups.
   *
   * @param count how many to keep, at least 1
   * @return how many were deleted
   */
  public int keep(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("count must be at least 1, not " + count);
    }
    return holding("backups can't be deleted", () -> directory.keep(count));
  }

  /** Does nothing if it is closed. */
  @Override
  public void close() {
    turn.lock();
    try {
      if (!closed) {
        closed = true;
        doing(
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

  private interface Work<T> {
    T run() throws IOException;
  }

  private <T> T holding(String failed, Work<T> work) {
    turn.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the backups are closed");
      }
      return doing(failed, work);
    } finally {
      turn.unlock();
    }
  }

  private static <T> T doing(String failed, Work<T> work) {
    try {
      return work.run();
    } catch (IOException e) {
      throw new UncheckedIOException(failed + ": " + e.getMessage(), e);
    }
  }
}
