package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import java.util.Arrays;

/**
 * The filter of an SSTable: a Bloom filter of split blocks. A key's hash chooses a block of 64
 * bytes with its upper half, and with its lower half one bit in each of the block's eight words.
 *
 * <p>Filter pages hold blocks from offset {@link #FIRST} on, so that a block is one cache line. In
 * a small file they are the end of the header page.
 */
public final class Filter {
  /** Bytes of a block. */
  public static final int BLOCK = 64;

  /** Offset of the first block in a filter page. */
  public static final int FIRST = 64;

  private static final int SALT_0 = 0x47b6137b;
  private static final int SALT_1 = 0x44974d91;
  private static final int SALT_2 = 0x8824ad5b;
  private static final int SALT_3 = 0xa2b7289d;
  private static final int SALT_4 = 0x705495c7;
  private static final int SALT_5 = 0x2df1424b;
  private static final int SALT_6 = 0x9efc4947;
  private static final int SALT_7 = 0x5c6bfb31;

  private Filter() {}

  /** Blocks for so many keys. */
  public static int blocks(long keys, double bitsPerKey) {
    return (int) Math.max(1, Math.ceil(keys * bitsPerKey / (BLOCK * 8)));
  }

  /** Where the first of so many blocks is in a header page. */
  static int first(int pageSize, int blocks) {
    return pageSize - blocks * BLOCK;
  }

  /** Blocks of a filter page. */
  static int blocksPerPage(int pageSize) {
    return (pageSize - FIRST) / BLOCK;
  }

  /** The block that a hash belongs to. */
  static int block(long hash, int blocks) {
    return (int) (((hash >>> 32) * blocks) >>> 32);
  }

  /** Whether the block may hold the hash. */
  static boolean mayContain(Memory memory, int block, long hash) {
    int low = (int) hash;
    long all =
        (memory.getLong(block) >>> (low * SALT_0 >>> 26))
            & (memory.getLong(block + 8) >>> (low * SALT_1 >>> 26))
            & (memory.getLong(block + 16) >>> (low * SALT_2 >>> 26))
            & (memory.getLong(block + 24) >>> (low * SALT_3 >>> 26))
            & (memory.getLong(block + 32) >>> (low * SALT_4 >>> 26))
            & (memory.getLong(block + 40) >>> (low * SALT_5 >>> 26))
            & (memory.getLong(block + 48) >>> (low * SALT_6 >>> 26))
            & (memory.getLong(block + 56) >>> (low * SALT_7 >>> 26));
    return (all & 1) != 0;
  }

  /** Puts a hash into its block. */
  static void add(Memory memory, int block, long hash) {
    int low = (int) hash;
    set(memory, block, low * SALT_0);
    set(memory, block + 8, low * SALT_1);
    set(memory, block + 16, low * SALT_2);
    set(memory, block + 24, low * SALT_3);
    set(memory, block + 32, low * SALT_4);
    set(memory, block + 40, low * SALT_5);
    set(memory, block + 48, low * SALT_6);
    set(memory, block + 56, low * SALT_7);
  }

  private static void set(Memory memory, int word, int product) {
    memory.putLong(word, memory.getLong(word) | 1L << (product >>> 26));
  }

  /**
   * Collects the hashes of an SSTable's keys, 8 bytes each, and fills the filter's pages. Chunks of
   * one size hold them: an array that grows would leave twice as much garbage.
   */
  static final class Builder {
    private static final int CHUNK_BITS = 9;
    private static final int CHUNK = 1 << CHUNK_BITS;

    private long[][] chunks = new long[8][];
    private int size;

    void add(long hash) {
      int chunk = size >>> CHUNK_BITS;
      if ((size & CHUNK - 1) == 0) {
        if (chunk == chunks.length) {
          chunks = Arrays.copyOf(chunks, chunk * 2);
        }
        chunks[chunk] = new long[CHUNK];
      }
      chunks[chunk][size & CHUNK - 1] = hash;
      size++;
    }

    private long hash(int key) {
      return chunks[key >>> CHUNK_BITS][key & CHUNK - 1];
    }

    int keys() {
      return size;
    }

    /** Fills {@code pages}, got from {@code sink}, with a filter of so many blocks. */
    void fill(PageSink sink, int[] pages, int blocks) {
      Memory[] memories = new Memory[pages.length];
      int[] bases = new int[pages.length];
      for (int i = 0; i < pages.length; i++) {
        memories[i] = sink.memory(pages[i]);
        bases[i] = sink.base(pages[i]);
        memories[i].zero(bases[i], sink.pageSize());
        memories[i].putByte(bases[i] + PageLayout.TYPE, (byte) PageLayout.FILTER);
      }
      int perPage = blocksPerPage(sink.pageSize());
      for (int i = 0; i < size; i++) {
        long hash = hash(i);
        int block = block(hash, blocks);
        int page = block / perPage;
        int at = bases[page] + FIRST + (block - page * perPage) * BLOCK;
        Filter.add(memories[page], at, hash);
      }
    }

    /** Fills the end of a header page with a filter of so many blocks. */
    void fillEnd(PageSink sink, int header, int blocks) {
      Memory memory = sink.memory(header);
      int first = sink.base(header) + first(sink.pageSize(), blocks);
      memory.zero(first, blocks * BLOCK);
      for (int i = 0; i < size && blocks > 0; i++) {
        long hash = hash(i);
        Filter.add(memory, first + block(hash, blocks) * BLOCK, hash);
      }
    }
  }
}
