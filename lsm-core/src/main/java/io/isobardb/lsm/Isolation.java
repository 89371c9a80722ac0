package io.isobardb.lsm;

/** What a transaction sees of others that run at the same time. */
public enum Isolation {
  /**
   * Each read sees what is committed by then; a cursor, what was committed when it was opened. Of
   * two transactions that read a key and write it, one may undo what the other did, unless they
   * read it with {@code getForUpdate}. So a {@code deleteRange} of an optimistic one also removes
   * what others commit there before it does.
   */
  READ_COMMITTED,

  /**
   * All reads see one moment, that of the first read; and no key is written that others have
   * changed since then. What is left is write skew: two transactions read what both are going to
   * change, and change different keys of it.
   */
  SNAPSHOT,

  /**
   * As if the transactions had run one after another. All that was read is checked when the
   * transaction commits, ranges that cursors have passed included, whether it writes or not: so a
   * key that others put into such a range makes it fail.
   */
  SERIALIZABLE
}
