package io.isobardb.lsm;

/** A place in a transaction to go back to: see {@link Transaction#savepoint}. */
public interface Savepoint {}
