package io.isobardb.ycsb;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import site.ycsb.DBException;

/**
 * The YCSB binding of Isobar: one store for all client threads, opened by the first and closed
 * after the last. The properties stand in the README of the zip.
 */
public final class IsobarClient extends RecordClient {
  private static final Shared<Opened> OPENED = new Shared<>();

  private List<Tree> trees = List.of();
  private @Nullable ByteBuffer target;

  /** The store and its trees. */
  private record Opened(Store store, List<Tree> trees) {}

  @Override
  protected void open(Properties properties, int treeCount) throws DBException {
    trees = OPENED.acquire(() -> openStore(properties, treeCount)).trees();
  }

  private static Opened openStore(Properties properties, int treeCount) throws DBException {
    String dir = properties.getProperty("isobar.dir");
    if (dir == null) {
      throw new DBException("property isobar.dir is missing");
    }
    Store open = Store.open(Path.of(dir), options(properties));
    try {
      System.err.println("isobar: " + open.options());
      List<Tree> all = new ArrayList<>();
      for (int i = 0; i < treeCount; i++) {
        all.add(open.openTree("tree" + i));
      }
      return new Opened(open, List.copyOf(all));
    } catch (RuntimeException | Error e) {
      open.close();
      throw e;
    }
  }

  /**
   * What the store of a run is opened with: {@code isobar.memory}, {@code isobar.durability} and
   * {@code isobar.io}, and all of {@code isobar.store.OPTION}.
   *
   * @throws IllegalArgumentException for an unknown option, with the nearest known one, or a value
   *     that it can't have
   */
  public static StoreOptions options(Properties properties) {
    Properties store = new Properties();
    store.setProperty("memoryBudget", properties.getProperty("isobar.memory", "256MB"));
    store.setProperty("durability", properties.getProperty("isobar.durability", "async"));
    store.setProperty("ioMode", properties.getProperty("isobar.io", "direct"));
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith(STORE_PREFIX)) {
        store.setProperty(name.substring(STORE_PREFIX.length()), properties.getProperty(name));
      }
    }
    return StoreOptions.fromProperties(store, "");
  }

  @Override
  protected void close() throws DBException {
    if (trees.isEmpty()) {
      return;
    }
    trees = List.of();
    OPENED.release(
        opened -> {
          try (Store store = opened.store()) {
            report(getProperties(), figures(store.stats()));
          }
        });
  }

  private static Map<String, Object> figures(StoreStats stats) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("limitBytes", stats.ledger().limitBytes());
    figures.put("allocatedBytes", stats.ledger().allocatedBytes());
    figures.put("peakBytes", stats.ledger().peakBytes());
    for (Purpose purpose : Purpose.values()) {
      figures.put(
          "ledger." + purpose.name().toLowerCase(Locale.ROOT) + "Bytes",
          stats.ledger().bytes(purpose));
    }
    figures.put("logWrittenBytes", stats.logBytesWritten());
    figures.put("flushWrittenBytes", stats.flushBytesWritten());
    figures.put("mergeWrittenBytes", stats.mergeBytesWritten());
    stats.stalls().forEach((reason, waits) -> figures.put("stalls." + reason, waits.count()));
    stats
        .stalls()
        .forEach(
            (reason, waits) -> figures.put("stallMillis." + reason, waits.nanos() / 1_000_000));
    return figures;
  }

  @Override
  protected int get(int tree, byte[] key, byte[] into) {
    ByteBuffer buffer = target;
    if (buffer == null || buffer.array() != into) {
      buffer = ByteBuffer.wrap(into);
      target = buffer;
    }
    return trees.get(tree).get(key, buffer.clear());
  }

  @Override
  protected void put(int tree, byte[] key, byte[] record) {
    trees.get(tree).put(key, record);
  }

  @Override
  protected void remove(int tree, byte[] key) {
    trees.get(tree).delete(key);
  }

  @Override
  protected void scan(int tree, byte[] from, int limit, RecordVisitor visitor) {
    try (Cursor cursor = trees.get(tree).cursor()) {
      cursor.seek(from);
      cursor.forEach(
          limit,
          (key, value) -> {
            byte[] record = new byte[value.remaining()];
            value.get(record);
            visitor.record(record);
            return true;
          });
    }
  }
}
