package io.isobardb.lsm;

import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.inspect.StoredCounters;
import io.isobardb.lsm.inspect.StoredEntry;
import io.isobardb.lsm.inspect.StoredRange;
import io.isobardb.lsm.inspect.StoredTree;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The files of a store that is not open, to be looked at. Nothing is made, changed or deleted, and
 * no right to write is needed. Until {@link #close} the lock is held for reading, which keeps
 * others from opening the store; where that can't be had, {@link #unlockedBecause} says why.
 *
 * <pre>{@code
 * try (StoreInspector inspector = Store.inspect(Path.of("data"), StoreOptions.defaults())) {
 *   CheckReport report = inspector.check((file, done, all) -> {});
 *   report.findings().forEach(System.out::println);
 * }
 * }</pre>
 *
 * <p>Thread rule: one thread.
 */
public interface StoreInspector extends AutoCloseable {
  /** Where the store is. */
  String path();

  /** The store's ID, which all its files carry. */
  UUID storeId();

  /** The size of the store's pages, in bytes. */
  int pageSize();

  /**
   * Why nobody could be kept from opening the store meanwhile, in words; null if all are. If
   * somebody does, what is found may be wrong.
   */
  @Nullable String unlockedBecause();

  /** What the manifest says of the store as a whole. */
  StoredCounters counters();

  /**
   * Looks at everything there is: every page, record, order and reference.
   *
   * @param progress is told what is being done
   */
  CheckReport check(CheckProgress progress) throws IOException;

  /** All trees, by ascending ID. */
  List<StoredTree> trees();

  /**
   * Visits all versions of all keys in the tree's SSTables that lie in a range: by key, and of one
   * key from the newest version to the oldest.
   *
   * @param from the first key, or null for no limit
   * @param to the key behind the last one, or null for no limit
   * @throws io.isobardb.lsm.error.FormatException if the tree's key order is not known
   */
  void entries(
      StoredTree tree, byte @Nullable [] from, byte @Nullable [] to, StoredEntry.Visitor visitor);

  /**
   * The range deletes of a tree that hide something, or may: those of the manifest, and those of
   * the log that it does not have.
   *
   * @throws io.isobardb.lsm.error.CorruptionException if the log is damaged
   */
  List<StoredRange> rangeDeletes(StoredTree tree) throws IOException;

  /**
   * Visits the puts and deletes of a tree that the log holds, in their order: those that opening
   * the store would replay, and some that are in SSTables already.
   *
   * @param from the first key, or null for no limit; where the key order is not known, unsigned
   *     bytes count
   * @param to the key behind the last one, or null for no limit
   * @throws io.isobardb.lsm.error.CorruptionException if the log is damaged
   */
  void log(
      StoredTree tree, byte @Nullable [] from, byte @Nullable [] to, StoredEntry.Visitor visitor)
      throws IOException;

  /** Gives memory and lock back. */
  @Override
  void close() throws IOException;
}
