package io.isobardb.lsm;

/**
 * What is to be done in a transaction, and gives nothing; may be run several times.
 *
 * @param <X> what it throws; {@link RuntimeException} if nothing that must be declared
 */
@FunctionalInterface
public interface TransactionTask<X extends Exception> {
  /**
   * Reads and writes, but need not commit.
   *
   * @param transaction open; is committed afterwards, unless this has ended it
   * @throws X what went wrong; the transaction is rolled back then
   */
  void run(Transaction transaction) throws X;
}
