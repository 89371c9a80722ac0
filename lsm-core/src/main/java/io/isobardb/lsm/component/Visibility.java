package io.isobardb.lsm.component;

/**
 * What readers may still ask for, as far as writers must know it to drop versions.
 *
 * <p>Thread rule: called by many threads at once, under a page's lock; must neither wait nor call
 * back.
 */
public interface Visibility {
  /** The LSN up to which all entries are applied: new readers read here or later. Never falls. */
  long visible();

  /**
   * The newest LSN held by a snapshot, {@code -1} if there is none. Asked after {@link #visible}.
   */
  long newestSnapshot();
}
