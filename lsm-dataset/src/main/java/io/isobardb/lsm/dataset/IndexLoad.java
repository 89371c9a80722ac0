package io.isobardb.lsm.dataset;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Fills an empty index while nobody writes to the dataset: goes through the records, sorts their
 * entries in memory, a piece at a time, and loads each piece in bulk.
 *
 * <p>A crash leaves the pieces that were loaded; {@link IndexChanges#open} begins anew then.
 *
 * <p>Thread rule: one thread, once.
 */
final class IndexLoad {
  /** About how much of the heap a piece takes. */
  static final long PIECE_BYTES = 16 << 20;

  /** What an entry takes beside its bytes: three objects, with their headers, and a place. */
  private static final int ENTRY_BYTES = 72;

  private final Store store;
  private final Tree primary;
  private final SecondaryIndex index;
  private final long pieceBytes;
  private final List<Entry> piece = new ArrayList<>();
  private long bytes;
  private boolean loaded;

  /** An entry as it is stored, with the instant from which its record is absent. */
  private record Entry(byte[] key, byte[] value, Instant expires) {}

  /**
   * @param index which has no entries
   * @param pieceBytes of the heap, more or less, that entries are sorted in
   */
  IndexLoad(Store store, Tree primary, SecondaryIndex index, long pieceBytes) {
    this.store = store;
    this.primary = primary;
    this.index = index;
    this.pieceBytes = pieceBytes;
  }

  /**
   * Loads all of it.
   *
   * @throws DuplicateKeyException if two records have one key of a unique index
   * @throws ExtractorException if an index can't be told its keys
   */
  void run(BuildProgress progress) {
    long records = 0;
    try (Cursor cursor = primary.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        byte[] key = cursor.key();
        Instant expires = cursor.expires();
        for (byte[] indexKey : index.keys(key, cursor.value())) {
          byte[] entryKey = index.entryKey(indexKey, key);
          byte[] value = index.entryValue(key);
          piece.add(new Entry(entryKey, value, expires == null ? Instant.MAX : expires));
          bytes += entryKey.length + value.length + ENTRY_BYTES;
        }
        records++;
        if (bytes >= pieceBytes) {
          load();
          progress.at(index.name(), records);
        }
      }
    }
    if (!piece.isEmpty()) {
      load();
      progress.at(index.name(), records);
    }
  }

  private void load() {
    piece.sort((a, b) -> Arrays.compareUnsigned(a.key, b.key));
    try (BulkLoad load = store.bulkLoad(index.tree())) {
      Entry before = null;
      for (Entry entry : piece) {
        if (index.isUnique()) {
          checkUnique(before, entry);
        }
        load.add(index.tree(), entry.key, entry.value, entry.expires);
        before = entry;
      }
      load.commit();
    }
    piece.clear();
    bytes = 0;
    loaded = true;
  }

  /** Nobody writes, so the holder of the key is a record that has it. */
  private void checkUnique(@Nullable Entry before, Entry entry) {
    byte[] holder = null;
    if (before != null && Arrays.equals(before.key, entry.key)) {
      holder = before.value;
    } else if (loaded) {
      holder = index.tree().get(entry.key);
    }
    if (holder != null) {
      throw new DuplicateKeyException(primary.name(), index.name(), entry.key, holder, entry.value);
    }
  }
}
