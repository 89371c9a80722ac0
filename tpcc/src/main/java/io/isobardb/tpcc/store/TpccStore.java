package io.isobardb.tpcc.store;

import io.isobardb.tpcc.schema.Table;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An engine with all tables open. Thread-safe. Failures of the engine are {@link
 * IllegalStateException} or the engine's own, and name it.
 */
public interface TpccStore extends AutoCloseable {
  /** A client, to be closed before the store. */
  TpccTransaction newTransaction();

  /** Writes rows outside of transactions, not yet durable; nobody else works on them. */
  void load(List<Put> rows);

  /** A row as committed, or null. */
  byte @Nullable [] get(Table table, byte[] key);

  /**
   * Shows the committed entries of {@code from} up to but without {@code to}, as of one moment, in
   * the order of their keys.
   */
  void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor);

  /** Waits until all that is committed is durable. */
  void sync();

  /** Waits until flushes and merges are done. */
  void settle();

  /** The engine and its settings, for the report. */
  String configuration();

  @Override
  void close();
}
