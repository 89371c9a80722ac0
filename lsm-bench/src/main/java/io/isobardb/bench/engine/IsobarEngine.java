package io.isobardb.bench.engine;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.EntryReader;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.ValueReader;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.Runs;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Isobar through its public API. */
public final class IsobarEngine implements Engine {
  private final Path dir;
  private final String label;
  private final Store store;
  private final List<Tree> trees = new ArrayList<>();

  private IsobarEngine(
      Path dir, String label, StoreOptions options, int trees, TreeOptions treeOptions) {
    this.dir = dir;
    this.label = label;
    store = UsageException.ofArguments(() -> Store.open(dir, options));
    for (int i = 0; i < trees; i++) {
      this.trees.add(store.openTree("tree" + i, treeOptions));
    }
  }

  /** With Isobar's defaults for all that the comparison does not set. */
  static Engine open(EngineOptions options) {
    return open(options, StoreOptions.builder());
  }

  /** The same with {@code others} for what the comparison does not set. */
  public static Engine open(EngineOptions options, StoreOptions.Builder others) {
    return open(
        options,
        others,
        EngineKind.ISOBAR.label(),
        TreeOptions.builder()
            .runs(Runs.parse(options.runs()))
            .maxSpace(options.maxSpace())
            .build());
  }

  /** The same with one run on each level. */
  static Engine openLeveled(EngineOptions options) {
    TreeOptions tree = TreeOptions.builder().maxSpace(options.maxSpace()).build();
    return open(options, StoreOptions.builder(), EngineKind.ISOBAR_LEVELED.label(), tree);
  }

  private static Engine open(
      EngineOptions options, StoreOptions.Builder others, String label, TreeOptions tree) {
    return new IsobarEngine(
        options.dir(),
        label,
        others
            .memoryBudget(options.memoryBytes())
            .ioMode(options.directIo() ? IoMode.DIRECT : IoMode.BUFFERED)
            .durability(options.syncWrites() ? Durability.SYNC : Durability.ASYNC)
            .asyncSyncInterval(Duration.ofMillis(EngineOptions.LOG_SYNC_MILLIS))
            .build(),
        options.trees(),
        tree);
  }

  /** Opens or creates a store of so many trees, with any options. */
  public static IsobarEngine open(
      Path dir, StoreOptions options, int trees, TreeOptions treeOptions) {
    return new IsobarEngine(dir, EngineKind.ISOBAR.label(), options, trees, treeOptions);
  }

  /** The store itself, for its statistics; closed with the engine. */
  public Store store() {
    return store;
  }

  @Override
  public Session openSession() {
    return session(trees);
  }

  /** A session for the calling thread alone, on trees of any store. */
  public static Session session(List<Tree> trees) {
    return new IsobarSession(trees);
  }

  @Override
  public void settle() {
    store.awaitQuiet();
  }

  @Override
  public long spaceBytes() {
    return Directories.allocatedBytes(dir);
  }

  @Override
  public long memoryBytes() {
    return store.stats().ledger().peakBytes();
  }

  @Override
  public String configuration() {
    return label + ": " + store.options();
  }

  @Override
  public Map<String, Object> stats() {
    StoreStats now = store.stats();
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("limitBytes", now.ledger().limitBytes());
    stats.put("allocatedBytes", now.ledger().allocatedBytes());
    stats.put("peakBytes", now.ledger().peakBytes());
    for (Purpose purpose : Purpose.values()) {
      stats.put(
          "ledger." + purpose.name().toLowerCase(Locale.ROOT) + "Bytes",
          now.ledger().bytes(purpose));
    }
    stats.put("logWrittenBytes", now.logBytesWritten());
    stats.put("flushes", now.flushes());
    stats.put("flushWrittenBytes", now.flushBytesWritten());
    stats.put("merges", now.merges());
    stats.put("mergeWrittenBytes", now.mergeBytesWritten());
    now.stalls().forEach((reason, waits) -> stats.put("stalls." + reason, waits.count()));
    now.stalls()
        .forEach((reason, waits) -> stats.put("stallMillis." + reason, waits.nanos() / 1e6));
    stats.put("spaceBytes", spaceBytes());
    return stats;
  }

  @Override
  public void close() {
    store.close();
  }

  private static final class IsobarSession implements Session, EntryReader {
    private final List<Tree> trees;
    private byte[] target = {};
    private ByteBuffer targetBuffer = ByteBuffer.wrap(target);
    private byte[] scanKey = new byte[64];
    private byte[] scanValue = new byte[1024];
    private Visitor scanned = (key, keyLength, value, valueLength) -> {};

    private final Look look = new Look();

    /** What was looked at last. */
    private static final class Look implements ValueReader<Look> {
      private int seen;

      @Override
      public Look read(ByteBuffer value) {
        seen = Session.seen(value.limit(), value.hasRemaining() ? value.get(0) : 0);
        return this;
      }
    }

    IsobarSession(List<Tree> trees) {
      this.trees = trees;
    }

    @Override
    public void put(int tree, byte[] key, byte[] value) {
      trees.get(tree).put(key, value);
    }

    @Override
    public int get(int tree, byte[] key, byte[] into) {
      if (target != into) {
        target = into;
        targetBuffer = ByteBuffer.wrap(into);
      }
      return trees.get(tree).get(key, targetBuffer.clear());
    }

    @Override
    public int look(int tree, byte[] key) {
      Look found = trees.get(tree).read(key, look);
      return found == null ? ABSENT : found.seen;
    }

    @Override
    public void delete(int tree, byte[] key) {
      trees.get(tree).delete(key);
    }

    @Override
    public int scan(int tree, byte[] from, int limit, Visitor visitor) {
      scanned = visitor;
      try (Cursor cursor = trees.get(tree).cursor()) {
        return cursor.seek(from) ? (int) cursor.forEach(limit, this) : 0;
      }
    }

    @Override
    public int scanPrefix(int tree, byte[] prefix, Visitor visitor) {
      scanned = visitor;
      try (Cursor cursor = trees.get(tree).cursor(CursorOptions.prefix(prefix))) {
        return cursor.first() ? (int) cursor.forEach(Integer.MAX_VALUE, this) : 0;
      }
    }

    @Override
    public List<byte @Nullable []> multiGet(int tree, List<byte[]> keys) {
      return trees.get(tree).multiGet(keys);
    }

    @Override
    public boolean read(ByteBuffer key, ByteBuffer value) {
      int keyLength = key.remaining();
      int valueLength = value.remaining();
      if (keyLength > scanKey.length) {
        scanKey = new byte[2 * keyLength];
      }
      if (valueLength > scanValue.length) {
        scanValue = new byte[2 * valueLength];
      }
      key.get(scanKey, 0, keyLength);
      value.get(scanValue, 0, valueLength);
      scanned.entry(scanKey, keyLength, scanValue, valueLength);
      return true;
    }

    @Override
    public void close() {}
  }
}
