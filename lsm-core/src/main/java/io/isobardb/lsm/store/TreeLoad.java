package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.LockTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a bulk load brings to one tree: SSTables of which the manifest does not know yet.
 *
 * <p>Thread rule: one thread at a time.
 */
final class TreeLoad {
  private final Engine engine;
  private final Merger merger;
  private final TreeHandle tree;
  private final TableSpace space;
  private final long lsn;
  private final List<SSTableMeta> files = new ArrayList<>();
  private @Nullable SSTableWriter writer;
  private byte @Nullable [] last;
  private long bytes;
  private long target;

  /**
   * @param space where its files are
   * @param lsn that the files' entries have until the load is committed
   */
  TreeLoad(Engine engine, Merger merger, TreeHandle tree, TableSpace space, long lsn) {
    this.engine = engine;
    this.merger = merger;
    this.tree = tree;
    this.space = space;
    this.lsn = lsn;
  }

  TreeHandle tree() {
    return tree;
  }

  /** Whole SSTables, disjoint and in the order of keys. */
  List<SSTableMeta> files() {
    return files;
  }

  /** Bytes of the whole SSTables. */
  long bytes() {
    return bytes;
  }

  /**
   * Passes if a key comes behind all that were added.
   *
   * @throws IllegalArgumentException if it does not
   */
  void check(byte[] key) {
    byte[] before = last;
    KeyOrder order = tree.order();
    if (before != null && order.compare(before, 0, before.length, key, 0, key.length) >= 0) {
      throw new IllegalArgumentException(
          LockTable.describe(tree, key)
              + " does not come after "
              + LockTable.describe(tree, before)
              + ", which was added before: a bulk load takes the keys of a tree in ascending order,"
              + " each once; what was added stands");
    }
  }

  /** Adds an entry that was {@link #check}ed. */
  void add(byte[] key, byte[] value, long expiry) throws IOException {
    SSTableWriter out = writer;
    if (out != null && out.sizeBytes() >= target) {
      finish();
      out = null;
    }
    if (out == null) {
      out = begin();
      writer = out;
    }
    if (expiry != Expiry.NEVER) {
      engine.snapshots().time().noteExpiring(tree);
    }
    out.expiring(expiry).add(key, key.length, lsn, Kind.PUT, value);
    last = key;
  }

  private SSTableWriter begin() throws IOException {
    engine.failure().check();
    target = merger.tableBytes(tree, bytes);
    // Not for the cache: the pages do not have their LSN yet.
    return engine.catalog().newTable(tree, space, true);
  }

  /** Makes the last SSTable whole, and syncs it. */
  void finish() throws IOException {
    SSTableWriter out = writer;
    if (out != null) {
      SSTableMeta meta = out.finish();
      writer = null;
      files.add(meta);
      bytes += meta.sizeBytes();
    }
  }

  /** Deletes what was written. */
  void discard() {
    SSTableWriter out = writer;
    if (out != null) {
      writer = null;
      out.abort();
    }
    files.forEach(meta -> engine.catalog().delete(meta, tree));
    files.clear();
  }
}
