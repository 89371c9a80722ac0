package io.isobardb.lsm.schedule;

/**
 * A service that looks at an open store from time to time, as long as something goes on there: it
 * decides when merges run, how fast jobs are, how memory is divided. A store has those that its
 * options ask for.
 *
 * <p>It looks from time to time once it is started. Thread rule: events may come from any thread.
 * They are cheap, save {@link #onAwaited}, at which it may look at once.
 */
public interface StoreWatch extends Service {
  /** Begins. */
  void start();

  /** Some tree was written to. */
  void onWritten();

  /** The cache had not what was read. */
  default void onCacheMiss() {}

  /** A flush has ended: there may be merges. */
  default void onFlushed() {}

  /** A merge is asked for. */
  default void onMergeRequested() {}

  /** Somebody waits for jobs, until {@link #onNoLongerAwaited}: they are not held back. */
  default void onAwaited() {}

  /** One who waited does so no longer. */
  default void onNoLongerAwaited() {}
}
