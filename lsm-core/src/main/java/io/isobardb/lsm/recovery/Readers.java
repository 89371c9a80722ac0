package io.isobardb.lsm.recovery;

/** The open cursors of a store, which hold memory. */
public interface Readers {
  /**
   * Makes those that are not in use give up what they hold; their positions stay. Any thread; does
   * not wait.
   *
   * @param pages also pages of what everybody sees now, which cost nothing but room in the cache
   */
  void letGo(boolean pages);
}
