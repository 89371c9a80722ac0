package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Files as byte arrays, open to tampering. Insists on aligned reads and writes. */
final class HeapStorage implements Storage {
  final Map<String, byte[]> files = new HashMap<>();
  int openFiles;
  int failAfterWrites = Integer.MAX_VALUE;
  long bytesRead;

  @Override
  public String path() {
    return "heap";
  }

  @Override
  public boolean supportsDirect() {
    return true;
  }

  @Override
  public DataFile create(String name, IoMode mode) {
    files.put(name, new byte[0]);
    openFiles++;
    return new HeapFile(name, mode);
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    if (!files.containsKey(name)) {
      throw new NoSuchFileException(name);
    }
    openFiles++;
    return new HeapFile(name, mode);
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
  public void rename(String from, String to) {
    files.put(to, files.remove(from));
  }

  @Override
  public void delete(String name) {
    files.remove(name);
  }

  @Override
  public void syncDirectory() {}

  @Override
  public int descriptorsHeld() {
    return openFiles;
  }

  @Override
  public long usableBytes() {
    return Long.MAX_VALUE;
  }

  @Override
  public void lock() {}

  @Override
  public @Nullable String lockToRead() {
    return null;
  }

  @Override
  public void close() {}

  private final class HeapFile implements DataFile {
    private final String name;
    private final boolean direct;

    HeapFile(String name, IoMode mode) {
      this.name = name;
      this.direct = mode == IoMode.DIRECT;
    }

    @Override
    public String name() {
      return name;
    }

    private void checkAligned(long offset, int length) {
      if (direct && (offset % BLOCK != 0 || length % BLOCK != 0)) {
        throw new AssertionError("not aligned: " + offset + " + " + length);
      }
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) {
      checkAligned(offset, length);
      byte[] bytes = files.get(name);
      int got = (int) Math.max(0, Math.min(length, bytes.length - offset));
      bytesRead += length;
      if (got > 0) {
        target.put(targetOffset, bytes, (int) offset, got);
      }
      return got;
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      checkAligned(offset, length);
      if (--failAfterWrites < 0) {
        throw new IOException("injected");
      }
      byte[] bytes = files.get(name);
      if (bytes.length < offset + length) {
        bytes = Arrays.copyOf(bytes, (int) offset + length);
        files.put(name, bytes);
      }
      source.get(sourceOffset, bytes, (int) offset, length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      for (int i = 0; i < count; i++) {
        write(offset + (long) i * length, sources[i], sourceOffsets[i], length);
      }
    }

    @Override
    public Memory map(long offset, int length) {
      throw new UnsupportedOperationException("SSTables are not mapped");
    }

    @Override
    public void sync() {}

    @Override
    public boolean holdsDescriptor() {
      return true;
    }

    @Override
    public long size() {
      return files.get(name).length;
    }

    @Override
    public void truncate(long size) {
      files.put(name, Arrays.copyOf(files.get(name), (int) size));
    }

    @Override
    public void close() {
      openFiles--;
    }
  }
}
