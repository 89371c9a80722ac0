package io.isobardb.lsm.io;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.system.Region;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** An open file of a {@link PrivateStorage}. */
final class PrivateFile implements DataFile {
  private final String name;
  private final PrivateContent content;
  private @Nullable Region mapped;
  private boolean closed;

  PrivateFile(String name, PrivateContent content) throws IOException {
    this.name = name;
    this.content = content;
    content.onOpened();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
    return content.read(offset, target, targetOffset, length);
  }

  @Override
  public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
    content.write(offset, source, sourceOffset, length);
  }

  @Override
  public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
      throws IOException {
    for (int i = 0; i < count; i++) {
      content.write(offset + (long) i * length, sources[i], sourceOffsets[i], length);
    }
  }

  @Override
  public Memory map(long offset, int length) throws IOException {
    if (mapped != null) {
      throw new IllegalStateException(name + " is mapped already");
    }
    Region region = content.map(offset, length);
    mapped = region;
    return region.memory();
  }

  @Override
  public void sync() {
    // Nothing of it is to last.
  }

  @Override
  public boolean holdsDescriptor() {
    return content.holdsDescriptor();
  }

  @Override
  public long size() {
    return content.size();
  }

  @Override
  public void truncate(long size) {
    content.truncate(size);
  }

  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      if (mapped != null) {
        mapped.free();
      }
      content.onClosed();
    }
  }
}
