package io.isobardb.lsm;

import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.store.Opening;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

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
 * StoreLockedException} for a change while somebody else makes one, {@link IllegalStateException}
 * after {@link #close}.
 */
public interface Backups extends AutoCloseable {
  /**
   * Opens a directory of backups, or makes one, without a limit to the rate.
   *
   * @param directory one of backups, or empty, or not there yet
   * @return the backups, for one thread or many
   */
  static Backups open(Path directory) {
    return open(directory, Long.MAX_VALUE);
  }

  /**
   * Opens a directory of backups, or makes one.
   *
   * @param directory one of backups, or empty, or not there yet
   * @param bytesPerSecond how much of a store {@link #create} reads in a second, at least 1
   * @return the backups, for one thread or many
   * @throws io.isobardb.lsm.error.FormatException if it holds something else
   * @throws IllegalArgumentException if there are no backups yet, and it lies within a store or
   *     within other backups; nothing is made
   * @throws io.isobardb.lsm.error.StoreLockedException if there are no backups yet, and somebody
   *     else makes the directory one of backups
   */
  static Backups open(Path directory, long bytesPerSecond) {
    return open(directory, bytesPerSecond, FileAccess.OWNER);
  }

  /**
   * As {@link #open(Path, long)}.
   *
   * @param directory one of backups, or empty, or not there yet
   * @param bytesPerSecond how much of a store {@link #create} reads in a second, at least 1
   * @param access who else may use the backups that are made, and the stores that are restored
   * @return the backups, for one thread or many
   */
  static Backups open(Path directory, long bytesPerSecond, FileAccess access) {
    return Opening.backups(directory, bytesPerSecond, access);
  }

  /**
   * Backs a store up, as of one moment of this call, over all trees, unlogged ones included.
   * Writers go on meanwhile. It is durable when this returns. The checksums of what is copied are
   * verified: no backup is made of a store that is damaged there.
   *
   * <p>It takes 16 MB beside the memory budget while it works.
   *
   * @param store open, also to be read only
   * @return the new backup, as {@link #list} tells it from now on
   * @throws IllegalArgumentException if the backups would lie within the store's directory
   * @throws io.isobardb.lsm.error.CorruptionException if a file of the store is damaged
   * @throws io.isobardb.lsm.error.StoreFailedException if the store has failed
   * @throws io.isobardb.lsm.error.StoreClosedException if the store is closed meanwhile
   */
  Backup create(Store store);

  /**
   * {@return the backups, oldest first, but for those that {@link #verify} would find to be
   * unreadable}
   */
  List<Backup> list();

  /**
   * Reads all files of all backups.
   *
   * @return what is damaged or missing; empty if nothing is
   */
  List<Finding> verify();

  /**
   * Makes a store of a backup. All of it is durable when this returns; no store is there before.
   *
   * @param id {@link Backup#id} of one that is listed
   * @param target empty or not there yet; if this fails, it is again as it was
   * @throws io.isobardb.lsm.error.FormatException if the target is not empty
   * @throws IllegalArgumentException if there is no such backup, or the target lies within a store
   *     or a directory of backups; nothing is made
   */
  void restore(long id, Path target);

  /**
   * Deletes a backup, whether it can be read or not, and the SSTables that no other one has.
   *
   * @param id {@link Backup#id} of one that is there
   */
  void delete(long id);

  /**
   * Deletes all but the last backups. Those that can't be read don't count, and go with older ones.
   *
   * @param count how many to keep, at least 1
   * @return how many were deleted
   */
  int keep(int count);

  /** Does nothing if it is closed. */
  @Override
  void close();
}
