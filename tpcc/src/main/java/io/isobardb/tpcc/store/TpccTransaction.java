package io.isobardb.tpcc.store;

import io.isobardb.tpcc.schema.Table;
import org.jspecify.annotations.Nullable;

/**
 * One client's transactions, one at a time: begin, work, commit or roll back, begin again. Used by
 * one thread.
 *
 * <p>All but {@link #begin}, {@link #rollback} and {@link #close} throw {@link ConflictException},
 * upon which only {@link #rollback} may follow, and {@link IllegalStateException} if the engine
 * failed. Arrays are not kept by the engine.
 */
public interface TpccTransaction extends AutoCloseable {
  /** Begins a transaction; none is open. */
  void begin(Isolation isolation);

  /** The row's value, own writes included, or null. */
  byte @Nullable [] get(Table table, byte[] key);

  /** As {@link #get}, and no other transaction changes the row until this one has ended. */
  byte @Nullable [] getForUpdate(Table table, byte[] key);

  /** Writes a row. */
  void put(Table table, byte[] key, byte[] value);

  /** Deletes a row, if it is there. */
  void delete(Table table, byte[] key);

  /** Shows the entries of {@code from} up to but without {@code to} in the order of their keys. */
  void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor);

  /** Makes all writes visible, or none; durable on return if the store was opened so. */
  void commit();

  /** Undoes all; nothing happens if no transaction is open. */
  void rollback();

  /** Bytes of keys and values handed to {@link #put} and {@link #delete} since the beginning. */
  long bytesPut();

  /** Rolls back if one is open. */
  @Override
  void close();
}
