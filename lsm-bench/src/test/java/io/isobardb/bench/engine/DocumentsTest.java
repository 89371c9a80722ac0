package io.isobardb.bench.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.CompressionOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * The space of JSON documents of 300 bytes by codec, beside RocksDB's. {@code
 * -Disobar.documents=N}: so many, 300,000 for the table of record 0090, and the time that loads,
 * scans and reads take is told, too.
 */
@Tag("any-jdk")
class DocumentsTest {
  private static final int DOCUMENTS = Integer.getInteger("isobar.documents", 30_000);
  private static final int BYTES = 300;
  private static final int SCANS = 4;
  private static final int GETS = Math.min(20_000, DOCUMENTS);
  private static final int DICTIONARY_BYTES = 16 << 10;
  private static final int SAMPLE_BYTES = 100 * DICTIONARY_BYTES;
  private static final long MIB = 1 << 20;
  private static final String WITH_DICTIONARY = "LZ4,last=ZSTD";

  /** Steps through all numbers below most others in an order that jumps about. */
  private static final long STRIDE = 2_654_435_761L;

  private static final String[] WORDS =
      ("order invoice customer parcel street return stock supplier "
              + "account delivery payment discount warehouse receipt contract article")
          .split(" ");
  private static final String[] NAMES =
      "Ada Alan Barbara Donald Edsger Grace Leslie Tony".split(" ");

  @TempDir Path temp;

  private interface Engine extends AutoCloseable {
    void put(byte[] key, byte[] value) throws RocksDBException;

    byte[] get(byte[] key) throws RocksDBException;

    /** Returns how many bytes all values have. */
    long scan() throws RocksDBException;

    void compact() throws RocksDBException;

    @Override
    void close();
  }

  private record IsobarDocuments(Store store, Tree tree) implements Engine {
    static Engine open(Path dir, String compression) {
      Store store = Store.open(dir, StoreOptions.builder().memoryBudget(64 * MIB).build());
      TreeOptions options =
          TreeOptions.builder().compression(Compression.parse(compression)).build();
      return new IsobarDocuments(store, store.openTree("documents", options));
    }

    @Override
    public void put(byte[] key, byte[] value) {
      tree.put(key, value);
    }

    @Override
    public byte[] get(byte[] key) {
      return tree.get(key);
    }

    @Override
    public long scan() {
      long[] bytes = {0};
      try (Cursor cursor = tree.cursor(CursorOptions.all())) {
        cursor.first();
        cursor.forEach(
            Long.MAX_VALUE,
            (key, value) -> {
              bytes[0] += value.remaining();
              return true;
            });
      }
      return bytes[0];
    }

    @Override
    public void compact() {
      tree.compact(null, null);
    }

    @Override
    public void close() {
      store.close();
    }
  }

  private record RocksDocuments(RocksDB db, Options options) implements Engine {
    static Engine open(Path dir, String compression) throws RocksDBException {
      RocksDB.loadLibrary();
      BlockBasedTableConfig blocks =
          new BlockBasedTableConfig()
              .setBlockSize(8192)
              .setBlockCache(new LRUCache(32 * MIB))
              .setFilterPolicy(new BloomFilter(10))
              .setFormatVersion(6);
      boolean last = compression.equals(WITH_DICTIONARY);
      CompressionType upper =
          compression.equals("NONE")
              ? CompressionType.NO_COMPRESSION
              : CompressionType.LZ4_COMPRESSION;
      Options options =
          new Options()
              .setCreateIfMissing(true)
              .setUseDirectReads(true)
              .setUseDirectIoForFlushAndCompaction(true)
              .setWriteBufferSize(8 * MIB)
              .setMaxWriteBufferNumber(4)
              .setLevelCompactionDynamicLevelBytes(true)
              .setCompressionType(upper)
              .setBottommostCompressionType(last ? CompressionType.ZSTD_COMPRESSION : upper)
              .setTableFormatConfig(blocks);
      if (last) {
        options.setBottommostCompressionOptions(
            new CompressionOptions()
                .setEnabled(true)
                .setLevel(3)
                .setMaxDictBytes(DICTIONARY_BYTES)
                .setZStdMaxTrainBytes(SAMPLE_BYTES));
      }
      return new RocksDocuments(RocksDB.open(options, dir.toString()), options);
    }

    @Override
    public void put(byte[] key, byte[] value) throws RocksDBException {
      db.put(key, value);
    }

    @Override
    public byte[] get(byte[] key) throws RocksDBException {
      return db.get(key);
    }

    @Override
    public long scan() throws RocksDBException {
      long bytes = 0;
      byte[] into = new byte[BYTES];
      try (RocksIterator iterator = db.newIterator()) {
        for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
          bytes += iterator.value(into, 0, BYTES);
        }
        iterator.status();
      }
      return bytes;
    }

