package io.isobardb.lsm.recovery;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSalvage;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What was found of one tree: SSTables, and the newest version of each key in the log. Merged, of
 * each key the version with the highest LSN counts.
 *
 * <p>Thread rule: one thread.
 */
final class SalvagedTree {
  private final TreeDefinition definition;
  private final KeyOrder order;
  private final long maxLsn;
  private final List<TableSalvage> tables = new ArrayList<>();
  private final TreeMap<byte[], Version> log;
  private final List<RangeDelete> ranges = new ArrayList<>();
  private RangeDeletes deletes;

  /** Whether the range deletes are those of the manifest, and of the log behind it. */
  private boolean exact;

  private long logBytes;

  /** A version from the log; no value if it is a delete. */
  private record Version(long lsn, byte @Nullable [] value) {}

  /**
   * @param maxLsn versions with greater LSNs do not count
   */
  SalvagedTree(TreeDefinition definition, KeyOrder order, long maxLsn) {
    this.definition = definition;
    this.order = order;
    this.maxLsn = maxLsn;
    this.deletes = RangeDeletes.none(order);
    this.log = new TreeMap<>(this::compare);
  }

  TreeDefinition definition() {
    return definition;
  }

  KeyOrder order() {
    return order;
  }

  private int compare(byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length);
  }

  void add(TableSalvage table) {
    if (table.entries() > 0) {
      tables.add(table);
    }
  }

  /** The manifest can be read: what follows of range deletes is all there are. */
  void rangesAreExact() {
    exact = true;
  }

  void add(RangeDelete range) {
    if (range.lsn() <= maxLsn) {
      ranges.add(range);
    }
  }

  /**
   * Whether a range delete hides the newest version of a key. If there may have been others in
   * between, entries that have lost their LSN are kept: better too much than too little.
   */
  private boolean isHidden(byte[] key, long lsn) {
    return (lsn != Lsn.ZERO || exact) && deletes.covering(key, key.length, maxLsn) > lsn;
  }

  /** Adds a version from the log; LSNs come in their order. */
  void add(byte[] key, long lsn, byte @Nullable [] value) {
    Version old = log.put(key, new Version(lsn, value));
    logBytes += value == null ? 0 : value.length;
    logBytes -= old == null ? -100L - key.length : old.value == null ? 0 : old.value.length;
  }

  /** About the memory that {@link #add} took since {@link #forgetLog}. */
  long logBytes() {
    return logBytes;
  }

  /** Writes the log's versions with their LSNs; they are then to be forgotten. */
  void writeLog(SSTableWriter writer, Memory scratch, int pageSize) throws IOException {
    for (Map.Entry<byte[], Version> entry : log.entrySet()) {
      byte[] key = entry.getKey();
      Version version = entry.getValue();
      write(writer, key, version.lsn, version.value, scratch, pageSize);
    }
  }

  void forgetLog() {
    log.clear();
    logBytes = 0;
  }

  private static void write(
      SSTableWriter writer,
      byte[] key,
      long lsn,
      byte @Nullable [] value,
      Memory scratch,
      int pageSize)
      throws IOException {
    if (value == null) {
      writer.add(key, key.length, lsn, Kind.DELETE, scratch, 0, 0);
    } else if (PageLayout.fitsInline(pageSize, key.length, value.length)) {
      scratch.put(0, value, 0, value.length);
      writer.add(key, key.length, lsn, Kind.PUT, scratch, 0, value.length);
    } else {
      writer.addOverflow(
          key,
          key.length,
          lsn,
          value.length,
          (from, target, at, length) -> target.put(at, value, from, length));
    }
  }

  /** Receives what a tree holds. */
  interface Visitor {
    /** The writer to write the next key to. */
    SSTableWriter writer() throws IOException;

    /** The newest value of a key can't be read. */
    void lost(String file, byte[] key);
  }

  /** Writes the newest value of each key, with an LSN below that of any log. */
  void merge(Visitor visitor, Memory scratch, int pageSize) throws IOException {
    PriorityQueue<Source> sources =
        new PriorityQueue<>(
            (a, b) -> {
              int c = compare(a.key(), b.key());
              return c != 0 ? c : Long.compare(b.lsn(), a.lsn());
            });
    deletes = RangeDeletes.of(order, ranges);
    List<Source> all = sources();
    try {
      for (Source source : all) {
        if (source.next(maxLsn)) {
          sources.add(source);
        }
      }
      for (Source top = sources.poll(); top != null; top = sources.poll()) {
        byte[] key = top.key();
        if (!isHidden(key, top.lsn())) {
          top.write(key, visitor, scratch, pageSize);
        }
        advance(top, sources);
        for (Source same = sources.peek();
            same != null && compare(same.key(), key) == 0;
            same = sources.peek()) {
          sources.remove();
          advance(same, sources);
        }
      }
    } finally {
      for (Source source : all) {
        source.close();
      }
    }
  }

  private void advance(Source source, PriorityQueue<Source> sources) throws IOException {
    if (source.next(maxLsn)) {
      sources.add(source);
    }
  }

  /** The log, and as few runs of disjoint tables as there can be. */
  private List<Source> sources() {
    List<Source> sources = new ArrayList<>();
    if (!log.isEmpty()) {
      sources.add(new LogSource(log));
    }
    List<TableSalvage> sorted = new ArrayList<>(tables);
    sorted.sort(Comparator.comparing(SalvagedTree::first, this::compare));
    // The run that ends first is the one to go on with, if any is.
    PriorityQueue<List<TableSalvage>> runs =
        new PriorityQueue<>(
            Comparator.comparing(run -> last(run.get(run.size() - 1)), this::compare));
    for (TableSalvage table : sorted) {
      List<TableSalvage> run = runs.peek();
      if (run != null && compare(last(run.get(run.size() - 1)), first(table)) < 0) {
        runs.remove();
      } else {
        run = new ArrayList<>();
      }
      run.add(table);
      runs.add(run);
    }
    runs.forEach(run -> sources.add(new TableSource(new ArrayDeque<>(run))));
    return sources;
  }

  private static byte[] first(TableSalvage table) {
    byte[] key = table.firstKey();
    return key == null ? new byte[0] : key;
  }

  private static byte[] last(TableSalvage table) {
    byte[] key = table.lastKey();
    return key == null ? new byte[0] : key;
  }

  /** Versions by key, and of one key from the newest to the oldest. */
  private interface Source {
    boolean next(long maxLsn) throws IOException;

    byte[] key();

    long lsn();

    void write(byte[] key, Visitor visitor, Memory scratch, int pageSize) throws IOException;

    void close() throws IOException;
  }

  private static final class LogSource implements Source {
    private final Iterator<Map.Entry<byte[], Version>> rest;
    private byte[] key = new byte[0];
    private Version version = new Version(0, null);

    LogSource(TreeMap<byte[], Version> log) {
      this.rest = log.entrySet().iterator();
    }

    @Override
    public boolean next(long maxLsn) {
      if (!rest.hasNext()) {
        return false;
      }
      Map.Entry<byte[], Version> entry = rest.next();
      key = entry.getKey();
      version = entry.getValue();
      return true;
    }

    @Override
    public byte[] key() {
      return key;
    }

    @Override
    public long lsn() {
      return version.lsn;
    }

    @Override
    public void write(byte[] of, Visitor visitor, Memory scratch, int pageSize) throws IOException {
      if (version.value != null) {
        SalvagedTree.write(visitor.writer(), of, Lsn.ZERO, version.value, scratch, pageSize);
      }
    }

    @Override
    public void close() {}
  }

  private static final class TableSource implements Source {
    private final Queue<TableSalvage> tables;
    private byte[] key = new byte[0];

    TableSource(Queue<TableSalvage> tables) {
      this.tables = tables;
    }

    private TableSalvage table() {
      return tables.element();
    }

    @Override
    public boolean next(long maxLsn) throws IOException {
      while (!tables.isEmpty()) {
        while (table().next()) {
          if (table().lsn() <= maxLsn) {
            key = table().key();
            return true;
          }
        }
        tables.remove().close();
      }
      return false;
    }

    @Override
    public byte[] key() {
      return key;
    }

    @Override
    public long lsn() {
      return table().lsn();
    }

    @Override
    public void write(byte[] of, Visitor visitor, Memory scratch, int pageSize) throws IOException {
      TableSalvage table = table();
      if (table.isDelete()) {
        return;
      }
      if (!table.hasWholeValue()) {
        visitor.lost(table.fileName(), of);
        return;
      }
      SSTableWriter writer = visitor.writer();
      int length = table.valueLength();
      if (PageLayout.fitsInline(pageSize, of.length, length)) {
        table.copyValue(0, scratch, 0, length);
        writer.add(of, of.length, Lsn.ZERO, Kind.PUT, scratch, 0, length);
      } else {
        writer.addOverflow(of, of.length, Lsn.ZERO, length, table::copyValue);
      }
    }

    @Override
    public void close() throws IOException {
      if (!tables.isEmpty()) {
        table().close();
      }
    }
  }
}
