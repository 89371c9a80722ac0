package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a reader sees: a snapshot, or what a transaction does. */
interface View {
  byte @Nullable [] get(Tree tree, byte[] key);

  /** The values of many keys, in their order, null for those that are not there. */
  List<byte @Nullable []> getAll(Tree tree, List<byte[]> keys);

  Cursor cursor(Tree tree, CursorOptions options);

  /** Whether all reads see one moment, so that an eager index and the records fit each other. */
  boolean isFixed();

  static View of(Snapshot snapshot) {
    return new AtSnapshot(snapshot);
  }

  static View of(Transaction transaction) {
    return new InTransaction(transaction);
  }

  /** All as of one moment. */
  record AtSnapshot(Snapshot snapshot) implements View {
    @Override
    public byte @Nullable [] get(Tree tree, byte[] key) {
      return tree.get(key, snapshot);
    }

    @Override
    public List<byte @Nullable []> getAll(Tree tree, List<byte[]> keys) {
      return tree.multiGet(keys, snapshot);
    }

    @Override
    public Cursor cursor(Tree tree, CursorOptions options) {
      return tree.cursor(options.snapshot(snapshot));
    }

    @Override
    public boolean isFixed() {
      return true;
    }
  }

  /**
   * What a transaction sees. Its own writes change that between two reads, and so do those of
   * others if it is read committed.
   */
  record InTransaction(Transaction transaction) implements View {
    @Override
    public byte @Nullable [] get(Tree tree, byte[] key) {
      return transaction.get(tree, key);
    }

    @Override
    public List<byte @Nullable []> getAll(Tree tree, List<byte[]> keys) {
      List<byte @Nullable []> values = new ArrayList<>(keys.size());
      for (byte[] key : keys) {
        values.add(transaction.get(tree, key));
      }
      return values;
    }

    @Override
    public Cursor cursor(Tree tree, CursorOptions options) {
      return transaction.cursor(tree, options);
    }

    @Override
    public boolean isFixed() {
      return false;
    }
  }
}
