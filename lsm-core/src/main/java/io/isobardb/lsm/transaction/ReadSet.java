package io.isobardb.lsm.transaction;

import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.read.VersionReader;
import io.isobardb.lsm.state.TreeHandle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What must not have been changed by others when a transaction commits: keys, each since an LSN,
 * and ranges of keys.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class ReadSet {
  private record Scan(TreeHandle tree, KeySpan range, long lsn) {}

  private final Map<TreeHandle, TreeMap<byte[], Long>> keys = new LinkedHashMap<>();
  private final List<Scan> scans = new ArrayList<>();

  /**
   * A key that must have no version newer than {@code lsn}; if it is there already the lower LSN
   * holds.
   *
   * @param key not changed afterwards
   */
  public void add(TreeHandle tree, byte[] key, long lsn) {
    keys.computeIfAbsent(
            tree,
            of -> {
              KeyOrder order = of.order();
              return new TreeMap<>((a, b) -> order.compare(a, 0, a.length, b, 0, b.length));
            })
        .merge(key, lsn, Math::min);
  }

  /** A range, which may still grow, whose keys must have no version newer than {@code lsn}. */
  public void add(TreeHandle tree, KeySpan range, long lsn) {
    scans.add(new Scan(tree, range, lsn));
  }

  /**
   * Checks that nothing was changed, nor is about to be by somebody whose commit may come first.
   * The caller owns the locks of all it writes, and has called {@link LockOwner#beginCommit}.
   *
   * <p>Why two that commit at once can't both miss what the other writes: each has announced itself
   * before it looks, so at least one sees the other's locks; and a commit that has given its locks
   * back is visible (cf. Tu et al., Speedy Transactions in Multicore In-Memory Databases, section
   * 4.4).
   *
   * @throws ConflictException if something was changed
   */
  public void validate(VersionReader versions, LockTable locks, LockOwner owner) {
    keys.forEach(
        (tree, entries) ->
            entries.forEach(
                (key, lsn) -> {
                  if (locks.isCommitting(owner, tree, key) || versions.isChanged(tree, key, lsn)) {
                    throw conflict(tree, key);
                  }
                }));
    for (Scan scan : scans) {
      KeySpan range = scan.range;
      if (range.isEmpty()) {
        continue;
      }
      byte[] changed = locks.committingIn(owner, scan.tree, range);
      if (changed == null) {
        changed = versions.firstChanged(scan.tree, range.low(), range::isBefore, scan.lsn);
      }
      if (changed != null) {
        throw conflict(scan.tree, changed, ", in a range that this transaction went through,");
      }
    }
  }

  /**
   * Passes if nothing was read of what a bulk load is about to change.
   *
   * @throws ConflictException if anything was
   */
  public void checkBeside(LoadedRange range) {
    TreeMap<byte[], Long> read = keys.get(range.tree());
    byte[] key = read == null ? null : read.ceilingKey(range.low());
    if (key != null && range.holds(range.tree(), key)) {
      throw conflict(range.tree(), key);
    }
    for (Scan scan : scans) {
      if (range.overlaps(scan.tree, scan.range)) {
        throw conflict(scan.tree, range.low(), ", in a range that this transaction went through,");
      }
    }
  }

  /** Somebody has changed a key that a transaction reads or writes. */
  public static ConflictException conflict(TreeHandle tree, byte[] key) {
    return conflict(tree, key, "");
  }

  private static ConflictException conflict(TreeHandle tree, byte[] key, String where) {
    return new ConflictException(
        tree.name(),
        key,
        LockTable.describe(tree, key)
            + where
            + " was changed by others since this transaction read it, or began: try again");
  }

  /** Nothing is to be checked. */
  public boolean isEmpty() {
    return keys.isEmpty() && scans.isEmpty();
  }
}
