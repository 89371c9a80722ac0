package io.isobardb.lsm.io;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.system.ProcessMemory;
import io.isobardb.memory.system.Region;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a file of a {@link PrivateStorage}: what the file below has, and blocks that were
 * changed.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class PrivateContent {
  private static final int BLOCK = 16 << 10;

  private final PrivateStorage storage;

  /** The name of the file below, or null. */
  private final @Nullable String below;

  private @Nullable DataFile file;
  private int handles;
  private boolean deleted;

  /** Whether it is no longer what the file below is. */
  private boolean changed;

  private final Map<Long, byte[]> blocks = new HashMap<>();

  /** How much of the file below is left, or -1 if that was not asked yet. */
  private long belowBytes = -1;

  private long size = -1;

  PrivateContent(PrivateStorage storage, @Nullable String below) {
    this.storage = storage;
    this.below = below;
    if (below == null) {
      belowBytes = 0;
      size = 0;
    }
  }

  synchronized void onOpened() throws IOException {
    if (handles++ == 0 && below != null) {
      try {
        DataFile opened = storage.base().open(below, IoMode.BUFFERED);
        file = opened;
        if (size < 0) {
          size = opened.size();
          belowBytes = size;
        }
      } catch (IOException | RuntimeException e) {
        handles--;
        throw e;
      }
    }
  }

  void onClosed() throws IOException {
    DataFile closing = null;
    synchronized (this) {
      if (--handles == 0) {
        closing = file;
        file = null;
        giveBackDeleted();
      }
    }
    if (closing != null) {
      closing.close();
    }
  }

  /** No name leads to it any more; whoever has it open goes on reading. */
  synchronized void onDeleted() {
    deleted = true;
    giveBackDeleted();
  }

  private void giveBackDeleted() {
    if (deleted && handles == 0) {
      storage.giveBack((long) blocks.size() * BLOCK);
      blocks.clear();
    }
  }

  synchronized boolean holdsDescriptor() {
    return file != null && file.holdsDescriptor();
  }

  synchronized long size() {
    return size;
  }

  /** The file below, if nothing was changed, so that it can be read without the lock. */
  private synchronized @Nullable DataFile unchanged() {
    return changed ? null : file;
  }

  int read(long offset, Memory target, int at, int length) throws IOException {
    DataFile plain = unchanged();
    return plain != null
        ? plain.read(offset, target, at, length)
        : copy(offset, target, at, length);
  }

  private synchronized int copy(long offset, Memory target, int at, int length) throws IOException {
    int readable = (int) Math.max(0, Math.min(length, size - offset));
    for (int done = 0; done < readable; ) {
      long position = offset + done;
      int within = (int) (position % BLOCK);
      int part = Math.min(readable - done, BLOCK - within);
      byte[] block = blocks.get(position / BLOCK);
      if (block == null) {
        readBelow(position, target, at + done, part);
      } else {
        target.put(at + done, block, within, part);
      }
      done += part;
    }
    return readable;
  }

  private void readBelow(long position, Memory target, int at, int length) throws IOException {
    int there = (int) Math.max(0, Math.min(length, belowBytes - position));
    DataFile from = file;
    int read = from == null || there == 0 ? 0 : from.read(position, target, at, there);
    if (read < length) {
      target.zero(at + read, length - read);
    }
  }

  synchronized void write(long offset, Memory source, int at, int length) throws IOException {
    changed = true;
    for (int done = 0; done < length; ) {
      long position = offset + done;
      int within = (int) (position % BLOCK);
      int part = Math.min(length - done, BLOCK - within);
      byte[] block = blocks.get(position / BLOCK);
      if (block == null) {
        block = change(position / BLOCK);
      }
      source.get(at + done, block, within, part);
      done += part;
    }
    size = Math.max(size, offset + length);
  }

  private byte[] change(long number) throws IOException {
    storage.take(BLOCK);
    boolean changes = false;
    try {
      byte[] block = new byte[BLOCK];
      if (number * BLOCK < belowBytes) {
        Region region = ProcessMemory.blocks().take(BLOCK);
        try {
          readBelow(number * BLOCK, region.memory(), 0, BLOCK);
          region.memory().get(0, block, 0, BLOCK);
        } finally {
          region.free();
        }
      }
      blocks.put(number, block);
      changes = true;
      return block;
    } finally {
      if (!changes) {
        storage.giveBack(BLOCK);
      }
    }
  }

  /** The part of the file as memory of its own, which is in no file. */
  synchronized Region map(long offset, int length) throws IOException {
    storage.take(length);
    Region mapped = ProcessMemory.blocks().take(length);
    copy(offset, mapped.memory(), 0, length);
    return mapped;
  }

  synchronized void truncate(long bytes) {
    if (bytes >= size) {
      return;
    }
    changed = true;
    size = bytes;
    belowBytes = Math.min(belowBytes, bytes);
    int before = blocks.size();
    blocks.keySet().removeIf(number -> number * BLOCK >= bytes);
    storage.giveBack((long) (before - blocks.size()) * BLOCK);
    byte[] last = blocks.get(bytes / BLOCK);
    if (last != null) {
      Arrays.fill(last, (int) (bytes % BLOCK), BLOCK, (byte) 0);
    }
  }
}
