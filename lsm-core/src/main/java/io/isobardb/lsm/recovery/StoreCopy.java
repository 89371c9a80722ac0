package io.isobardb.lsm.recovery;

import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.Log;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Makes a store, in a directory of its own, of files that another one has. The directory is no
 * store before all of it is there, durably.
 *
 * <p>It has memory of its own, {@link #MEMORY_BYTES}. Thread rule: one thread.
 */
public final class StoreCopy implements AutoCloseable {
  /** What it takes off the heap, beside the memory budget of any store. */
  public static final long MEMORY_BYTES = 16 << 20;

  private static final int COPY_BYTES = 256 << 10;

  private final Storage target;
  private final UUID storeId;
  private final ReadMemory memory;
  private final Block buffer;

  /**
   * Takes the target's lock.
   *
   * @param target its directory, which must be empty
   * @throws FormatException if it is not
   */
  public StoreCopy(Storage target, UUID storeId, int pageSize) throws IOException {
    if (!target.list().isEmpty()) {
      throw new FormatException(
          target.path() + " is not empty; give an empty directory, or one that does not exist");
    }
    target.lock();
    this.target = target;
    this.storeId = storeId;
    this.memory = memory(pageSize);
    this.buffer = memory.pool().blocks().allocate(COPY_BYTES, Purpose.MERGE);
  }

  static ReadMemory memory(int pageSize) {
    return ReadMemory.of(
        new PagePool(MEMORY_BYTES, pageSize), MEMORY_BYTES / 4, 0, CacheNeighbours.NONE);
  }

  /**
   * Copies an image: SSTables are linked, if that can be done, else copied.
   *
   * @param source the directory of the image's store
   */
  public void copy(StoreImage image, Storage source, Pace pace) throws IOException {
    for (SSTableMeta meta : image.stored()) {
      String name = meta.fileName();
      if (!target.link(source, name)) {
        try (DataFile from = source.open(name, IoMode.BUFFERED);
            DataFile to = target.create(name, IoMode.BUFFERED)) {
          copy(from, to, buffer.memory(), pace, bytes -> {});
        }
      }
    }
    finish(image.edits(), image.lsn());
  }

  /** Writes what the image's store has in memory. */
  public void writeMemory(StoreImage image) throws IOException {
    image.writeMemory(memory.space(target, IoMode.BUFFERED, storeId, image::label));
  }

  /** What copying is held up by. */
  @FunctionalInterface
  public interface Pace {
    /** Some bytes more were copied. May wait; throws if the rest must not be copied. */
    void onCopied(int bytes);
  }

  /**
   * Copies a file, durably.
   *
   * @param seen gets what was copied
   */
  static void copy(DataFile from, DataFile to, Memory buffer, Pace pace, Consumer<ByteBuffer> seen)
      throws IOException {
    long size = from.size();
    for (long at = 0; at < size; ) {
      int read = from.read(at, buffer, 0, (int) Math.min(buffer.size(), size - at));
      if (read == 0) {
        throw new IOException(from.name() + " ends at " + at + ", and has " + size + " bytes");
      }
      seen.accept(buffer.slice(0, read));
      to.write(at, buffer, 0, read);
      at += read;
      pace.onCopied(read);
    }
    to.sync();
  }

  /** Makes a store of the files that are there. */
  void finish(List<VersionEdit> edits, long lsn) throws IOException {
    Log.begin(target, memory.pool(), StoreImage.logOptions(), storeId, StoreImage.logStart(lsn));
    target.syncDirectory();
    Manifest.create(target, memory.pool(), storeId, edits);
  }

  /** Deletes what was made, as far as that can be done, after a failure. */
  public void discard(Throwable cause) {
    try {
      for (String name : target.list()) {
        target.delete(name);
      }
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  @Override
  public void close() {
    memory.pool().release(buffer);
    memory.close();
  }
}
