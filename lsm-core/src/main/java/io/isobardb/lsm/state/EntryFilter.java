package io.isobardb.lsm.state;

/**
 * Tells disk merges of a tree what can go of it though no newer version hides it, because readers
 * of the tree pass it over.
 *
 * <p>Thread rule: asked by any thread of the store's, with nothing locked; must not wait for disk,
 * memory or others.
 */
@FunctionalInterface
public interface EntryFilter {
  /**
   * Whether all readers at an LSN or later, recovery included, pass over what was put under a key
   * up to that LSN. False if that can't be said at once.
   *
   * @param lsn registered as a snapshot
   */
  boolean drops(byte[] key, long lsn);
}
