package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Tree;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds records by one index key.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class IndexReader {
  /** How many records are looked up together. */
  private static final int CHUNK = 256;

  private final Tree primary;

  IndexReader(Tree primary) {
    this.primary = primary;
  }

  /** The records with an index key, by primary key. */
  List<IndexEntry> find(View view, SecondaryIndex index, byte[] indexKey) {
    List<IndexEntry> found = new ArrayList<>();
    if (index.isUnique()) {
      byte[] holder = view.get(index.tree(), indexKey);
      if (holder != null) {
        add(view, index, indexKey, List.of(holder), found);
      }
      return found;
    }
    List<byte[]> keys = new ArrayList<>();
    try (Cursor cursor = view.cursor(index.tree(), index.options(IndexRange.only(indexKey)))) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        keys.add(index.primaryKey(cursor));
        if (keys.size() == CHUNK) {
          add(view, index, indexKey, keys, found);
          keys.clear();
        }
      }
    }
    add(view, index, indexKey, keys, found);
    return found;
  }

  private void add(
      View view, SecondaryIndex index, byte[] indexKey, List<byte[]> keys, List<IndexEntry> found) {
    boolean validates = !index.isExact() || !view.isFixed();
    List<byte @Nullable []> records = view.getAll(primary, keys);
    for (int i = 0; i < keys.size(); i++) {
      byte[] record = records.get(i);
      if (!validates && record == null) {
        throw index.lost(indexKey, keys.get(i));
      }
      if (record != null && (!validates || index.leads(indexKey, keys.get(i), record))) {
        found.add(new IndexEntry(indexKey.clone(), keys.get(i), record));
      } else {
        index.countStale();
      }
    }
  }
}
