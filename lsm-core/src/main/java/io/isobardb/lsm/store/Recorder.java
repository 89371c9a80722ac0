package io.isobardb.lsm.store;

import io.isobardb.lsm.Recording;
import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.observe.OperationStats;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeSize;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.stats.CacheStats;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Writes a sample of what users do to a store to a file: {@link RecordingLayout}.
 *
 * <p>Keys are sampled by what they are, so that all that is done to a key is recorded, or nothing.
 * What is not sampled costs a look at its key. What is, is put into a buffer under a lock; the
 * thread that fills it writes it to the file, which is not synced. A file that can't be written to
 * ends the recording, and fails nothing but its {@link #close}.
 *
 * <p>Refers to nothing that users hold: a store that is recorded can be lost.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Recorder implements Recording {
  private static final int BLOCK_BYTES = 32 << 10;

  /** The most that an operation takes: its kind, four varints and a hash. */
  private static final int OPERATION_BYTES = 1 + 5 + 10 + 8 + 5 + 10;

  /** The most that the last frame takes. */
  private static final int END_BYTES = 128;

  private static final int TREE_BYTES = 25;

  /** Odd, and without a pattern in their bits. */
  private static final long FIRST = 0x9E3779B97F4A7C15L;

  private static final long MIDDLE = 0xD1342543DE82EF95L;
  private static final long LAST = 0xBF58476D1CE4E5B9L;

  private final StoreParts parts;
  private final OperationTotals totals;
  private final Clock clock;
  private final long mask;
  private final long maxBytes;
  private final long startNanos;
  private final Sums atStart;
  private final Runnable onClosed;
  private final AtomicLong scansFromStart = new AtomicLong();

  /** Held while an operation is put into the block, and while that is written. */
  private final ReentrantLock lock = new ReentrantLock();

  private final FrameBuilder block = new FrameBuilder(BLOCK_BYTES);
  private final OutputStream out;
  private long operations;
  private long writtenBytes;
  private long lastNanos;
  private volatile boolean ended;
  private boolean closed;
  private @Nullable IOException failure;

  /** What the whole store has done. */
  private record Sums(OperationStats users, long flushed, long merged, long hits, long misses) {}

  /**
   * Begins a recording.
   *
   * @param out where it goes; closed by {@link #close}, and if this fails
   * @param onClosed called once, when it is closed
   */
  Recorder(
      StoreParts parts,
      OperationTotals totals,
      RecordingOptions options,
      OutputStream out,
      Runnable onClosed)
      throws IOException {
    this.parts = parts;
    this.totals = totals;
    this.clock = parts.engine().environment().clock();
    this.mask = options.oneKeyIn() - 1L;
    this.maxBytes = options.maxBytes();
    this.out = out;
    this.onClosed = onClosed;
    try {
      begin(options.oneKeyIn());
    } catch (Throwable e) {
      out.close();
      throw e;
    }
    this.atStart = sums();
    this.startNanos = clock.nanos();
    this.lastNanos = startNanos;
  }

  private void begin(int oneKeyIn) throws IOException {
    Engine engine = parts.engine();
    // The caller is within an operation: those that are open now stay until it ends.
    List<TreeHandle> trees =
        engine.catalog().trees().stream().filter(tree -> !tree.refused()).toList();
    FrameBuilder header = new FrameBuilder(END_BYTES + TREE_BYTES * trees.size());
    header
        .addVarint(RecordingLayout.VERSION)
        .addVarint(oneKeyIn)
        .addVarint(Math.max(0, clock.wallMillis()))
        .addVarint(parts.pool().pageSize())
        .addVarint(parts.wall().budgetBytes())
        .addVarint(engine.gate().limitBytes())
        .addVarint(engine.gate().debtBytes())
        .addVarint(trees.size());
    for (TreeHandle tree : trees) {
      TreeState state = tree.states().acquire();
      try {
        header
            .addVarint(tree.id())
            .addVarint(TreeSize.entries(state))
            .addVarint(state.version().sizeBytes());
      } finally {
        tree.states().release(state);
      }
    }
    byte[] magic = new byte[RecordingLayout.MAGIC_BYTES];
    for (int i = 0; i < magic.length; i++) {
      magic[i] = (byte) (RecordingLayout.MAGIC >>> 8 * i);
    }
    out.write(magic);
    writtenBytes = magic.length;
    write(header, RecordingLayout.HEADER);
  }

  private Sums sums() {
    CacheStats cache = parts.cache().stats();
    return new Sums(
        totals.sum(parts.engine().catalog().trees()),
        parts.flusher().bytesWritten(),
        parts.merger().bytesWritten(),
        cache.hits(),
        cache.queryMisses());
  }

  // ---- what users do

  /**
   * A key was looked up.
   *
   * @param found bytes of its value; negative if it is not there
   */
  void onGet(TreeHandle tree, byte[] key, int found) {
    if (isSampled(key, 0, key.length)) {
      long hash = KeyHash.hash(key, 0, key.length);
      add(RecordingLayout.GET, tree.id(), hash, key.length, Math.max(0, found + 1));
    }
  }

  /** A write of a tree is done. */
  void onWrite(int treeId, Write write) {
    if (isSampled(write.key(), write.keyOffset(), write.keyLength())) {
      long hash = KeyHash.hash(write.key(), write.keyOffset(), write.keyLength());
      int kind =
          switch (write.kind()) {
            case Kind.MERGE -> RecordingLayout.MERGE;
            case Kind.DELETE_RANGE -> RecordingLayout.DELETE_RANGE;
            default -> write.isDelete() ? RecordingLayout.DELETE : RecordingLayout.PUT;
          };
      int size = write.isRange() ? 0 : write.valueLength();
      add(kind, treeId, hash, write.keyLength(), size);
    }
  }

  /** A batch is done. */
  void onBatch(BatchFormat.Builder batch) {
    BatchFormat.decode(batch.bytes(), 0, batch.length(), this::onWrite);
  }

  /** Whether a scan is recorded, by the key that it begins at; by its number, if it has none. */
  boolean isSampled(byte @Nullable [] key) {
    return key == null
        ? (scansFromStart.getAndIncrement() & mask) == 0
        : isSampled(key, 0, key.length);
  }

  /**
   * Whether a key is recorded. It looks at the first eight bytes, eight in the middle and the last
   * eight: a hash of all would take as long as all else that is not recorded.
   */
  private boolean isSampled(byte[] key, int offset, int length) {
    int last = Math.max(0, length - Long.BYTES);
    int middle = last / 2;
    long bits =
        Words.head(key, offset, length) * FIRST
            + Words.head(key, offset + middle, length - middle) * MIDDLE
            + Words.head(key, offset + last, length - last) * LAST
            + length;
    return ((bits ^ bits >>> 32) * FIRST >>> 40 & mask) == 0;
  }

  /** A scan that is sampled has ended. {@code key} is where it began, null without a bound. */
  void onScan(TreeHandle tree, byte @Nullable [] key, long entries) {
    long hash = key == null ? 0 : KeyHash.hash(key, 0, key.length);
    add(RecordingLayout.SCAN, tree.id(), hash, key == null ? 0 : key.length, entries);
  }

  private void add(int kind, int treeId, long hash, int keyLength, long size) {
    if (ended) {
      return;
    }
    lock.lock();
    try {
      if (ended) {
        return;
      }
      if (!block.hasRoom(OPERATION_BYTES)) {
        writeBlock();
      }
      if (writtenBytes + block.frameBytes() + OPERATION_BYTES + END_BYTES > maxBytes) {
        ended = true;
        return;
      }
      long now = Math.max(lastNanos, clock.nanos());
      block
          .addByte(kind)
          .addVarint(treeId)
          .addVarint(now - lastNanos)
          .addLong(hash)
          .addVarint(keyLength)
          .addVarint(size);
      lastNanos = now;
      operations++;
    } catch (IOException e) {
      failure = e;
      ended = true;
    } finally {
      lock.unlock();
    }
  }

  private void writeBlock() throws IOException {
    if (!block.isEmpty()) {
      write(block, RecordingLayout.OPERATIONS);
    }
  }

  private void write(FrameBuilder frame, int kind) throws IOException {
    int bytes = frame.frameBytes();
    frame.writeTo(out, kind, writtenBytes);
    writtenBytes += bytes;
  }

  // ---- the recording

  @Override
  public long operations() {
    lock.lock();
    try {
      return operations;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long bytes() {
    lock.lock();
    try {
      return writtenBytes + (block.isEmpty() ? 0 : block.frameBytes());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isEnded() {
    return ended;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      ended = true;
      onClosed.run();
      end();
    } finally {
      lock.unlock();
    }
    IOException cause = failure;
    if (cause != null) {
      throw new UncheckedIOException(
          "the recording is not whole: its file can't be written: " + cause.getMessage(), cause);
    }
  }

  private void end() {
    try (out) {
      if (failure == null) {
        writeBlock();
        writeEnd();
      }
    } catch (IOException e) {
      failure = e;
    }
  }

  private void writeEnd() throws IOException {
    Sums now = sums();
    OperationStats before = atStart.users();
    FrameBuilder end = new FrameBuilder(END_BYTES);
    end.addVarint(operations)
        .addVarint(Math.max(0, clock.nanos() - startNanos))
        .addVarint(now.users().gets() - before.gets())
        .addVarint(now.users().puts() + now.users().deletes() - before.puts() - before.deletes())
        .addVarint(now.users().scans() - before.scans())
        .addVarint(now.flushed() - atStart.flushed())
        .addVarint(now.merged() - atStart.merged())
        .addVarint(now.hits() - atStart.hits())
        .addVarint(now.misses() - atStart.misses())
        .addVarint(parts.engine().gate().debtBytes());
    write(end, RecordingLayout.END);
  }
}
