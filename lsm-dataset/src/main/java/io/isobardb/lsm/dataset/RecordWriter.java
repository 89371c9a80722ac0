package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes a record and its index entries within a transaction.
 *
 * <p>What holds whenever a transaction has committed: for each index key of each record there is an
 * entry; and of an eager index that is ready, there is no other entry. Why it holds with many
 * writers:
 *
 * <ul>
 *   <li>Two writers of one record exclude each other, since both write it: by its lock, or by the
 *       check of an optimistic commit. An eager writer reads it for update, so what it removes the
 *       entries of is what it replaces.
 *   <li>An entry of a plain index belongs to one record, so nobody else writes it.
 *   <li>An entry of a unique index is read for update before it is written. Of two that want it for
 *       different records, the second sees the first.
 * </ul>
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class RecordWriter {
  /** What a write does to an index. */
  private record Change(SecondaryIndex index, SortedSet<byte[]> removed, SortedSet<byte[]> added) {}

  private static final SortedSet<byte[]> NO_KEYS =
      Collections.unmodifiableSortedSet(new TreeSet<>(Arrays::compareUnsigned));

  private final String dataset;
  private final Tree primary;

  RecordWriter(String dataset, Tree primary) {
    this.dataset = dataset;
    this.primary = primary;
  }

  /**
   * Sets or removes a record. No other thread may use the transaction meanwhile: see {@link
   * Transaction#exclusively}.
   *
   * @param what of a put with an instant of its own; its entries expire with it
   * @throws DuplicateKeyException if a unique index has one of its keys already; nothing is written
   * @throws ExtractorException if an extractor fails; nothing is written
   */
  void write(Transaction transaction, Layout layout, RecordBatch.Operation what) {
    byte[] key = what.key();
    byte[] value = what.value();
    // Once, before all that depends on it: the time to live may be set meanwhile.
    Instant given = what.expires() == null ? primary.expiryNow() : what.expires();
    Instant expires = given == null ? Instant.MAX : given;
    List<Change> changes = plan(transaction, layout, what, expires);
    // If this fails, nothing is written.
    if (value == null) {
      transaction.delete(primary, key);
    } else {
      transaction.put(primary, key, value, expires);
    }
    // What can be refused has been by now. Should something fail nevertheless, half a write must
    // not be committed.
    try {
      for (Change change : changes) {
        change.removed.forEach(indexKey -> change.index.remove(transaction, indexKey, key));
        change.added.forEach(indexKey -> change.index.add(transaction, indexKey, key, expires));
      }
    } catch (RuntimeException | Error e) {
      transaction.rollback();
      throw e;
    }
  }

  /**
   * Removes all records of a range: at once if no index has to be told, since readers of those with
   * validation look at the records. Else one by one.
   */
  void deleteRange(
      Transaction transaction, Layout layout, byte @Nullable [] from, byte @Nullable [] to) {
    if (layout.indexes().stream().noneMatch(index -> index.isEager() || index.isUnique())) {
      transaction.deleteRange(primary, from, to);
      return;
    }
    Savepoint before = transaction.savepoint();
    // Keeps others out of the range from now on. Its records then go with their index entries.
    transaction.deleteRange(primary, from, to);
    transaction.rollbackTo(before);
    CursorOptions range = CursorOptions.all();
    range = from == null ? range : range.from(from);
    range = to == null ? range : range.to(to);
    try (Cursor cursor = transaction.cursor(primary, range)) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        write(transaction, layout, new RecordBatch.Operation(cursor.key(), null, null));
      }
    } catch (RuntimeException | Error e) {
      if (transaction.isOpen()) {
        transaction.rollbackTo(before);
      }
      throw e;
    }
  }

  /**
   * Finds out what is to be done, and refuses what can't be; takes the locks that others want.
   *
   * @param expires when the record that is put does
   */
  private List<Change> plan(
      Transaction transaction, Layout layout, RecordBatch.Operation what, Instant expires) {
    byte[] key = what.key();
    byte[] value = what.value();
    checkSize(key, value);
    byte[] old = layout.readsOld() ? transaction.getForUpdate(primary, key) : null;
    // Asked after the look at the old record: a put of one that expires has told it before.
    boolean neverExpires = expires.equals(Instant.MAX) && !primary.hasExpiring();
    List<Change> changes = new ArrayList<>();
    for (SecondaryIndex index : layout.indexes()) {
      SortedSet<byte[]> added = value == null ? NO_KEYS : index.keys(key, value);
      SortedSet<byte[]> removed = NO_KEYS;
      if (index.isEager() && old != null) {
        SortedSet<byte[]> before = index.keys(key, old);
        removed = without(before, added);
        if (index.isReady() && neverExpires) {
          added = without(added, before);
        }
      }
      if (index.isUnique()) {
        for (byte[] indexKey : added) {
          checkUnique(transaction, index, indexKey, key);
        }
        if (!removed.isEmpty() && (!index.isReady() || primary.hasExpiring())) {
          // Records that were there before may have the key twice. Or the old record has expired
          // since it was read, and another has taken the key.
          removed.removeIf(indexKey -> !isHolder(transaction, index, indexKey, key));
        }
      }
      changes.add(new Change(index, removed, added));
    }
    return changes;
  }

  private void checkSize(byte[] key, byte @Nullable [] value) {
    if (key.length > primary.maxKeyBytes()) {
      throw new IllegalArgumentException(
          "a key of "
              + key.length
              + " bytes exceeds the limit of "
              + primary.maxKeyBytes()
              + " bytes, a quarter of a page");
    }
    if (value != null && value.length > primary.maxValueBytes()) {
      throw new IllegalArgumentException(
          "a record of "
              + value.length
              + " bytes exceeds the limit of "
              + primary.maxValueBytes()
              + " bytes, a quarter of the write memory");
    }
  }

  private static SortedSet<byte[]> without(SortedSet<byte[]> keys, SortedSet<byte[]> others) {
    SortedSet<byte[]> left = new TreeSet<>(keys);
    left.removeIf(others::contains);
    return left;
  }

  private static boolean isHolder(
      Transaction transaction, SecondaryIndex index, byte[] indexKey, byte[] key) {
    byte[] holder = transaction.getForUpdate(index.tree(), indexKey);
    return holder != null && Arrays.equals(holder, key);
  }

  /**
   * Sees to it that an index key of a unique index is free for a record, until the transaction has
   * ended.
   */
  private void checkUnique(
      Transaction transaction, SecondaryIndex index, byte[] indexKey, byte[] key) {
    byte[] holder = transaction.getForUpdate(index.tree(), indexKey);
    if (holder == null || Arrays.equals(holder, key)) {
      return;
    }
    // The holder's record fits the entry of an exact index, with one exception. A transaction that
    // locks nothing may see the entry of another's record which it has itself written before. Its
    // commit will fail, and not its write, so that it is tried again.
    byte[] record =
        index.isExact()
            ? transaction.get(primary, holder)
            : transaction.getForUpdate(primary, holder);
    if (record == null || !index.leads(indexKey, holder, record)) {
      return;
    }
    throw new DuplicateKeyException(dataset, index.name(), indexKey, holder, key);
  }

  /** Adds the entries of a record that is there to an index that is being built. */
  void index(Transaction transaction, SecondaryIndex index, byte[] key) {
    byte[] value = transaction.getForUpdate(primary, key);
    if (value == null) {
      return;
    }
    for (byte[] indexKey : index.keys(key, value)) {
      if (index.isUnique()) {
        checkUnique(transaction, index, indexKey, key);
      }
      index.add(transaction, indexKey, key, expires(transaction, key));
    }
  }

  /** When a record expires that the transaction has read for update. */
  private Instant expires(Transaction transaction, byte[] key) {
    if (primary.hasExpiring()) {
      try (Cursor cursor = transaction.cursor(primary, CursorOptions.all().from(key))) {
        if (!cursor.first() || !Arrays.equals(cursor.key(), key)) {
          // It has just done so.
          return Instant.EPOCH;
        }
        Instant expires = cursor.expires();
        return expires == null ? Instant.MAX : expires;
      }
    }
    return Instant.MAX;
  }

  /**
   * Removes an entry unless it fits its record.
   *
   * @return whether it was removed
   */
  boolean repair(Transaction transaction, SecondaryIndex index, byte[] indexKey, byte[] key) {
    byte[] value = transaction.getForUpdate(primary, key);
    if (value != null && index.leads(indexKey, key, value)) {
      return false;
    }
    if (index.isUnique() && !isHolder(transaction, index, indexKey, key)) {
      return false;
    }
    index.remove(transaction, indexKey, key);
    return true;
  }
}
