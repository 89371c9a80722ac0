package io.isobardb.lsm.io;

import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file of a {@link DirectoryStorage}, read and written through a channel that is replaced when an
 * interrupt closes it.
 *
 * <p>All writes are idempotent, so what an interrupt broke off is done again. A sync is not: its
 * error is reported once per handle, and an interrupt may hide it. So a second handle is opened
 * before the first write, one that interrupts can't close; it sees every error that the first one
 * may have hidden.
 *
 * <p>Thread rule: any thread. {@link #channelLock} guards replacement and close; {@link
 * #positionLock} guards the channel's position, which gathering writes need.
 */
final class ChannelFile implements DataFile {
  /** What one gathering write takes, on Linux. */
  private static final int MAX_BUFFERS = 1024;

  /** Tries without any progress before a write fails. */
  private static final int MAX_STUCK = 3;

  /** A call on the channel, done again if an interrupt closed it. */
  private interface Call {
    long on(FileChannel channel) throws IOException;
  }

  private final DirectoryStorage storage;
  private final DirectoryStorage.Place place;
  private final String name;
  private final IoMode mode;
  private final ReentrantLock channelLock = new ReentrantLock();
  private final ReentrantLock positionLock = new ReentrantLock();
  private volatile FileChannel channel;
  private volatile @Nullable RandomAccessFile syncHandle;
  private boolean closed;

  ChannelFile(
      DirectoryStorage storage,
      DirectoryStorage.Place place,
      String name,
      IoMode mode,
      FileChannel channel) {
    this.storage = storage;
    this.place = place;
    this.name = name;
    this.mode = mode;
    this.channel = channel;
  }

  @Override
  public String name() {
    return name;
  }

  /** Runs a call until no interrupt comes in between; the thread's flag is kept. */
  private long uninterrupted(Call call) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        FileChannel current = channel;
        try {
          return call.on(current);
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          replace(current, e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Opens another channel, unless that was done already or the file was closed on purpose. */
  private void replace(FileChannel broken, ClosedChannelException cause) throws IOException {
    channelLock.lock();
    try {
      if (closed) {
        throw cause;
      }
      if (channel == broken) {
        channel = storage.reopen(place, mode);
      }
    } finally {
      channelLock.unlock();
    }
  }

  @Override
  public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
    ByteBuffer buffer = target.slice(targetOffset, length);
    return (int) uninterrupted(current -> readFully(current, offset, buffer));
  }

  private long readFully(FileChannel current, long offset, ByteBuffer buffer) throws IOException {
    buffer.rewind();
    while (buffer.hasRemaining()) {
      int count = current.read(buffer, offset + buffer.position());
      // A direct read can't go on from the middle of a block, and stops there at the end only.
      if (count < 0 || (mode == IoMode.DIRECT && count % BLOCK != 0)) {
        break;
      }
    }
    return buffer.position();
  }

  @Override
  public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
    prepareSync();
    ByteBuffer buffer = source.slice(sourceOffset, length);
    try {
      uninterrupted(current -> writeFully(current, offset, buffer));
    } catch (ClosedChannelException e) {
      throw e;
    } catch (IOException e) {
      throw storage.translate(e, name, length);
    }
  }

  private long writeFully(FileChannel current, long offset, ByteBuffer buffer) throws IOException {
    buffer.rewind();
    int stuck = 0;
    while (buffer.hasRemaining()) {
      int from = buffer.position();
      current.write(buffer, offset + from);
      buffer.position(resumeAt(buffer.position()));
      stuck = checkProgress(buffer.position() > from, stuck);
    }
    return buffer.position();
  }

  /** Where to go on after a short write: a direct one must start at a block. */
  private int resumeAt(int done) {
    return mode == IoMode.DIRECT ? done - done % BLOCK : done;
  }

  private int checkProgress(boolean progress, int stuck) throws IOException {
    if (!progress && stuck + 1 >= MAX_STUCK) {
      throw new IOException("a write makes no progress: " + name);
    }
    return progress ? 0 : stuck + 1;
  }

  @Override
  public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
      throws IOException {
    prepareSync();
    try {
      for (int first = 0; first < count; first += MAX_BUFFERS) {
        int buffers = Math.min(MAX_BUFFERS, count - first);
        gather(offset + (long) first * length, sources, sourceOffsets, first, buffers, length);
      }
    } catch (ClosedChannelException e) {
      throw e;
    } catch (IOException e) {
      throw storage.translate(e, name, (long) count * length);
    }
  }

  /** Writes regions with one system call, and what that left over one by one. */
  private void gather(
      long offset, Memory[] sources, int[] sourceOffsets, int first, int count, int length)
      throws IOException {
    ByteBuffer[] buffers = new ByteBuffer[count];
    int runs = 0;
    for (int i = first; i < first + count; ) {
      int from = i++;
      while (i < first + count
          && sources[i] == sources[from]
          && sourceOffsets[i] == sourceOffsets[from] + (i - from) * length) {
        i++;
      }
      buffers[runs++] = sources[from].slice(sourceOffsets[from], (i - from) * length);
    }
    int used = runs;
    long written;
    positionLock.lock();
    try {
      written =
          uninterrupted(
              current -> {
                for (int i = 0; i < used; i++) {
                  buffers[i].rewind();
                }
                current.position(offset);
                return current.write(buffers, 0, used);
              });
    } finally {
      positionLock.unlock();
    }
    long end = 0;
    for (int i = 0; i < used; i++) {
      ByteBuffer rest = buffers[i];
      long at = offset + end;
      end += rest.capacity();
      if (written < end) {
        uninterrupted(current -> writeFully(current, at, rest));
      }
    }
  }

  /** Opens the second handle before there is anything to sync. */
  private void prepareSync() throws IOException {
    if (syncHandle == null) {
      channelLock.lock();
      try {
        if (closed) {
          throw new ClosedChannelException();
        }
        if (syncHandle == null) {
          syncHandle = storage.openForSync(place);
        }
      } finally {
        channelLock.unlock();
      }
    }
  }

  @Override
  public void sync() throws IOException {
    prepareSync();
    boolean interrupted = Thread.interrupted();
    FileChannel current = channel;
    try {
      current.force(false);
    } catch (ClosedChannelException e) {
      interrupted |= Thread.interrupted();
      replace(current, e);
      RandomAccessFile handle = syncHandle;
      if (handle == null) {
        throw e;
      }
      handle.getFD().sync();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public long size() throws IOException {
    return uninterrupted(FileChannel::size);
  }

  @Override
  public void truncate(long size) throws IOException {
    prepareSync();
    positionLock.lock();
    try {
      uninterrupted(current -> current.truncate(size).position());
    } finally {
      positionLock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    channelLock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      RandomAccessFile handle = syncHandle;
      try (handle) {
        channel.close();
      } finally {
        storage.released(place);
      }
    } finally {
      channelLock.unlock();
    }
  }
}
