package io.isobardb.lsm.recovery;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.recovery.BackupFile.Table;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A directory of backups. An SSTable is stored once, under the hash of its contents, however many
 * backups have it: so stores that were one once and are now changed apart can share the place.
 *
 * <p>A backup is there once its {@link BackupFile} has its name; before, all its SSTables are
 * durable. It is deleted in the other order. What a crash leaves is deleted by the next change.
 * While the file of a backup can't be read no SSTable is deleted.
 *
 * <p>What belongs to no backup is found by reading the files of all. A change that leaves nothing
 * of the kind notes that in {@code SWEPT}, so that the next backup need not look.
 *
 * <p>Each change holds the lock of the directory. Reading needs no lock, and no right to write: a
 * reader that misses a file looks whether the backup is still there.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class BackupDirectory implements AutoCloseable {
  /** How the names of SSTables end. */
  static final String TABLE = ".table";

  private static final String TEMPORARY = ".tmp";
  private static final String MARKER = NewDirectory.BACKUPS;

  /**
   * Holds the hash of the names of all other files, as they were when each SSTable belonged to a
   * backup. If they are others, something may be left of a change that was cut off.
   */
  private static final String SWEPT = "SWEPT";

  private static final int COPY_BYTES = 256 << 10;

  private final Storage storage;

  /** The same directory, to read. */
  private final Storage reader;

  private final PagePool pool;
  private final Block buffer;

  private BackupDirectory(Storage storage) {
    this.storage = storage;
    this.reader = storage.toRead();
    this.pool = new PagePool(1 << 20, 4096);
    this.buffer = pool.blocks().allocate(COPY_BYTES, Purpose.MERGE);
  }

  /**
   * Opens a directory of backups, or makes one of an empty directory.
   *
   * @param storage the directory; closed with this, or when this fails
   * @throws FormatException if it has other files
   */
  public static BackupDirectory open(Storage storage) throws IOException {
    BackupDirectory directory = new BackupDirectory(storage);
    try {
      if (!storage.exists(MARKER)) {
        directory.begin();
      }
      return directory;
    } catch (Throwable e) {
      directory.close();
      throw e;
    }
  }

  private void begin() throws IOException {
    checkCreatable();
    changing(
        () -> {
          if (!storage.exists(MARKER)) {
            checkCreatable();
            try {
              write(MARKER, new byte[0]);
            } catch (Throwable e) {
              abandon(e);
              throw e;
            }
          }
        });
  }

  /** Leaves the directory as it was, as far as that can be done. */
  private void abandon(Throwable cause) {
    try {
      storage.delete(MARKER + TEMPORARY);
      storage.delete(MARKER);
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
    storage.abandon(cause);
  }

  private void checkCreatable() throws IOException {
    List<String> names = storage.list();
    if (!names.isEmpty() && !names.equals(List.of(MARKER + TEMPORARY))) {
      throw new FormatException(
          storage.path()
              + " holds no backups, and is not empty: it holds "
              + ForeignFiles.of(names)
              + "; give an empty directory, or one that does not exist");
    }
  }

  private interface Change {
    void run() throws IOException;
  }

  /** Makes a change under the lock. */
  private void changing(Change change) throws IOException {
    storage.lock();
    try {
      change.run();
    } finally {
      storage.close();
    }
  }

  /** Where it is. */
  public String path() {
    return storage.path();
  }

  /** Whether it is somewhere below another directory. */
  public boolean liesWithin(String directory) {
    String path = storage.path();
    return path.length() > directory.length()
        && path.startsWith(directory)
        && "/\\".indexOf(path.charAt(directory.length())) >= 0;
  }

  /**
   * A backup that can be read.
   *
   * @param id of this directory; later ones have higher ones
   * @param storePath where the store was
   * @param createdMillis when it was made, since the Unix epoch
   * @param sizeBytes of its SSTables
   * @param copiedBytes of those that had to be copied
   */
  public record Entry(
      long id, String storePath, long createdMillis, int tables, long sizeBytes, long copiedBytes) {
    static Entry of(BackupFile backup) {
      return new Entry(
          backup.id(),
          backup.source().path(),
          backup.source().createdMillis(),
          backup.tables().size(),
          backup.tables().stream().mapToLong(Table::sizeBytes).sum(),
          backup.copiedBytes());
    }
  }

  /** A backup under way. It holds the lock of the directory. */
  public final class Draft {
    private final List<Table> tables = new ArrayList<>();
    private final ReadMemory memory;
    private final long id;
    private long copied;

    private Draft(int pageSize) throws IOException {
      sweep();
      List<Long> ids = ids();
      this.id = ids.isEmpty() ? 1 : ids.get(ids.size() - 1) + 1;
      this.memory = StoreCopy.memory(pageSize);
    }

    /** Writes what the store has in memory. */
    public void writeMemory(StoreImage image) throws IOException {
      image.writeMemory(memory.space(storage, IoMode.BUFFERED, image.storeId(), image::label));
    }

    /** Copies the rest, and makes the backup. */
    public Entry finish(StoreImage image, Storage source, long createdMillis, StoreCopy.Pace pace)
        throws IOException {
      BackupFile.Source from =
          new BackupFile.Source(
              image.storeId(), memory.pool().pageSize(), source.path(), image.lsn(), createdMillis);
      for (SSTableMeta meta : image.written()) {
        keepWritten(meta, pace);
      }
      Set<Stored> earlier = earlierTables(from);
      for (SSTableMeta meta : image.stored()) {
        add(earlier, new Origin(image, source), meta, pace);
      }
      storage.syncDirectory();
      BackupFile backup = new BackupFile(id, from, copied, image.edits(), tables);
      String name = BackupFile.fileName(id);
      // It holds true once the backup is there.
      noteSwept(name);
      write(name, backup.encode());
      return Entry.of(backup);
    }

    /** Gives an SSTable that was written here the name of its contents. */
    private void keepWritten(SSTableMeta meta, StoreCopy.Pace pace) throws IOException {
      Table table = new Table(meta.fileNumber(), meta.sizeBytes(), "");
      try (DataFile file = storage.open(meta.fileName(), IoMode.BUFFERED)) {
        table = new Table(meta.fileNumber(), file.size(), hash(file, pace));
      }
      name(meta.fileName(), table);
    }

    private void add(Set<Stored> earlier, Origin origin, SSTableMeta meta, StoreCopy.Pace pace)
        throws IOException {
      String name = meta.fileName();
      try (DataFile file = origin.directory().open(name, IoMode.BUFFERED)) {
        Table table = new Table(meta.fileNumber(), file.size(), "");
        if (table.sizeBytes() != meta.sizeBytes()) {
          throw origin.corrupt(meta, table.sizeBytes());
        }
        if (earlier.contains(Stored.of(table))) {
          table = new Table(table.number(), table.sizeBytes(), hash(file, pace));
          if (isThere(table)) {
            tables.add(table);
            return;
          }
        }
        storage.delete(name);
        String hash;
        try (DataFile target = storage.create(name, IoMode.BUFFERED)) {
          hash = copy(file, target, pace);
        }
        checkCopy(origin, meta, pace);
        name(name, new Table(table.number(), table.sizeBytes(), hash));
      }
    }

    /** Else a damaged store would replace, backup by backup, those from before the damage. */
    private void checkCopy(Origin origin, SSTableMeta meta, StoreCopy.Pace pace)
        throws IOException {
      StoreImage image = origin.image();
      SSTable copy =
          SSTable.onDisk(
              memory.space(storage, IoMode.BUFFERED, image.storeId(), image::label),
              KeyOrder.BYTES,
              meta);
      try {
        copy.checkPages(() -> pace.onCopied(0));
      } catch (CorruptionException e) {
        throw origin.corrupt(e);
      } finally {
        copy.release();
      }
    }

    /** Whether an earlier backup has it. One that was cut off since is copied again, for all. */
    private boolean isThere(Table table) throws IOException {
      if (!storage.exists(table.fileName())) {
        return false;
      }
      try (DataFile file = storage.open(table.fileName(), IoMode.BUFFERED)) {
        return file.size() == table.sizeBytes();
      }
    }

    /** Gives a durable file the name of its contents, which another backup may have, too. */
    private void name(String file, Table table) throws IOException {
      if (!storage.exists(table.fileName())) {
        copied += table.sizeBytes();
      }
      storage.rename(file, table.fileName());
      tables.add(table);
    }

    /** Gives memory and the lock back; deletes what was not made a backup of. */
    public void close() throws IOException {
      try {
        memory.close();
        sweep();
      } finally {
        storage.close();
      }
    }
  }

  /** The store that is backed up, and where it is. */
  private record Origin(StoreImage image, Storage directory) {
    CorruptionException corrupt(SSTableMeta meta, long bytes) {
      return new CorruptionException(
              meta.fileName(),
              bytes,
              "a file of " + bytes + " bytes, not " + meta.sizeBytes(),
              image.label(meta.treeId()).name())
          .in(directory.path());
    }

    /** What was found in a copy, told of what was copied. */
    CorruptionException corrupt(CorruptionException e) {
      CorruptionException told = new CorruptionException(e.file(), e.offset(), e.what(), e.tree());
      told.initCause(e);
      return told.in(directory.path());
    }
  }

  /** What is known of a store's SSTable without reading it. */
  private record Stored(long number, long sizeBytes) {
    static Stored of(Table table) {
      return new Stored(table.number(), table.sizeBytes());
    }
  }

  /**
   * SSTables that this store most probably has in common with earlier backups. Those are read from
   * the newest one back to one of the same place. On the way may be others of the same store: it
   * was moved, or stores were made of one backup.
   */
  private Set<Stored> earlierTables(BackupFile.Source source) throws IOException {
    Set<Stored> known = new HashSet<>();
    List<Long> ids = new ArrayList<>(ids());
    Collections.reverse(ids);
    for (long id : ids) {
      BackupFile backup = readWhole(id, new ArrayList<>());
      if (backup != null && backup.source().storeId().equals(source.storeId())) {
        backup.tables().forEach(table -> known.add(Stored.of(table)));
        if (backup.source().path().equals(source.path())) {
          break;
        }
      }
    }
    return known;
  }

  /**
   * Begins a backup of a store with pages of this size.
   *
   * @throws io.isobardb.lsm.error.StoreLockedException if another change is under way
   */
  public Draft begin(int pageSize) throws IOException {
    storage.lock();
    try {
      return new Draft(pageSize);
    } catch (Throwable e) {
      storage.close();
      throw e;
    }
  }

  private String hash(DataFile file, StoreCopy.Pace pace) throws IOException {
    MessageDigest digest = BackupFile.digest();
    Memory memory = buffer.memory();
    for (long at = 0, size = file.size(); at < size; ) {
      int read = file.read(at, memory, 0, (int) Math.min(COPY_BYTES, size - at));
      if (read == 0) {
        break;
      }
      digest.update(memory.slice(0, read));
      at += read;
      pace.onCopied(read);
    }
    return BackupFile.text(digest);
  }

  /** Copies a file, durably; gives the hash of what was copied. */
  private String copy(DataFile from, DataFile to, StoreCopy.Pace pace) throws IOException {
    MessageDigest digest = BackupFile.digest();
    StoreCopy.copy(from, to, buffer.memory(), pace, digest::update);
    return BackupFile.text(digest);
  }

  /** Writes a small file, durably; it is there whole or not at all. */
  private void write(String name, byte[] bytes) throws IOException {
    String temporary = name + TEMPORARY;
    storage.delete(temporary);
    try (DataFile file = storage.create(temporary, IoMode.BUFFERED)) {
      Memory memory = buffer.memory();
      for (int at = 0; at < bytes.length; at += COPY_BYTES) {
        int length = Math.min(COPY_BYTES, bytes.length - at);
        memory.put(0, bytes, at, length);
        file.write(at, memory, 0, length);
      }
      file.sync();
    }
    storage.rename(temporary, name);
    storage.syncDirectory();
  }

  private byte[] read(String name) throws IOException {
    try (DataFile file = reader.open(name, IoMode.BUFFERED)) {
      byte[] bytes = new byte[Math.toIntExact(file.size())];
      Memory memory = buffer.memory();
      for (int at = 0; at < bytes.length; at += COPY_BYTES) {
        int length = Math.min(COPY_BYTES, bytes.length - at);
        if (file.read(at, memory, 0, length) < length) {
          throw new CorruptionException(name, at, "the file ends early");
        }
        memory.get(0, bytes, at, length);
      }
      return bytes;
    }
  }

  private List<Long> ids() throws IOException {
    return reader.list().stream().map(BackupFile::idOf).filter(id -> id >= 0).sorted().toList();
  }

  private BackupFile read(long id) throws IOException {
    String name = BackupFile.fileName(id);
    if (!reader.exists(name)) {
      throw new IllegalArgumentException(
          "there is no backup " + id + " in " + storage.path() + "; known are " + ids());
    }
    try {
      return BackupFile.decode(id, read(name));
    } catch (CorruptionException e) {
      throw e.in(storage.path());
    }
  }

  /**
   * The backups that can be read, oldest first. One that is deleted meanwhile may be left out.
   *
   * @param findings gets why others can't be
   */
  private List<BackupFile> readAll(List<Finding> findings) throws IOException {
    List<BackupFile> backups = new ArrayList<>();
    for (long id : ids()) {
      BackupFile backup = readWhole(id, findings);
      if (backup != null) {
        backups.add(backup);
      }
    }
    return backups;
  }

  /** A backup; or null if it can't be read, which {@code findings} tells, or is deleted by now. */
  private @Nullable BackupFile readWhole(long id, List<Finding> findings) throws IOException {
    String name = BackupFile.fileName(id);
    try {
      return BackupFile.decode(id, read(name));
    } catch (NoSuchFileException e) {
      return null; // Deleted since it was listed.
    } catch (IsobarException e) {
      findings.add(Finding.of(name, e));
      return null;
    }
  }

  /**
   * The backups, oldest first; those that can't be read are left out, and {@link #verify} tells.
   */
  public List<Entry> list() throws IOException {
    return readAll(new ArrayList<>()).stream().map(Entry::of).toList();
  }

  /** Deletes what belongs to no backup, unless that can't be said. */
  private void sweep() throws IOException {
    if (isSwept()) {
      return;
    }
    List<Finding> unreadable = new ArrayList<>();
    Set<String> needed = tables(readAll(unreadable)).keySet();
    for (String name : storage.list()) {
      boolean left = name.endsWith(TEMPORARY) || name.endsWith(".sst");
      // What can't be read may need any of the SSTables.
      if (left || unreadable.isEmpty() && name.endsWith(TABLE) && !needed.contains(name)) {
        storage.delete(name);
      }
    }
    storage.syncDirectory();
    if (unreadable.isEmpty()) {
      noteSwept();
    }
  }

  /** Whether it is known that nothing here is left over: no file came or went since. */
  private boolean isSwept() {
    try {
      return storage.exists(SWEPT) && Arrays.equals(read(SWEPT), swept(storage.list()));
    } catch (IOException | IsobarException e) {
      return false;
    }
  }

  /**
   * Notes that nothing is left over once the files are these: those that are here, and others of
   * these names. Without the note the next change looks.
   */
  private void noteSwept(String... more) throws IOException {
    List<String> names = new ArrayList<>(storage.list());
    names.addAll(List.of(more));
    try {
      write(SWEPT, swept(names));
    } catch (DiskFullException e) {
      storage.delete(SWEPT + TEMPORARY);
    }
  }

  /** What the note says if these files are here, itself aside. */
  private static byte[] swept(List<String> names) {
    MessageDigest digest = BackupFile.digest();
    names.stream()
        .filter(name -> !name.equals(SWEPT))
        .sorted()
        .forEach(name -> digest.update((name + "\n").getBytes(UTF_8)));
    return ("isobar swept 1\n" + BackupFile.text(digest) + "\n").getBytes(UTF_8);
  }

  /** All SSTables of backups, by the names of their files. */
  private static TreeMap<String, Table> tables(List<BackupFile> backups) {
    TreeMap<String, Table> tables = new TreeMap<>();
    for (BackupFile backup : backups) {
      backup.tables().forEach(table -> tables.put(table.fileName(), table));
    }
    return tables;
  }

  /** Reads all files of all backups, each once. */
  public List<Finding> verify() throws IOException {
    List<Finding> findings = new ArrayList<>();
    List<Finding> ofTables = new ArrayList<>();
    for (Table table : tables(readAll(findings)).values()) {
      try (DataFile file = reader.open(table.fileName(), IoMode.BUFFERED)) {
        if (!hash(file, bytes -> {}).equals(table.hash())) {
          ofTables.add(Finding.of(table.fileName(), "its contents are not what its name says"));
        }
      } catch (IOException e) {
        ofTables.add(Finding.of(table.fileName(), e));
      }
    }
    if (!ofTables.isEmpty()) {
      // SSTables of backups that were deleted meanwhile may be gone.
      Set<String> needed = tables(readAll(new ArrayList<>())).keySet();
      ofTables.removeIf(finding -> !needed.contains(finding.file()));
    }
    findings.addAll(ofTables);
    return findings;
  }

  /**
   * Makes a store of a backup.
   *
   * @param target an empty directory
   * @throws CorruptionException if a file is not what was backed up; nothing is left of the store
   * @throws IllegalArgumentException if there is no such backup, or it is deleted meanwhile
   */
  public void restore(long id, Storage target) throws IOException {
    BackupFile backup = read(id);
    BackupFile.Source source = backup.source();
    try (StoreCopy copy = new StoreCopy(target, source.storeId(), source.pageSize())) {
      try {
        for (Table table : backup.tables()) {
          String name = SSTableMeta.fileName(table.number());
          try (DataFile from = reader.open(table.fileName(), IoMode.BUFFERED);
              DataFile to = target.create(name, IoMode.BUFFERED)) {
            if (!copy(from, to, bytes -> {}).equals(table.hash())) {
              throw new CorruptionException(
                      table.fileName(), 0, "its contents are not what was backed up")
                  .in(storage.path());
            }
          }
        }
        copy.finish(backup.edits(), source.lsn());
      } catch (NoSuchFileException e) {
        copy.discard(e);
        read(id); // Says that it was deleted meanwhile, if so.
        throw e;
      } catch (IOException | RuntimeException | Error e) {
        copy.discard(e);
        throw e;
      }
    }
  }

  /** Deletes a backup, and the SSTables that no other one has. */
  public void delete(long id) throws IOException {
    changing(
        () -> {
          String name = BackupFile.fileName(id);
          if (!storage.exists(name)) {
            read(id);
          }
          storage.delete(name);
          // Else a crash could bring it back without its SSTables.
          storage.syncDirectory();
          sweep();
        });
  }

  /**
   * Deletes all that are older than the last {@code count} backups that can be read; gives how
   * many.
   */
  public int keep(int count) throws IOException {
    int[] deleted = new int[1];
    changing(
        () -> {
          List<Long> readable = readAll(new ArrayList<>()).stream().map(BackupFile::id).toList();
          long first = readable.size() < count ? 0 : readable.get(readable.size() - count);
          for (long id : ids()) {
            if (id < first) {
              storage.delete(BackupFile.fileName(id));
              deleted[0]++;
            }
          }
          storage.syncDirectory();
          sweep();
        });
    return deleted[0];
  }

  @Override
  public void close() throws IOException {
    pool.release(buffer);
    pool.close();
    reader.close();
    storage.close();
  }
}
