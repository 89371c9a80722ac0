package io.isobardb.ycsb;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB client of an engine that maps keys to values: the same encoding, the same choice of trees
 * and the same algorithm of an update for every engine. One instance per client thread, used by it
 * alone.
 *
 * <p>An update reads the record, changes the fields and writes it back ({@code isobar.update=rmw});
 * it does not lock, as the bindings of other engines do not. {@code isobar.update=blind} writes
 * what it is given, which must be all fields ({@code writeallfields}).
 */
public abstract class RecordClient extends DB {
  /** Options of the store follow. */
  protected static final String STORE_PREFIX = "isobar.store.";

  private static final String PREFIX = "isobar.";
  private static final List<String> NAMES =
      List.of("dir", "memory", "durability", "io", "trees", "hot", "update", "report", "engine");

  private static final LongAdder PUT_BYTES = new LongAdder();

  private TreeChoice choice = new TreeChoice(1, "");
  private String table = "usertable";
  private boolean blind;
  private byte[] buffer = new byte[4096];
  private long putBytes;

  /** Sees the records of a scan; the arrays are the visitor's from then on. */
  @FunctionalInterface
  protected interface RecordVisitor {
    /** One record, all of the array. */
    void record(byte[] record);
  }

  /** Opens the engine, if no thread has yet, and what this thread needs of it. */
  protected abstract void open(Properties properties, int trees) throws DBException;

  /** Closes what {@link #open} opened. */
  protected abstract void close() throws DBException;

  /**
   * Copies the value into {@code into} if it fits; what the array holds is otherwise undefined.
   *
   * @return the value's length, or -1 if the key is absent
   */
  protected abstract int get(int tree, byte[] key, byte[] into);

  /** Inserts or overwrites. */
  protected abstract void put(int tree, byte[] key, byte[] record);

  /** Removes the key if it is there. */
  protected abstract void remove(int tree, byte[] key);

  /**
   * Visits up to {@code limit} records of a tree in key order, from the first key not below {@code
   * from}.
   */
  protected abstract void scan(int tree, byte[] from, int limit, RecordVisitor visitor);

  @Override
  public final void init() throws DBException {
    Properties properties = getProperties();
    checkNames(properties);
    try {
      int trees = Integer.parseInt(properties.getProperty("isobar.trees", "1"));
      choice = new TreeChoice(trees, properties.getProperty("isobar.hot", ""));
      table = properties.getProperty("table", "usertable");
      String update = properties.getProperty("isobar.update", "rmw").toLowerCase(Locale.ROOT);
      blind = update.equals("blind");
      if (!blind && !update.equals("rmw")) {
        throw new DBException("isobar.update is neither rmw nor blind: " + update);
      }
      if (blind && !Boolean.parseBoolean(properties.getProperty("writeallfields", "false"))) {
        throw new DBException(
            "isobar.update=blind would lose fields; it needs writeallfields=true");
      }
      open(properties, trees);
    } catch (IllegalArgumentException e) {
      throw new DBException(e);
    }
  }

  /**
   * Refuses what begins as properties of this binding do, and is none.
   *
   * @throws DBException that tells which there are
   */
  public static void checkNames(Properties properties) throws DBException {
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith(PREFIX)
          && !name.startsWith(STORE_PREFIX)
          && !NAMES.contains(name.substring(PREFIX.length()))) {
        throw new DBException(
            "unknown property "
                + name
                + "; known are "
                + STORE_PREFIX
                + "OPTION, and "
                + NAMES.stream().map(known -> PREFIX + known).collect(Collectors.joining(", ")));
      }
    }
  }

  @Override
  public final void cleanup() throws DBException {
    PUT_BYTES.add(putBytes);
    putBytes = 0;
    close();
  }

  /**
   * Writes {@code isobar.report}, a file of properties, if the run asked for it: what the clients
   * wrote ({@code putBytes}: keys and values) and the engine's figures. To be called by the thread
   * that closes the engine, before it does; counts the threads that have cleaned up by then.
   */
  protected static void report(Properties run, Map<String, ?> figures) throws DBException {
    String file = run.getProperty("isobar.report");
    if (file == null) {
      return;
    }
    Properties report = new Properties();
    report.setProperty("putBytes", Long.toString(PUT_BYTES.sum()));
    figures.forEach((name, value) -> report.setProperty("engine." + name, value.toString()));
    try (Writer out = Files.newBufferedWriter(Path.of(file), StandardCharsets.UTF_8)) {
      report.store(out, null);
    } catch (IOException e) {
      throw new DBException("cannot write " + file, e);
    }
  }

  @Override
  public final Status read(
      String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
    if (!table.equals(this.table)) {
      return Status.BAD_REQUEST;
    }
    byte[] keyBytes = bytes(key);
    int length = load(choice.of(keyBytes), keyBytes);
    if (length < 0) {
      return Status.NOT_FOUND;
    }
    RecordCodec.decode(buffer, length, fields, result);
    return Status.OK;
  }

  @Override
  public final Status scan(
      String table,
      String startkey,
      int recordcount,
      @Nullable Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    if (!table.equals(this.table)) {
      return Status.BAD_REQUEST;
    }
    byte[] from = bytes(startkey);
    scan(
        choice.of(from),
        from,
        recordcount,
        record -> {
          HashMap<String, ByteIterator> row = new HashMap<>();
          RecordCodec.decode(record, record.length, fields, row);
          result.add(row);
        });
    return Status.OK;
  }

  @Override
  public final Status update(String table, String key, Map<String, ByteIterator> values) {
    if (!table.equals(this.table)) {
      return Status.BAD_REQUEST;
    }
    byte[] keyBytes = bytes(key);
    int tree = choice.of(keyBytes);
    byte[] record;
    if (blind) {
      record = RecordCodec.encode(values);
    } else {
      int length = load(tree, keyBytes);
      if (length < 0) {
        return Status.NOT_FOUND;
      }
      record = RecordCodec.change(buffer, length, values);
    }
    write(tree, keyBytes, record);
    return Status.OK;
  }

  @Override
  public final Status insert(String table, String key, Map<String, ByteIterator> values) {
    if (!table.equals(this.table)) {
      return Status.BAD_REQUEST;
    }
    byte[] keyBytes = bytes(key);
    write(choice.of(keyBytes), keyBytes, RecordCodec.encode(values));
    return Status.OK;
  }

  @Override
  public final Status delete(String table, String key) {
    if (!table.equals(this.table)) {
      return Status.BAD_REQUEST;
    }
    byte[] keyBytes = bytes(key);
    remove(choice.of(keyBytes), keyBytes);
    return Status.OK;
  }

  private static byte[] bytes(String key) {
    return key.getBytes(StandardCharsets.UTF_8);
  }

  private void write(int tree, byte[] key, byte[] record) {
    put(tree, key, record);
    putBytes += key.length + record.length;
  }

  /** Reads into {@link #buffer}, which grows to what is read. */
  private int load(int tree, byte[] key) {
    int length = get(tree, key, buffer);
    while (length > buffer.length) {
      buffer = new byte[Math.max(length, 2 * buffer.length)];
      length = get(tree, key, buffer);
    }
    return length;
  }
}
