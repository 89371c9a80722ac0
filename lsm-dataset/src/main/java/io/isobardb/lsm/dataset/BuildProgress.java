package io.isobardb.lsm.dataset;

/** Is told how far the build of an index is. Called by the building thread, between slices. */
@FunctionalInterface
public interface BuildProgress {
  /** Tells nobody. */
  BuildProgress NONE = (index, records) -> {};

  /**
   * A slice is in the index.
   *
   * @param index its name
   * @param records looked at so far, those before a crash included
   */
  void at(String index, long records);
}
