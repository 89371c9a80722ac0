package io.isobardb.lsm.io;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Passes all calls on to another storage: subclasses change the ones they are about. */
public abstract class ForwardingStorage implements Storage {
  private final Storage storage;

  /** Passes on to {@code storage}. */
  protected ForwardingStorage(Storage storage) {
    this.storage = storage;
  }

  /** The file that users get for one of the other storage. */
  protected abstract DataFile wrap(DataFile file, IoMode mode);

  @Override
  public String path() {
    return storage.path();
  }

  @Override
  public boolean supportsDirect() {
    return storage.supportsDirect();
  }

  @Override
  public boolean mayCopyOnWrite() {
    return storage.mayCopyOnWrite();
  }

  @Override
  public boolean discardsChanges() {
    return storage.discardsChanges();
  }

  @Override
  public void describeHolder(String holder) {
    storage.describeHolder(holder);
  }

  @Override
  public DataFile create(String name, IoMode mode) throws IOException {
    return wrap(storage.create(name, mode), mode);
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    return wrap(storage.open(name, mode), mode);
  }

  @Override
  public List<String> list() throws IOException {
    return storage.list();
  }

  @Override
  public boolean exists(String name) throws IOException {
    return storage.exists(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    storage.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    storage.delete(name);
  }

  @Override
  public boolean shrink(String name, long bytes) throws IOException {
    return storage.shrink(name, bytes);
  }

  @Override
  public void syncDirectory() throws IOException {
    storage.syncDirectory();
  }

  @Override
  public long usableBytes() throws IOException {
    return storage.usableBytes();
  }

  @Override
  public Clock callClock(Clock clock) {
    return storage.callClock(clock);
  }

  @Override
  public int descriptorsHeld() {
    return storage.descriptorsHeld();
  }

  @Override
  public void lock() throws IOException {
    storage.lock();
  }

  @Override
  public @Nullable String lockToRead() throws IOException {
    return storage.lockToRead();
  }

  @Override
  public void ensureHeld() throws IOException {
    storage.ensureHeld();
  }

  @Override
  public void abandon(Throwable cause) {
    storage.abandon(cause);
  }

  @Override
  public void close() throws IOException {
    storage.close();
  }

  /** Passes all calls on to another file. */
  public abstract static class ForwardingFile implements DataFile {
    private final DataFile file;

    /** Passes on to {@code file}. */
    protected ForwardingFile(DataFile file) {
      this.file = file;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      return file.read(offset, target, targetOffset, length);
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      file.write(offset, source, sourceOffset, length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      file.writeAll(offset, sources, sourceOffsets, count, length);
    }

    @Override
    public Memory map(long offset, int length) throws IOException {
      return file.map(offset, length);
    }

    @Override
    public void sync() throws IOException {
      file.sync();
    }

    @Override
    public boolean holdsDescriptor() {
      return file.holdsDescriptor();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
