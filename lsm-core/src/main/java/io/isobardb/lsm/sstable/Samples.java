package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.option.PageCodec;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Pages of a file that is being written, for a dictionary of the files after it: every page at
 * first, and every second one of those, and of the rest, each time that there is no more room.
 *
 * <p>Thread rule: one thread at a time. It ends with {@link #train} or {@link #abort}.
 */
final class Samples {
  private static final byte[] NOTHING = {};

  private final TreeDictionary owner;
  private final PageCodec codec;
  private final PagePool pool;
  private final Block block;
  private final int pageSize;
  private final int most;
  private int count;
  private int seen;
  private int every = 1;
  private boolean ended;

  /**
   * @param block for the samples; given back at the end
   * @param most the largest dictionary, in bytes
   */
  Samples(TreeDictionary owner, PageCodec codec, PagePool pool, Block block, int most) {
    this.owner = owner;
    this.codec = codec;
    this.pool = pool;
    this.block = block;
    this.pageSize = pool.pageSize();
    this.most = most;
  }

  /** Looks at a page that is written. */
  void offer(Memory page, int base) {
    if (page.getByte(base + PageLayout.TYPE) != PageLayout.DATA || seen++ % every != 0) {
      return;
    }
    Memory memory = block.memory();
    if ((count + 1) * pageSize > memory.size()) {
      count /= 2;
      every *= 2;
      for (int i = 1; i < count; i++) {
        memory.copyFrom(i * pageSize, memory, 2 * i * pageSize, pageSize);
      }
    }
    memory.copyFrom(count * pageSize, page, base, pageSize);
    count++;
  }

  /** Makes a dictionary of what was seen, if that is enough for one. */
  void train() {
    byte[] dictionary = NOTHING;
    try {
      if ((long) count * pageSize >= (long) most * TreeDictionary.LEAST_SAMPLES) {
        int[] lengths = new int[count];
        Arrays.fill(lengths, pageSize);
        ByteBuffer samples = block.memory().slice(0, count * pageSize);
        // The codec may use its array again.
        dictionary = codec.train(samples, lengths, most).clone();
      }
    } catch (Throwable e) {
      // A codec is somebody else's code, and pages can be compressed without a dictionary.
      SystemLog.tell(
          Level.WARNING,
          Samples.class,
          () -> codec.name() + " makes no dictionary",
          UserCode.failure(e));
    } finally {
      end(dictionary.length > most ? NOTHING : dictionary);
    }
  }

  /** Gives up, if it has not ended. */
  void abort() {
    end(NOTHING);
  }

  private void end(byte[] dictionary) {
    if (!ended) {
      ended = true;
      pool.release(block);
      owner.onSampled(codec.name(), dictionary);
    }
  }
}
