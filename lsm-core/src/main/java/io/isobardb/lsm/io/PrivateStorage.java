package io.isobardb.lsm.io;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.option.IoMode;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A directory as its files are, with changes that nobody else sees: they lie on the heap, and are
 * gone with the storage. Nothing of the directory is changed, and no right to write is needed.
 *
 * <p>Thread rule: all methods may be called by any thread; a change of names by one at a time.
 */
public final class PrivateStorage implements Storage {
  private final Storage base;
  private final long mostBytes;
  private final AtomicLong usedBytes = new AtomicLong();
  private final Map<String, PrivateContent> files = new ConcurrentHashMap<>();

  /**
   * @param base is only read; closed with this
   * @param mostBytes what changes may take of the heap
   */
  public PrivateStorage(Storage base, long mostBytes) throws IOException {
    this.base = base;
    this.mostBytes = mostBytes;
    look();
  }

  private void look() throws IOException {
    files.clear();
    for (String name : base.list()) {
      files.put(name, new PrivateContent(this, name));
    }
  }

  Storage base() {
    return base;
  }

  /**
   * Takes some of the heap for changes.
   *
   * @throws DiskFullException if it would be more than they may take
   */
  void take(int bytes) {
    if (usedBytes.addAndGet(bytes) > mostBytes) {
      usedBytes.addAndGet(-bytes);
      throw new DiskFullException(
          "what has to be done to read the store in "
              + base.path()
              + " takes more than the "
              + mostBytes
              + " bytes of heap that it may take; nothing was changed: give it a larger memoryBudget,"
              + " and the JVM twice as much heap, or open it once to be written");
    }
  }

  /** Gives back what {@link #take} had. */
  void giveBack(long bytes) {
    usedBytes.addAndGet(-bytes);
  }

  @Override
  public String path() {
    return base.path();
  }

  @Override
  public boolean discardsChanges() {
    return true;
  }

  @Override
  public boolean supportsDirect() {
    return false;
  }

  @Override
  public DataFile create(String name, IoMode mode) throws IOException {
    PrivateContent fresh = new PrivateContent(this, null);
    if (files.putIfAbsent(name, fresh) != null) {
      throw new FileAlreadyExistsException(name);
    }
    return new PrivateFile(name, fresh);
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    PrivateContent content = files.get(name);
    if (content == null) {
      throw new NoSuchFileException(name);
    }
    return new PrivateFile(name, content);
  }

  @Override
  public List<String> list() {
    return new ArrayList<>(files.keySet());
  }

  @Override
  public boolean exists(String name) {
    return files.containsKey(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    PrivateContent content = files.remove(from);
    if (content == null) {
      throw new NoSuchFileException(from);
    }
    onDeleted(files.put(to, content));
  }

  @Override
  public void delete(String name) {
    onDeleted(files.remove(name));
  }

  private static void onDeleted(@Nullable PrivateContent content) {
    if (content != null) {
      content.onDeleted();
    }
  }

  @Override
  public void syncDirectory() {
    // Nothing of it is to last.
  }

  @Override
  public int descriptorsHeld() {
    return base.descriptorsHeld();
  }

  @Override
  public long usableBytes() {
    return Math.max(0, mostBytes - usedBytes.get());
  }

  /**
   * Keeps writers out, as {@link #lockToRead} of the directory does, and looks at what is there.
   *
   * @throws StoreLockedException if somebody writes to it, or this process reads it
   */
  @Override
  public void lock() throws IOException {
    base.lockToRead();
    // Somebody may have written since.
    look();
  }

  @Override
  public @Nullable String lockToRead() throws IOException {
    return base.lockToRead();
  }

  @Override
  public void describeHolder(String holder) {
    base.describeHolder(holder);
  }

  @Override
  public void close() throws IOException {
    base.close();
    files.clear();
  }
}
