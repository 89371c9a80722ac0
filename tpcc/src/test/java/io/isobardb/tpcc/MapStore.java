package io.isobardb.tpcc;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.EntryVisitor;
import io.isobardb.tpcc.store.Put;
import io.isobardb.tpcc.store.TpccStore;
import io.isobardb.tpcc.store.TpccTransaction;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/** A store of sorted maps, without transactions. */
public final class MapStore implements TpccStore {
  private final Map<Table, ConcurrentSkipListMap<byte[], byte[]>> tables =
      new EnumMap<>(Table.class);

  /** An empty store. */
  public MapStore() {
    for (Table table : Table.values()) {
      tables.put(table, new ConcurrentSkipListMap<>(Arrays::compareUnsigned));
    }
  }

  @Override
  public TpccTransaction newTransaction() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void load(List<Put> rows) {
    for (Put row : rows) {
      byte[] before = tables.get(row.table()).put(row.key(), row.value());
      assertNull(before, () -> "written twice: " + row.table());
    }
  }

  @Override
  public byte[] get(Table table, byte[] key) {
    return tables.get(table).get(key);
  }

  @Override
  public void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor) {
    for (Map.Entry<byte[], byte[]> entry : tables.get(table).subMap(from, to).entrySet()) {
      if (!visitor.entry(entry.getKey(), entry.getValue())) {
        return;
      }
    }
  }

  @Override
  public void sync() {}

  @Override
  public void settle() {}

  @Override
  public String configuration() {
    return "maps";
  }

  @Override
  public void close() {}

  /** Rows of a table. */
  public int rows(Table table) {
    return tables.get(table).size();
  }

  /** All rows of a table, which may be changed. */
  public ConcurrentSkipListMap<byte[], byte[]> rowsOf(Table table) {
    return tables.get(table);
  }

  /** Rows of all tables. */
  public int rows() {
    return tables.values().stream().mapToInt(Map::size).sum();
  }

  /** A hash of all rows. */
  public int contents() {
    int hash = 1;
    for (Table table : Table.values()) {
      for (Map.Entry<byte[], byte[]> entry : tables.get(table).entrySet()) {
        hash = 31 * hash + Arrays.hashCode(entry.getKey());
        hash = 31 * hash + Arrays.hashCode(entry.getValue());
      }
    }
    return hash;
  }
}
