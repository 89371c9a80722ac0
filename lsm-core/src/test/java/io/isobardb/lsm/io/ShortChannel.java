package io.isobardb.lsm.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A channel as bad as a system may make it: reads and writes do a part of their bytes, and now and
 * then the thread is interrupted, before or after the call, which closes the channel.
 */
class ShortChannel extends FileChannel {
  private final FileChannel channel;
  private final int unit;
  private final @Nullable SplittableRandom random;

  /**
   * @param unit what parts are a multiple of
   * @param random null to disturb nothing
   */
  ShortChannel(FileChannel channel, int unit, @Nullable SplittableRandom random) {
    this.channel = channel;
    this.unit = unit;
    this.random = random;
  }

  /** A call of the channel below. */
  private interface Call {
    long run() throws IOException;
  }

  private synchronized long disturbed(Call call) throws IOException {
    if (random == null) {
      return call.run();
    }
    int dice = random.nextInt(16);
    if (dice == 0) {
      throw interrupt();
    }
    long result = call.run();
    if (dice == 1) {
      throw interrupt();
    }
    return result;
  }

  private ClosedByInterruptException interrupt() throws IOException {
    Thread.currentThread().interrupt();
    close();
    return new ClosedByInterruptException();
  }

  /** Does a part of a call's bytes, at least one unit if there are so many. */
  private int part(ByteBuffer buffer, Call call) throws IOException {
    int limit = buffer.limit();
    int units = buffer.remaining() / unit;
    if (units > 1 && random != null && random.nextInt(2) == 0) {
      buffer.limit(buffer.position() + unit * (1 + random.nextInt(units - 1)));
    }
    try {
      return (int) disturbed(call);
    } finally {
      buffer.limit(limit);
    }
  }

  @Override
  public int read(ByteBuffer target, long position) throws IOException {
    return part(target, () -> channel.read(target, position));
  }

  @Override
  public int write(ByteBuffer source, long position) throws IOException {
    return part(source, () -> channel.write(source, position));
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
    int some = random == null ? length : 1 + random.nextInt(length);
    return disturbed(() -> channel.write(sources, offset, some));
  }

  @Override
  public FileChannel position(long position) throws IOException {
    channel.position(position);
    return this;
  }

  @Override
  public long position() throws IOException {
    return channel.position();
  }

  @Override
  public long size() throws IOException {
    return disturbed(channel::size);
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    disturbed(() -> channel.truncate(size).size());
    return this;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    disturbed(
        () -> {
          channel.force(metaData);
          return 0;
        });
  }

  @Override
  protected void implCloseChannel() throws IOException {
    channel.close();
  }

  // Nobody calls the rest.

  @Override
  public int read(ByteBuffer target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int write(ByteBuffer source) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long position, long count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) throws IOException {
    throw new UnsupportedOperationException();
  }
}
