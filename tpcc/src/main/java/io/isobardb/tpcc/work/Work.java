package io.isobardb.tpcc.work;

import io.isobardb.tpcc.store.ConflictException;
import io.isobardb.tpcc.store.TpccTransaction;

/**
 * The input of one transaction and what to do with it: the same each time it is tried.
 *
 * @param <R> the output
 */
public interface Work<R> {
  /**
   * Works in the open transaction and ends it: commits, or rolls back where the input says so. Upon
   * {@link ConflictException} it is the caller's to roll back.
   */
  R run(TpccTransaction transaction);
}
