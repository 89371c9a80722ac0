package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Goes through an index and removes stale entries, a slice at a time.
 *
 * <p>A slice is read as of one moment; what looks stale is looked at again, with the record locked,
 * and removed in one transaction. So no writer's new entry goes, and nobody waits for more than a
 * slice.
 *
 * <p>Thread rule: all methods may be called by any thread, many at once.
 */
final class IndexRepair {
  private static final int SLICE = 128;

  /** Reads what is there once the record's lock is held. */
  static final TransactionOptions LATEST =
      TransactionOptions.builder().isolation(Isolation.READ_COMMITTED).build();

  /** As {@link #LATEST}; what a crash takes of it is done again. */
  static final TransactionOptions BACKGROUND =
      TransactionOptions.builder()
          .isolation(Isolation.READ_COMMITTED)
          .durability(Durability.ASYNC)
          .build();

  private record Entry(byte[] entryKey, byte[] indexKey, byte[] key) {}

  /**
   * A slice that was done.
   *
   * @param next where the next one begins; null if there is none
   */
  record Slice(int entries, int removed, byte @Nullable [] next) {}

  private final Store store;
  private final Tree primary;
  private final RecordWriter writer;

  IndexRepair(Store store, Tree primary, RecordWriter writer) {
    this.store = store;
    this.primary = primary;
    this.writer = writer;
  }

  /** Repairs a slice of an index, of at most {@code most} entries. */
  Slice repair(SecondaryIndex index, byte @Nullable [] from, long most) {
    List<Entry> entries;
    List<Entry> stale = new ArrayList<>();
    try (Snapshot snapshot = store.snapshot()) {
      View view = View.of(snapshot);
      entries = read(view, index, from, (int) Math.min(SLICE, most));
      List<byte @Nullable []> records =
          view.getAll(primary, entries.stream().map(Entry::key).toList());
      for (int i = 0; i < entries.size(); i++) {
        Entry entry = entries.get(i);
        byte[] record = records.get(i);
        if (record == null || !index.leads(entry.indexKey, entry.key, record)) {
          stale.add(entry);
        }
      }
    }
    int removed = stale.isEmpty() ? 0 : remove(index, stale);
    if (entries.isEmpty()) {
      return new Slice(0, removed, null);
    }
    byte[] last = entries.get(entries.size() - 1).entryKey;
    return new Slice(entries.size(), removed, Arrays.copyOf(last, last.length + 1));
  }

  private static List<Entry> read(
      View view, SecondaryIndex index, byte @Nullable [] from, int most) {
    CursorOptions all = CursorOptions.all();
    List<Entry> entries = new ArrayList<>();
    try (Cursor cursor = view.cursor(index.tree(), from == null ? all : all.from(from))) {
      for (boolean more = cursor.first(); more && entries.size() < most; more = cursor.next()) {
        entries.add(new Entry(cursor.key(), index.indexKey(cursor), index.primaryKey(cursor)));
      }
    }
    return entries;
  }

  private int remove(SecondaryIndex index, List<Entry> stale) {
    return store.inTransaction(
        BACKGROUND,
        transaction -> {
          int removed = 0;
          for (Entry entry : stale) {
            removed += writer.repair(transaction, index, entry.indexKey, entry.key) ? 1 : 0;
          }
          return removed;
        });
  }
}
