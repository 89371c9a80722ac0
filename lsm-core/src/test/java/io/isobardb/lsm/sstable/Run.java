package io.isobardb.lsm.sstable;

import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.cache.Guides;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** A sorted run of entries as a model, and the world an SSTable of it lives in. */
final class Run implements AutoCloseable {
  /** Descending bytes: an order for which pages have neither heads nor prefixes. */
  static final KeyOrder REVERSE =
      new KeyOrder() {
        @Override
        public String name() {
          return "reverse";
        }

        @Override
        public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
          return KeyOrder.BYTES.compare(b, bOffset, bLength, a, aOffset, aLength);
        }
      };

  record Entry(byte[] key, long lsn, int kind, byte[] value) {}

  final PagePool pool;
  final BufferCache cache;
  final HeapStorage storage = new HeapStorage();
  final TableSpace space;
  final KeyOrder order;
  List<Entry> entries = new ArrayList<>();

  Run(int pageSize, KeyOrder order, int cachePages) {
    this.pool = new PagePool(96L << 20, pageSize, true);
    this.cache =
        new BufferCache(pool, (long) cachePages * pageSize, 0, CacheNeighbours.NONE, Guides.NONE);
    this.space =
        new TableSpace(
            pool,
            cache,
            storage,
            IoMode.DIRECT,
            0x1234,
            0x5678,
            pool.blocks().allocate(TableSpace.spareBytes(pageSize), Purpose.CACHE),
            TableSpace::unknownTree);
    this.order = order;
  }

  Comparator<Entry> comparator() {
    return Comparator.comparing(Entry::key, (a, b) -> order.compare(a, 0, a.length, b, 0, b.length))
        .thenComparing(Comparator.comparingLong(Entry::lsn).reversed());
  }

  /** Sorts, and leaves one entry of those with the same key and LSN. */
  void sort() {
    TreeSet<Entry> sorted = new TreeSet<>(comparator());
    sorted.addAll(entries);
    entries = new ArrayList<>(sorted);
  }

  void add(byte[] key, long lsn, int kind, byte[] value) {
    entries.add(new Entry(key, lsn, kind, value));
  }

  void randomEntries(SplittableRandom random, int count, int largestValue) {
    int longest = PageLayout.maxKeyBytes(pool.pageSize());
    int style = random.nextInt(4);
    byte[] prefix = bytes(random, random.nextInt(random.nextInt(1, 200)));
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] key;
      int dice = random.nextInt(100);
      if (dice < 25 && !keys.isEmpty()) {
        key = keys.get(random.nextInt(keys.size()));
      } else if (dice == 25) {
        key = bytes(random, random.nextInt(longest + 1));
      } else if (style == 0) {
        key = bytes(random, random.nextInt(20));
      } else {
        byte[] tail = bytes(random, random.nextInt(style * 4 + 1));
        if (style == 3) {
          for (int j = 0; j < tail.length; j++) {
            tail[j] = (byte) (tail[j] & 1);
          }
        }
        key = new byte[prefix.length + tail.length];
        System.arraycopy(prefix, 0, key, 0, prefix.length);
        System.arraycopy(tail, 0, key, prefix.length, tail.length);
      }
      keys.add(key);
      long lsn = random.nextInt(10) == 0 ? 0 : 8L * random.nextInt(1, 1 << random.nextInt(1, 30));
      int versions = random.nextInt(300) == 0 ? random.nextInt(400) : 1;
      for (int v = 0; v < versions; v++) {
        boolean delete = random.nextInt(5) == 0;
        int length = random.nextInt(random.nextInt(largestValue) == 0 ? largestValue : 120);
        byte[] value = delete ? new byte[0] : bytes(random, length);
        add(key, lsn + v * 8L, delete ? Kind.DELETE : Kind.PUT, value);
      }
    }
    add(new byte[0], 800, Kind.PUT, new byte[0]);
    byte[] longestKey = bytes(random, longest);
    add(longestKey, 8, Kind.PUT, bytes(random, largestValue));
    sort();
  }

  static byte[] bytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Adds all entries to a writer. */
  void write(SSTableWriter writer) throws IOException {
    for (Entry entry : entries) {
      Memory value = new Memory(ByteBuffer.allocateDirect(entry.value.length + 3));
      value.put(3, entry.value, 0, entry.value.length);
      writer.add(entry.key, entry.key.length, entry.lsn, entry.kind, value, 3, entry.value.length);
    }
  }

  /** With an index over its entries, if they are not too small for one. */
  SSTable inMemory() throws IOException {
    MemorySink sink = new MemorySink(pool, bytes -> true);
    SSTableWriter writer = new SSTableWriter(sink, order, 7, 3, 10);
    write(writer);
    SSTableMeta meta = writer.finish();
    return SSTable.inMemory(space, order, meta, sink);
  }

  /** Compresses with a dictionary of what the values are like. */
  static Packer withDictionary(int bytes) {
    return new Packer(DeflateCodec.NAME, DeflateCodec.dictionary(bytes), null);
  }

  SSTable onDisk(long fileNumber, Packer packer, boolean adopt) throws IOException {
    return onDisk(fileNumber, packer, adopt, true);
  }

  /**
   * @param footerPage whether it has pages for footer and filter, as small files have not
   */
  SSTable onDisk(long fileNumber, Packer packer, boolean adopt, boolean footerPage)
      throws IOException {
    FileSink sink = new FileSink(space, fileNumber, 3, packer, adopt);
    SSTableWriter writer = new SSTableWriter(sink, order, fileNumber, 3, 10);
    writer.sourceHot(adopt);
    write(writer);
    if (footerPage) {
      // The header goes out before it is known what the footer says.
      writer.rest();
    }
    return SSTable.onDisk(space, order, writer.finish());
  }

  /** The newest version with at most this LSN, or null. */
  Entry newest(byte[] key, long lsn) {
    int at = lowerBound(key, lsn);
    if (at < entries.size() && java.util.Arrays.equals(entries.get(at).key, key)) {
      return entries.get(at);
    }
    return null;
  }

  /** Index of the first entry not before the place. */
  int lowerBound(byte[] key, long lsn) {
    Entry probe = new Entry(key, lsn, Kind.PUT, new byte[0]);
    Comparator<Entry> comparator = comparator();
    int low = 0;
    int high = entries.size();
    while (low < high) {
      int mid = (low + high) >>> 1;
      if (comparator.compare(entries.get(mid), probe) < 0) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low;
  }

  @Override
  public void close() {
    cache.close();
    pool.release(space.spare());
    if (storage.openFiles != 0) {
      throw new AssertionError("open files " + storage.openFiles);
    }
    pool.close();
  }

  /** Pages of a file that are in the cache. */
  int cachedPages(int file) {
    int slot = pool.epochs().enter();
    int found = 0;
    for (int pageNo = 0; pageNo < 1000; pageNo++) {
      found += cache.findWithoutTouching(BufferCache.key(file, pageNo)) >= 0 ? 1 : 0;
    }
    pool.epochs().exit(slot);
    return found;
  }
}
