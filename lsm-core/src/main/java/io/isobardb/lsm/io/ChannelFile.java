package io.isobardb.lsm.io;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.system.FileMapping;
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
 * <p>A file that was opened to be read may be without a channel between calls, to save the
 * descriptor; see {@link OpenFiles}.
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

  /** Null while there is none; the next call opens one. */
  private volatile @Nullable FileChannel channel;

  private volatile @Nullable RandomAccessFile syncHandle;
  private volatile @Nullable FileMapping mapping;
  private boolean closed;

  /** Whether it was read since {@link OpenFiles} last asked. A lost update does no harm. */
  private boolean read;

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
        if (current == null) {
          replace(null);
          continue;
        }
        try {
          return call.on(current);
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          replace(current);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Opens another channel, unless that was done already or the file was closed on purpose. */
  private void replace(@Nullable FileChannel broken) throws IOException {
    channelLock.lock();
    try {
      if (closed) {
        throw new ClosedChannelException();
      }
      if (channel == broken) {
        if (broken != null) {
          channel = null;
          storage.descriptors().onClosed();
        }
        channel = storage.reopen(place, mode);
        if (syncHandle == null) {
          storage.descriptors().mayPark(this);
        }
      }
    } finally {
      channelLock.unlock();
    }
  }

  @Override
  public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
    if (!read) {
      read = true;
    }
    ByteBuffer buffer = target.slice(targetOffset, length);
    try {
      return (int) uninterrupted(current -> readFully(current, offset, buffer));
    } catch (IOException e) {
      throw FileErrors.explain("can't be read at offset " + offset, storage.pathOf(name), e);
    }
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
      throw storage.explain("can't be written at offset " + offset, name, e, length);
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
      throw storage.explain("can't be written at offset " + offset, name, e, (long) count * length);
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
  public Memory map(long offset, int length) throws IOException {
    if (mapping != null) {
      throw new IllegalStateException(name + " is mapped already");
    }
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        // The mapping outlives the handle, which is nobody else's.
        FileChannel handle = storage.openToMap(place);
        try (handle) {
          FileMapping made = FileMapping.of(handle, offset, length);
          mapping = made;
          return made.memory();
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
        } catch (UnsupportedOperationException e) {
          throw new IOException("the file system can't map files", e);
        } finally {
          storage.descriptors().onClosed();
        }
      }
    } catch (IOException e) {
      throw FileErrors.explain("can't be mapped into memory", storage.pathOf(name), e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void sync() throws IOException {
    prepareSync();
    try {
      FileMapping mapped = mapping;
      if (mapped != null) {
        mapped.force();
      }
      force();
      // What somebody else did not find here must not be called durable.
      storage.ensureHeld();
    } catch (IOException e) {
      // A full disk is no excuse here: what was to be synced may be lost.
      throw FileErrors.explain("can't be synced", storage.pathOf(name), e);
    }
  }

  private void force() throws IOException {
    boolean interrupted = Thread.interrupted();
    FileChannel current = channel;
    try {
      if (current == null) {
        throw new ClosedChannelException();
      }
      current.force(false);
    } catch (ClosedChannelException e) {
      interrupted |= Thread.interrupted();
      replace(current);
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
  public boolean holdsDescriptor() {
    return channel != null;
  }

  /** Whether it may do without a descriptor between calls, and has one. */
  boolean mayPark() {
    return holdsDescriptor() && syncHandle == null;
  }

  /** Whether it was read since this was last called. */
  boolean wasReadSinceAsked() {
    boolean was = read;
    read = false;
    return was;
  }

  /**
   * Gives the descriptor back until the next call. Waits for none that opens or closes the file.
   *
   * @return whether it had one, and did
   */
  boolean park() throws IOException {
    if (!channelLock.tryLock()) {
      return false;
    }
    try {
      FileChannel current = channel;
      if (current == null || syncHandle != null) {
        return false;
      }
      channel = null;
      storage.descriptors().onClosed();
      current.close();
      return true;
    } finally {
      channelLock.unlock();
    }
  }

  @Override
  public long size() throws IOException {
    try {
      return uninterrupted(FileChannel::size);
    } catch (IOException e) {
      throw FileErrors.explain("can't be asked for its size", storage.pathOf(name), e);
    }
  }

  @Override
  public void truncate(long size) throws IOException {
    prepareSync();
    positionLock.lock();
    try {
      uninterrupted(current -> current.truncate(size).position());
    } catch (IOException e) {
      throw FileErrors.explain("can't be cut to " + size + " bytes", storage.pathOf(name), e);
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
      FileMapping mapped = mapping;
      if (mapped != null) {
        mapped.free();
      }
      RandomAccessFile handle = syncHandle;
      FileChannel current = channel;
      storage.descriptors().forget(this);
      try (current;
          handle) {
        channel = null;
      } catch (IOException e) {
        throw FileErrors.explain("can't be closed", storage.pathOf(name), e);
      } finally {
        for (int held = (current == null ? 0 : 1) + (handle == null ? 0 : 1); held > 0; held--) {
          storage.descriptors().onClosed();
        }
        storage.onReleased(place);
      }
    } finally {
      channelLock.unlock();
    }
  }
}
