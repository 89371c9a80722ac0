package io.isobardb.lsm;

import org.jspecify.annotations.Nullable;

/**
 * What is to be done in a transaction; may be run several times.
 *
 * @param <T> what it gives
 * @param <X> what it throws; {@link RuntimeException} if nothing that must be declared
 */
@FunctionalInterface
public interface TransactionBody<T extends @Nullable Object, X extends Exception> {
  /**
   * Reads and writes, but need not commit.
   *
   * @param transaction open; is committed afterwards, unless this has ended it
   * @return what {@link Store#inTransaction} gives, if the commit succeeds
   * @throws X what went wrong; the transaction is rolled back then
   */
  T run(Transaction transaction) throws X;
}
