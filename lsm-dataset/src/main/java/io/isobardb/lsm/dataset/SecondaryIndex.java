package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.MergeFilter;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.ShownKey;
import io.isobardb.lsm.error.UserCode;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * An index that is maintained: its definition, its tree, and how far it is.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class SecondaryIndex implements MergeFilter {
  private static final byte[] NO_VALUE = new byte[0];

  private final Index definition;
  private final Tree tree;
  private final IndexCatalog.Stored stored;
  private final Stale stale;

  /** Stale entries that were met: by readers, which passed them over, and by merges. */
  private record Stale(LongAdder seen, LongAdder dropped) {}

  SecondaryIndex(Index definition, Tree tree, IndexCatalog.Stored stored) {
    this(definition, tree, stored, new Stale(new LongAdder(), new LongAdder()));
  }

  private SecondaryIndex(Index definition, Tree tree, IndexCatalog.Stored stored, Stale stale) {
    this.definition = definition;
    this.tree = tree;
    this.stored = stored;
    this.stale = stale;
  }

  /** The same index in another state. */
  SecondaryIndex with(IndexCatalog.Stored now) {
    return new SecondaryIndex(definition, tree, now, stale);
  }

  String name() {
    return definition.name();
  }

  Index definition() {
    return definition;
  }

  Tree tree() {
    return tree;
  }

  IndexCatalog.Stored stored() {
    return stored;
  }

  boolean isReady() {
    return stored.state() == IndexState.READY;
  }

  boolean isUnique() {
    return definition.unique();
  }

  boolean isEager() {
    return definition.maintenance() == Maintenance.EAGER;
  }

  /**
   * Whether each entry fits its record. If not, its reader has to look: at the record of an index
   * with validation; and while an eager one is being built, when transactions that do not know it
   * may still be writing.
   */
  boolean isExact() {
    return isEager() && isReady();
  }

  /** A reader has passed over an entry. Of an eager index that is its own transaction's doing. */
  void countStale() {
    if (!isEager()) {
      stale.seen.increment();
    }
  }

  long staleSeen() {
    return stale.seen.sum();
  }

  long staleDropped() {
    return stale.dropped.sum();
  }

  /**
   * From now on, merges drop stale entries as they meet them, if this is an index with validation.
   * It is ready: whatever makes a record fit an entry puts that entry.
   *
   * <p>Not of a unique index, whose cursors take the primary key from the value.
   */
  void repairAtMerges(Tree primary) {
    if (!isEager() && !isUnique() && primary.isLogged()) {
      tree.setMergeFilter(primary, this);
    }
  }

  @Override
  public byte[] recordKey(byte[] entryKey) {
    return EntryKey.primaryKey(entryKey);
  }

  @Override
  public boolean counts(byte[] entryKey, byte @Nullable [] record) {
    boolean fits =
        record != null && leads(EntryKey.indexKey(entryKey), EntryKey.primaryKey(entryKey), record);
    if (!fits) {
      stale.dropped.increment();
    }
    return fits;
  }

  /**
   * The index keys of a record, each once.
   *
   * @throws ExtractorException if the extractor fails, or gives what can't be a key
   */
  SortedSet<byte[]> keys(byte[] key, byte[] value) {
    SortedSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    try {
      Collection<byte[]> all =
          Objects.requireNonNull(
              definition.extractor().keys(key, value), "gave null; it may give an empty list");
      for (byte[] given : all) {
        // The extractor may use its array again.
        keys.add(Objects.requireNonNull(given, "gave null for a key; it may give no keys").clone());
      }
    } catch (Throwable e) {
      throw new ExtractorException(name(), key, UserCode.failure(e));
    }
    for (byte[] indexKey : keys) {
      int length = entryKey(indexKey, key).length;
      if (length > tree.maxKeyBytes()) {
        throw new ExtractorException(
            name(),
            key,
            "gave a key of "
                + indexKey.length
                + " bytes, which takes "
                + length
                + " in the index: more than the limit of "
                + tree.maxKeyBytes()
                + ", a quarter of a page");
      }
    }
    return keys;
  }

  /** Whether a record is to be found under an index key. */
  boolean leads(byte[] indexKey, byte[] key, byte[] value) {
    return keys(key, value).contains(indexKey);
  }

  /** The key of the entry that leads from an index key to a record. */
  byte[] entryKey(byte[] indexKey, byte[] key) {
    return isUnique() ? indexKey : EntryKey.of(indexKey, key);
  }

  /** The value of an entry that leads to a record. */
  byte[] entryValue(byte[] key) {
    return isUnique() ? key : NO_VALUE;
  }

  void add(Transaction transaction, byte[] indexKey, byte[] key, Instant expires) {
    transaction.put(tree, entryKey(indexKey, key), entryValue(key), expires);
  }

  void remove(Transaction transaction, byte[] indexKey, byte[] key) {
    transaction.delete(tree, entryKey(indexKey, key));
  }

  /** The index key of the entry that a cursor over the tree stands on. */
  byte[] indexKey(Cursor cursor) {
    return indexKey(cursor.key());
  }

  /** The index key of an entry. */
  byte[] indexKey(byte[] entryKey) {
    return isUnique() ? entryKey : EntryKey.indexKey(entryKey);
  }

  /** The primary key of the entry that a cursor over the tree stands on. */
  byte[] primaryKey(Cursor cursor) {
    return isUnique() ? cursor.value() : EntryKey.primaryKey(cursor.key());
  }

  /** Where the entries of an index key begin. */
  byte[] start(byte[] indexKey) {
    return isUnique() ? indexKey : EntryKey.start(indexKey);
  }

  CursorOptions options(IndexRange range) {
    CursorOptions options = CursorOptions.all();
    byte[] from = range.from();
    if (from != null) {
      options = options.from(start(from));
    }
    byte[] to = range.to();
    return to == null ? options : options.to(start(to));
  }

  /** An entry of an exact index leads to a record that is not there. */
  IsobarException lost(byte[] indexKey, byte[] key) {
    return new IsobarException(
        "index '"
            + name()
            + "' leads from "
            + ShownKey.of(indexKey)
            + " to the record "
            + ShownKey.of(key)
            + ", which is not there: something wrote to the primary tree past its dataset, whose"
            + " check() tells more; drop the index and create it anew");
  }
}