    /** All files, those of the last level too: by default they stay as they are. */
    @Override
    public void compact() throws RocksDBException {
      try (FlushOptions flush = new FlushOptions();
          CompactRangeOptions all =
              new CompactRangeOptions()
                  .setBottommostLevelCompaction(
                      CompactRangeOptions.BottommostLevelCompaction.kForce)) {
        db.flush(flush);
        db.compactRange(null, null, null, all);
      }
    }

    @Override
    public void close() {
      db.close();
      options.close();
    }
  }

  private static Engine open(String engine, Path dir, String compression) throws RocksDBException {
    return engine.equals("isobar")
        ? IsobarDocuments.open(dir, compression)
        : RocksDocuments.open(dir, compression);
  }

  private static byte[] key(long i) {
    return String.format("document%08d", i).getBytes(UTF_8);
  }

  private static byte[] document(long i) {
    SplittableRandom random = new SplittableRandom(i);
    StringBuilder text = new StringBuilder(BYTES + 16);
    text.append("{\"id\":\"").append(new UUID(random.nextLong(), random.nextLong()));
    text.append("\",\"name\":\"").append(NAMES[random.nextInt(NAMES.length)]);
    text.append(' ').append(NAMES[random.nextInt(NAMES.length)]).append("\",\"date\":\"");
    text.append(2000 + random.nextInt(25)).append('-').append(10 + random.nextInt(3));
    text.append('-').append(10 + random.nextInt(18)).append("\",\"text\":\"");
    while (text.length() < BYTES - 2) {
      text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
    }
    text.setLength(BYTES - 2);
    return text.append("\"}").toString().getBytes(UTF_8);
  }

  private static long tableBytes(Path dir) throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files
          .filter(file -> file.toString().endsWith(".sst"))
          .mapToLong(file -> file.toFile().length())
          .sum();
    }
  }

  /** What is told of one part: seconds, and processor time by operation. */
  private interface Part {
    void run() throws Exception;
  }

  private static String timed(long operations, Part part) throws Exception {
    long began = System.nanoTime();
    long cpu = ProcessCounters.now().cpuNanos();
    part.run();
    double cpuMicros = (ProcessCounters.now().cpuNanos() - cpu) / 1e3 / operations;
    return String.format("%.1f s, %.1f us", (System.nanoTime() - began) / 1e9, cpuMicros);
  }

  /** Returns the bytes of all SSTables. */
  private long measure(String engine, String compression) throws Exception {
    Path dir = Files.createDirectory(temp.resolve(engine + compression.length()));
    StringBuilder line = new StringBuilder(String.format("%-6s %-13s ", engine, compression));
    try (Engine store = open(engine, dir, compression)) {
      line.append("load ")
          .append(
              timed(
                  DOCUMENTS,
                  () -> {
                    for (long i = 0; i < DOCUMENTS; i++) {
                      long id = i * STRIDE % DOCUMENTS;
                      store.put(key(id), document(id));
                    }
                    store.compact();
                  }));
    }
    try (Engine store = open(engine, dir, compression)) {
      for (int i = 0; i < SCANS; i++) {
        line.append("; scan ")
            .append(timed(DOCUMENTS, () -> assertEquals((long) DOCUMENTS * BYTES, store.scan())));
      }
      SplittableRandom random = new SplittableRandom(1);
      line.append("; get ")
          .append(
              timed(
                  GETS,
                  () -> {
                    for (int i = 0; i < GETS; i++) {
                      assertNotNull(store.get(key(random.nextInt(DOCUMENTS))));
                    }
                  }));
    }
    long bytes = tableBytes(dir);
    System.out.printf("%s; %.1f MB%n", line, bytes / 1e6);
    Directories.delete(dir);
    return bytes;
  }

  @Test
  void documentsTakeTheSpaceThatTheirCodecPromises() throws Exception {
    Map<String, Long> isobar = new LinkedHashMap<>();
    Map<String, Long> rocks = new LinkedHashMap<>();
    for (String compression : List.of("NONE", WITH_DICTIONARY, "LZ4")) {
      isobar.put(compression, measure("isobar", compression));
      rocks.put(compression, measure("rocksdb", compression));
    }
    double none = isobar.get("NONE");
    for (String compression : isobar.keySet()) {
      System.out.printf(
          "%-13s %.3f of NONE, %.3f of RocksDB's%n",
          compression,
          isobar.get(compression) / none,
          isobar.get(compression) / (double) rocks.get(compression));
    }
    assertTrue(isobar.get("LZ4") < 0.6 * none);
    assertTrue(isobar.get(WITH_DICTIONARY) < 0.35 * none);
    assertTrue(isobar.get(WITH_DICTIONARY) < 1.2 * rocks.get(WITH_DICTIONARY));
  }
}
