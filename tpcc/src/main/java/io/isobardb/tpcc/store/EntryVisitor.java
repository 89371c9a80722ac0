package io.isobardb.tpcc.store;

/** Sees the entries of a scan, one after the other. */
@FunctionalInterface
public interface EntryVisitor {
  /** One entry, whose arrays are the visitor's to keep; returns whether the scan goes on. */
  boolean entry(byte[] key, byte[] value);
}
