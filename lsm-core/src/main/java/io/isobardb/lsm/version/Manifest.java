package io.isobardb.lsm.version;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.NoSuchFileException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The log of version edits over all trees of a store; what it says exists, exists.
 *
 * <p>An edit is durable when {@link #append} returns, or after {@link #appendUnsynced} and {@link
 * #sync}; the death of the process alone takes none. The file is replaced by a new one that begins
 * with a snapshot when it has grown, when the store is opened, and after the disk was full; the
 * file CURRENT, replaced by renaming, says which is in force. The file before it is kept.
 *
 * <p>Thread rule: the caller serialises all calls; {@link #append} blocks for a sync, so it belongs
 * on the engine's threads.
 *
 * <p>Errors: the first write or sync that fails, for want of space excepted, is final: {@link
 * #append} throws it, and later calls throw {@link StoreFailedException}. Whether the edits of a
 * failed append took effect is not known until the store is opened again, so the files they name,
 * the removed and the added ones, must stay. After a {@link DiskFullException} it is known that
 * they did not.
 */
public final class Manifest implements AutoCloseable {
  /** A fair {@code rollBytes} for {@link #create} and {@link #open}. */
  public static final long DEFAULT_ROLL_BYTES = 1 << 20;

  private final Storage storage;
  private final ManifestFiles files;
  private final long rollBytes;

  private final StoreContents contents = new StoreContents();

  /** The file in force; after opening it is known by name only and {@link #file} is null. */
  private ManifestLayout.Identity identity;

  private long previous;
  private long nextNumber;
  private @Nullable DataFile file;
  private long endBytes;

  /** What of the file in force is synced; at most {@link #endBytes}. */
  private long syncedBytes;

  /** Whether the file in force has edits that are not synced. */
  private boolean unsynced;

  /** What CURRENT says. */
  private ManifestLayout.Synced promised = ManifestLayout.Synced.UNKNOWN;

  private long rollAtBytes;
  private @Nullable Throwable failure;
  private boolean closed;

  private Manifest(
      Storage storage, PagePool pool, ManifestLayout.Identity identity, long rollBytes) {
    this.storage = storage;
    this.identity = identity;
    this.rollBytes = rollBytes;
    this.files = new ManifestFiles(storage, pool);
  }

  /** Whether the directory holds a store. */
  public static boolean exists(Storage storage) throws IOException {
    return storage.exists(ManifestLayout.CURRENT);
  }

  /**
   * Makes an empty manifest; it is durable when this returns.
   *
   * @param pool lends a buffer of 64 KB until {@link #close}
   * @param storeIdHigh half of the store's ID, which all its files carry
   * @param storeIdLow the other half
   * @param rollBytes a file is not replaced before so many bytes of edits were appended
   * @throws FormatException if there is a store already
   */
  public static Manifest create(
      Storage storage, PagePool pool, long storeIdHigh, long storeIdLow, long rollBytes)
      throws IOException {
    if (exists(storage)) {
      throw new FormatException(storage.path() + " holds a store already");
    }
    Manifest manifest =
        new Manifest(
            storage, pool, new ManifestLayout.Identity(storeIdHigh, storeIdLow, 0), rollBytes);
    try {
      manifest.nextNumber = 1 + highestNumber(storage);
      manifest.roll();
      return manifest;
    } catch (Throwable t) {
      manifest.closeQuietly(t);
      throw t;
    }
  }

  /**
   * Makes a manifest of edits: there is no store before, and all of it when this returns.
   *
   * @param pool lends a buffer of 64 KB
   * @throws FormatException if there is a store already
   */
  public static void create(Storage storage, PagePool pool, UUID storeId, List<VersionEdit> edits)
      throws IOException {
    if (exists(storage)) {
      throw new FormatException(storage.path() + " holds a store already");
    }
    ManifestLayout.Identity identity =
        new ManifestLayout.Identity(
            storeId.getMostSignificantBits(), storeId.getLeastSignificantBits(), 0);
    try (Manifest manifest = new Manifest(storage, pool, identity, DEFAULT_ROLL_BYTES)) {
      manifest.nextNumber = 1 + highestNumber(storage);
      manifest.contents.apply(edits);
      manifest.roll();
    }
  }

  /**
   * Reads the manifest. Changes nothing on disk.
   *
   * @param pool lends a buffer of 64 KB until the manifest is closed
   * @param rollBytes a file is not replaced before so many bytes of edits were appended
   * @throws FormatException if the directory is not a store, or of a newer format
   * @throws CorruptionException if the manifest is damaged in front of its tail
   */
  public static Recovered open(Storage storage, PagePool pool, long rollBytes) throws IOException {
    Manifest manifest =
        new Manifest(storage, pool, new ManifestLayout.Identity(0, 0, 0), rollBytes);
    try {
      return manifest.recover();
    } catch (Throwable t) {
      manifest.closeQuietly(t);
      throw t;
    }
  }

  /** The store's ID, which all its files carry. */
  public UUID storeId() {
    return new UUID(identity.storeIdHigh(), identity.storeIdLow());
  }

  /** The name of the file in force. */
  public String fileName() {
    return identity.fileName();
  }

  /**
   * Makes durable what was read: after the process alone has died, an edit or a new CURRENT that
   * nobody synced can be read. To be called before anything is deleted that only they don't name.
   *
   * <p>A sync is not enough for that: after one that failed, the system may show what it has not
   * written, and take it for written. And a process that lost its lock may go on writing to the
   * file, which it has open. So a new file takes its place.
   *
   * <p>A store of an older format has the current one from here on.
   *
   * @throws DiskFullException if there is no room; nothing happened
   */
  public void settle() throws IOException {
    if (file == null) {
      roll();
    }
  }

  /**
   * Goes on with the file that was read, instead of a new one: there is nothing to settle if the
   * caller has {@linkplain #create made} it and held the store's lock since.
   */
  public void goOn() throws IOException {
    file = storage.open(identity.fileName(), IoMode.BUFFERED);
    syncedBytes = endBytes;
    rollAtBytes = rollAt(endBytes);
  }

  private long rollAt(long snapshotBytes) {
    return snapshotBytes + Math.max(rollBytes, 2 * (snapshotBytes - ManifestLayout.HEADER_BYTES));
  }

  /**
   * Notes in CURRENT how far the manifest and the log are synced, durably: from then on it is
   * damage if they end before that. Without this a torn tail and the end of a store that was closed
   * in order look the same. Does nothing if an earlier write or sync failed.
   *
   * @param logLsn the log is synced up to here, the end of a record
   * @throws DiskFullException if there is no room; nothing happened
   * @throws IOException if a write or a sync failed, which is final
   */
  public void promise(long logLsn) throws IOException {
    if (failure != null) {
      return;
    }
    if (file != null) {
      sync(file);
      syncedBytes = endBytes;
      unsynced = false;
    }
    ManifestLayout.Synced synced =
        new ManifestLayout.Synced(syncedBytes, Math.max(logLsn, promised.logLsn()));
    if (synced.is(promised)) {
      return;
    }
    try {
      writeCurrent(identity, previous, synced);
    } catch (DiskFullException e) {
      throw e;
    } catch (Throwable t) {
      failure = t;
      throw t;
    }
    putInForce();
    promised = synced;
  }

  /**
   * Makes edits durable, all or none of them, in this order.
   *
   * @throws IllegalArgumentException if an edit does not fit what the manifest says; nothing
   *     happened
   * @throws DiskFullException if there is no room; nothing happened, and the next call may succeed
   * @throws IOException if a write or a sync failed, which is final
   * @throws StoreFailedException if an earlier one did
   */
  public void append(List<VersionEdit> edits) throws IOException {
    add(edits, true);
  }

  /**
   * As {@link #append}, but a failure of the machine may take the edits, the latest first, until
   * {@link #sync}, or another call that syncs, has returned.
   */
  public void appendUnsynced(List<VersionEdit> edits) throws IOException {
    add(edits, false);
  }

  private void add(List<VersionEdit> edits, boolean synced) throws IOException {
    checkUsable();
    StoreContents.Undo undo = contents.apply(edits);
    try {
      DataFile target = file;
      if (target == null || endBytes >= rollAtBytes) {
        roll();
      } else {
        write(target, edits);
        if (synced) {
          syncEdits(target);
        }
      }
    } catch (Throwable t) {
      undo.run();
      throw t;
    }
  }

  /**
   * Makes durable what {@link #appendUnsynced} has left.
   *
   * @throws IOException if a write or a sync failed, which is final
   * @throws StoreFailedException if an earlier one did
   */
  public void sync() throws IOException {
    checkUsable();
    DataFile target = file;
    if (unsynced && target != null) {
      syncEdits(target);
    }
  }

  private void checkUsable() {
    if (closed) {
      throw new IllegalStateException("the manifest is closed");
    }
    if (failure != null) {
      throw new StoreFailedException("the manifest could not be written: " + failure, failure);
    }
  }

  /**
   * The names of the files the store consists of, as far as the manifest knows: CURRENT, the
   * manifests, the SSTables. The log is not its business.
   */
  public Set<String> liveFiles() {
    Set<String> names = new HashSet<>();
    names.add(ManifestLayout.CURRENT);
    names.add(identity.fileName());
    if (previous > 0) {
      names.add(ManifestLayout.fileName(previous));
    }
    for (long number : contents.fileNumbers()) {
      names.add(SSTableMeta.fileName(number));
    }
    return names;
  }

  /**
   * Those of the names that are an SSTable's, a manifest's or a temporary file's, but not live:
   * what a crash left behind. Files of flushes and merges in progress are among them too, so this
   * is to be asked before there are any.
   */
  public List<String> orphans(Collection<String> names) {
    Set<String> left = new TreeSet<>(names);
    left.removeAll(liveFiles());
    left.removeIf(name -> !isOwn(name));
    return List.copyOf(left);
  }

  /** The state as the model has it, for tests of the same package. */
  StoreContents contents() {
    return contents;
  }

  /** Whether a file of this name is CURRENT, its successor, a manifest or an SSTable. */
  public static boolean isOwn(String name) {
    return name.equals(ManifestLayout.CURRENT) || isLeftover(name) || isTable(name);
  }

  /** Whether a file of this name may be what a crash left while a store was made. */
  public static boolean isLeftover(String name) {
    return name.equals(ManifestLayout.CURRENT_TEMPORARY) || ManifestLayout.number(name) >= 0;
  }

  private static boolean isTable(String name) {
    return name.endsWith(".sst")
        && ManifestLayout.isDigits(name.substring(0, name.length() - ".sst".length()));
  }

  /** Closes the file and gives the buffer back. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    files.close();
    if (file != null) {
      file.close();
    }
  }

  private void closeQuietly(Throwable cause) {
    try {
      close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  // ---- writing

  private void write(DataFile target, List<VersionEdit> edits) throws IOException {
    files.formatEdits(identity, endBytes, edits);
    try {
      endBytes += files.write(target, endBytes);
      unsynced = true;
    } catch (DiskFullException e) {
      // What was written of the record is not all of it, and no SYNCED record will follow it.
      abandon(target);
      throw e;
    } catch (Throwable t) {
      failure = t;
      throw t;
    }
  }

  private void syncEdits(DataFile target) throws IOException {
    sync(target);
    syncedBytes = endBytes;
    unsynced = false;
    try {
      endBytes += files.writeSynced(target, endBytes, identity);
    } catch (DiskFullException e) {
      // The edits are durable. Only the proof of it is missing; a new file needs none.
      abandon(target);
    } catch (IOException | RuntimeException e) {
      failure = e;
    }
  }

  /**
   * Gives the file up, so that the next append begins a new one. What it has stays in force until
   * then.
   */
  private void abandon(DataFile target) {
    file = null;
    try (target) {
      if (unsynced) {
        sync(target);
        syncedBytes = endBytes;
        unsynced = false;
      }
    } catch (IOException e) {
      failure = e;
    }
  }

  /** Writes a new file with the contents and puts it in force. */
  private void roll() throws IOException {
    ManifestLayout.Identity fresh =
        new ManifestLayout.Identity(identity.storeIdHigh(), identity.storeIdLow(), nextNumber++);
    long oldest = previous;
    DataFile target = null;
    long snapshotBytes;
    ManifestLayout.Synced synced;
    try {
      target = storage.create(fresh.fileName(), IoMode.BUFFERED);
      snapshotBytes = files.writeSnapshot(target, fresh, contents);
      sync(target);
      syncDirectory();
      synced = new ManifestLayout.Synced(snapshotBytes, promised.logLsn());
      writeCurrent(fresh, identity.number(), synced);
    } catch (Throwable t) {
      giveUp(target, fresh, t);
      throw t;
    }
    try {
      putInForce();
    } catch (Throwable t) {
      giveUp(target, null, t);
      throw t;
    }
    promised = synced;
    DataFile old = file;
    file = target;
    previous = identity.number();
    identity = fresh;
    endBytes = snapshotBytes;
    syncedBytes = snapshotBytes;
    unsynced = false;
    rollAtBytes = rollAt(snapshotBytes);
    retire(old, oldest);
  }

  /** Puts CURRENT.tmp in the place of CURRENT, durably; a failure is final. */
  private void putInForce() throws IOException {
    try {
      storage.rename(ManifestLayout.CURRENT_TEMPORARY, ManifestLayout.CURRENT);
      storage.syncDirectory();
    } catch (DiskFullException e) {
      failure = e;
      throw new IOException("the renaming of CURRENT may be lost", e);
    } catch (Throwable t) {
      failure = t;
      throw t;
    }
  }

  private void writeCurrent(
      ManifestLayout.Identity named, long before, ManifestLayout.Synced synced) throws IOException {
    storage.delete(ManifestLayout.CURRENT_TEMPORARY);
    try (DataFile temporary = storage.create(ManifestLayout.CURRENT_TEMPORARY, IoMode.BUFFERED)) {
      files.writeCurrent(temporary, ManifestLayout.current(named, before, synced));
      sync(temporary);
    }
  }

  /**
   * After a failure: closes and, if it can't be in force, deletes the new file. Unless there was
   * merely no room, the failure is final.
   */
  private void giveUp(
      @Nullable DataFile target, ManifestLayout.@Nullable Identity fresh, Throwable cause) {
    if (failure == null && !(cause instanceof DiskFullException)) {
      failure = cause;
    }
    try {
      if (target != null) {
        target.close();
      }
      if (fresh != null && failure == null) {
        storage.delete(fresh.fileName());
        storage.delete(ManifestLayout.CURRENT_TEMPORARY);
      }
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  /** Closes the file that was in force, and deletes the one before it. */
  private void retire(@Nullable DataFile old, long oldest) {
    try {
      if (old != null) {
        old.close();
      }
      if (oldest > 0) {
        storage.delete(ManifestLayout.fileName(oldest));
      }
    } catch (IOException | DiskFullException e) {
      // The edits are durable. What is left behind is an orphan, which the next open finds.
      SystemLog.tell(Level.WARNING, Manifest.class, "could not remove an old manifest", e);
    }
  }

  private void sync(DataFile target) throws IOException {
    try {
      target.sync();
    } catch (DiskFullException e) {
      failure = e;
      throw new IOException("a sync failed", e);
    } catch (Throwable t) {
      failure = t;
      throw t;
    }
  }

  private void syncDirectory() throws IOException {
    try {
      storage.syncDirectory();
    } catch (DiskFullException e) {
      failure = e;
      throw new IOException("a sync of the directory failed", e);
    } catch (Throwable t) {
      failure = t;
      throw t;
    }
  }

  // ---- reading

  private Recovered recover() throws IOException {
    byte[] current;
    try {
      current = files.read(ManifestLayout.CURRENT);
    } catch (NoSuchFileException e) {
      throw new FormatException("not a store: " + storage.path() + " has no file CURRENT", e);
    }
    identity = ManifestLayout.checkCurrent(current, storage.path());
    previous = ManifestLayout.previous(current);
    promised = ManifestLayout.synced(current);
    nextNumber = 1 + Math.max(identity.number(), highestNumber(storage));
    byte[] bytes;
    try {
      bytes = files.read(identity.fileName());
    } catch (NoSuchFileException e) {
      throw new CorruptionException(identity.fileName(), 0, "CURRENT names it, but it is missing");
    }
    ManifestLayout.checkHeader(bytes, identity);
    int end = new ManifestReader(identity, bytes, contents).read();
    if (end < promised.manifestBytes()) {
      throw new CorruptionException(
          identity.fileName(),
          end,
          "the end, or a bad record, though CURRENT says that "
              + promised.manifestBytes()
              + " bytes were synced");
    }
    endBytes = end;
    return contents.recovered(this, bytes.length - end, promised.logLsn());
  }

  private static long highestNumber(Storage storage) throws IOException {
    return storage.list().stream().mapToLong(ManifestLayout::number).max().orElse(0);
  }
}
