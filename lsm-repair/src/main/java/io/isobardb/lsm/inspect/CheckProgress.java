package io.isobardb.lsm.inspect;

/** Is told how far a check is. Called by the checking thread. */
@FunctionalInterface
public interface CheckProgress {
  /** Tells nobody. */
  CheckProgress NONE = (what, done, total) -> {};

  /**
   * A piece of work begins.
   *
   * @param what it is
   * @param doneBytes of all SSTables, those checked so far
   * @param totalBytes of all SSTables
   */
  void at(String what, long doneBytes, long totalBytes);
}
