package io.isobardb.repair.format;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.FileErrors;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.wal.SegmentLayout;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A directory whose places that the device can't read are zeros, block by block. Zeros are never
 * taken for data, so such a place is as bad as one with wrong bytes, and costs no more. What is
 * only looked at where data may end has to be asked for: {@link #visit}. Files that can't be
 * opened, such as links to nowhere, are not there: {@link #unopened}.
 *
 * <p>Thread rule: one thread.
 */
public final class UnreadableAsZeros extends ForwardingStorage {
  private final Map<String, BitSet> blocks = new TreeMap<>();
  private final Map<String, String> unopened = new TreeMap<>();

  /** Passes on to {@code storage}. */
  public UnreadableAsZeros(Storage storage) {
    super(storage);
  }

  /** Is told of places that could not be read. */
  @FunctionalInterface
  public interface Visitor {
    /** Bytes {@code from} to {@code to} of a file were taken for zeros. */
    void onUnreadable(String file, long from, long to);
  }

  /** Tells what could not be read so far, by file and offset. */
  public void visit(Visitor visitor) {
    blocks.forEach(
        (file, bad) -> {
          for (int from = bad.nextSetBit(0); from >= 0; ) {
            int to = bad.nextClearBit(from);
            visitor.onUnreadable(file, (long) from * DataFile.BLOCK, (long) to * DataFile.BLOCK);
            from = bad.nextSetBit(to);
          }
        });
  }

  /** Files of a store that were found and can't be opened, and why. */
  public Map<String, String> unopened() {
    return Collections.unmodifiableMap(unopened);
  }

  @Override
  public List<String> list() throws IOException {
    List<String> names = new ArrayList<>();
    for (String name : super.list()) {
      boolean mayBeRead = Manifest.isOwn(name) || SegmentLayout.indexOf(name) >= 0;
      if (!mayBeRead || opens(name)) {
        names.add(name);
      }
    }
    return names;
  }

  @Override
  public boolean exists(String name) throws IOException {
    return super.exists(name) && opens(name);
  }

  private boolean opens(String name) throws IOException {
    try {
      open(name, IoMode.BUFFERED).close();
      return true;
    } catch (IOException e) {
      String why = FileErrors.ofFile(e);
      if (why == null) {
        // It can be mended, and then nothing is lost.
        throw e;
      }
      unopened.put(name, "can't be opened: " + why);
      return false;
    }
  }

  @Override
  protected DataFile wrap(DataFile file, IoMode mode) {
    return new ForwardingFile(file) {
      @Override
      public int read(long offset, Memory target, int at, int length) throws IOException {
        try {
          return super.read(offset, target, at, length);
        } catch (IOException e) {
          return readBlocks(offset, target, at, (int) Math.min(length, size() - offset));
        }
      }

      private int readBlocks(long offset, Memory target, int at, int length) throws IOException {
        int done = 0;
        while (done < length) {
          long from = offset + done;
          int bytes = (int) Math.min(length - done, DataFile.BLOCK - from % DataFile.BLOCK);
          int got = readBlock(from, target, at + done, bytes);
          done += got;
          if (got < bytes) {
            break;
          }
        }
        return done;
      }

      private int readBlock(long from, Memory target, int at, int bytes) throws IOException {
        try {
          return super.read(from, target, at, bytes);
        } catch (IOException e) {
          target.zero(at, bytes);
          int block = Math.toIntExact(from / DataFile.BLOCK);
          blocks.computeIfAbsent(name(), file -> new BitSet()).set(block);
          return bytes;
        }
      }
    };
  }
}
