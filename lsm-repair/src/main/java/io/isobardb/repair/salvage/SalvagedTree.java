package io.isobardb.repair.salvage;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.format.TableSalvage;
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

  /** What is merged of the key at hand. */
  private final OperandChain chain = new OperandChain();

  /**
   * A version from the log.
   *
   * @param value empty if it is a delete
   * @param older what is merged with it; null if nothing is
   */
  private record Version(long lsn, int kind, byte[] value, long expiry, @Nullable Version older) {}

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

  /** The SSTables that were found. */
  List<TableSalvage> tables() {
    return List.copyOf(tables);
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
  void add(byte[] key, long lsn, int kind, byte[] value, long expiry) {
    Version old = log.get(key);
    boolean merges = kind == Kind.MERGE;
    log.put(key, new Version(lsn, kind, value, expiry, merges ? old : null));
    logBytes += value.length + (old == null || merges ? 100L + key.length : 0);
    logBytes -= old == null || merges ? 0 : old.value.length;
  }

  /** About the memory that {@link #add} took since {@link #forgetLog}. */
  long logBytes() {
    return logBytes;
  }

  /** Writes the log's versions with their LSNs; they are then to be forgotten. */
  void writeLog(SSTableWriter writer) throws IOException {
    for (Map.Entry<byte[], Version> entry : log.entrySet()) {
      byte[] key = entry.getKey();
      for (Version version = entry.getValue(); version != null; version = version.older) {
        writer
            .expiring(version.expiry)
            .add(key, key.length, version.lsn, version.kind, version.value);
      }
    }
  }

  void forgetLog() {
    log.clear();
    logBytes = 0;
  }

  /** Receives what a tree holds. */
  interface Visitor {
    /** The writer to write the next key to. */
    SSTableWriter writer() throws IOException;

    /** The newest value of a key can't be read. */
    void onLost(String file, byte[] key);
  }

  /** Writes the newest value of each key, with an LSN below that of any log. */
  void merge(Visitor visitor, Memory scratch, int pageSize) throws IOException {
    PriorityQueue<Source> sources =
        new PriorityQueue<>(
            (a, b) -> {
              int c = compare(a.key(), b.key());
              c = c != 0 ? c : Long.compare(b.lsn(), a.lsn());
              // What was folded stands for single operands, too.
              return c != 0 ? c : Integer.compare(a.kind(), b.kind());
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
        boolean hidden = isHidden(key, top.lsn());
        boolean operand = top.kind() == Kind.MERGE && !hidden;
        boolean lost = operand && !take(top, visitor, scratch, pageSize);
        if (!operand && !hidden) {
          top.write(key, visitor, scratch, pageSize);
        }
        advance(top, sources);
        for (Source same = sources.peek();
            same != null && compare(same.key(), key) == 0;
            same = sources.peek()) {
          sources.remove();
          if (operand && isHidden(key, same.lsn())) {
            chain.end();
          }
          lost = lost || (operand && !take(same, visitor, scratch, pageSize));
          advance(same, sources);
        }
        if (operand && !lost) {
          byte[] value = chain.toValue(null);
          visitor
              .writer()
              .expiring(chain.expiry())
              .add(key, key.length, Lsn.ZERO, Kind.MERGE, value);
        }
        chain.clear();
      }
    } finally {
      for (Source source : all) {
        source.close();
      }
    }
  }

  /** Takes up a version that may be merged with newer ones; false if it can't be read. */
  private boolean take(Source source, Visitor visitor, Memory scratch, int pageSize)
      throws IOException {
    if (chain.isComplete()) {
      return true;
    }
    byte[] value = source.value(scratch, pageSize);
    if (value == null) {
      visitor.onLost(source.file(), source.key());
      return false;
    }
    chain.add(
        source.kind(), source.lsn(), Kind.isDelete(source.kind()) ? null : value, source.expiry());
    return true;
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

    /** {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}. */
    int kind();

    /** When it expires, or {@link Expiry#NEVER}. */
    long expiry();

    /** The value; null if it can't be read. */
    byte @Nullable [] value(Memory scratch, int pageSize) throws IOException;

    /** Where it comes from. */
    String file();

    void write(byte[] key, Visitor visitor, Memory scratch, int pageSize) throws IOException;

    void close() throws IOException;
  }

  private static final class LogSource implements Source {
    private final Iterator<Map.Entry<byte[], Version>> rest;
    private byte[] key = new byte[0];
    private Version version = new Version(0, Kind.DELETE, new byte[0], Expiry.NEVER, null);

    LogSource(TreeMap<byte[], Version> log) {
      this.rest = log.entrySet().iterator();
    }

    @Override
    public boolean next(long maxLsn) {
      Version older = version.older;
      if (older != null) {
        version = older;
        return true;
      }
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
    public int kind() {
      return version.kind;
    }

    @Override
    public long expiry() {
      return version.expiry;
    }

    @Override
    public byte[] value(Memory scratch, int pageSize) {
      return version.value;
    }

    @Override
    public String file() {
      return "the log";
    }

    @Override
    public void write(byte[] of, Visitor visitor, Memory scratch, int pageSize) throws IOException {
      if (!Kind.isDelete(version.kind)) {
        visitor
            .writer()
            .expiring(version.expiry)
            .add(of, of.length, Lsn.ZERO, version.kind, version.value);
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
    public int kind() {
      return table().isOperand() ? Kind.MERGE : table().isDelete() ? Kind.DELETE : Kind.PUT;
    }

    @Override
    public long expiry() {
      return table().expiry();
    }

    @Override
    public byte @Nullable [] value(Memory scratch, int pageSize) throws IOException {
      TableSalvage table = table();
      if (!table.hasWholeValue()) {
        return null;
      }
      byte[] value = new byte[table.valueLength()];
      for (int from = 0; from < value.length; from += pageSize) {
        int piece = Math.min(pageSize, value.length - from);
        table.copyValue(from, scratch, 0, piece);
        scratch.get(0, value, from, piece);
      }
      return value;
    }

    @Override
    public String file() {
      return table().fileName();
    }

    @Override
    public void write(byte[] of, Visitor visitor, Memory scratch, int pageSize) throws IOException {
      TableSalvage table = table();
      if (table.isDelete()) {
        return;
      }
      if (!table.hasWholeValue()) {
        visitor.onLost(table.fileName(), of);
        return;
      }
      SSTableWriter writer = visitor.writer().expiring(table.expiry());
      int length = table.valueLength();
      int stored = length + Expiry.bytes(table.expiry());
      if (PageLayout.fitsInline(pageSize, of.length, stored)) {
        table.copyValue(0, scratch, 0, length);
        writer.add(of, of.length, Lsn.ZERO, Kind.PUT, scratch, 0, length);
      } else {
        writer.addOverflow(of, of.length, Lsn.ZERO, Kind.PUT_OVERFLOW, length, table::copyValue);
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
