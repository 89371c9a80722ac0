package io.isobardb.lsm.schedule;

import io.isobardb.lsm.event.SystemLog;

/**
 * Background work done in steps. Between two steps a job can be paused, and another one can run.
 *
 * <p>Thread rule: the steps of one job run one after another, possibly on different threads, with a
 * happens-before edge between them.
 */
public interface Job extends SystemLog.Subject {
  /** What goes first. */
  enum Priority {
    /** Frees write memory; never waits behind merges. */
    FLUSH,
    /** Makes one of small L0 groups beside a larger merge of L0, which waits for it. */
    GATHER,
    /** Keeps the number of L0 groups down; changes that neither read nor write SSTables. */
    MERGE_L0,
    /** Merges in memory. */
    MERGE_MEMORY,
    /** Deeper merges; may be paused for long. */
    MERGE_DEEP,
    /** Clean-up, and indexes over what is cached: nobody waits for it. */
    IDLE;

    /**
     * Whether writers wait for jobs of this priority in the end: for {@link #FLUSH}, {@link
     * #GATHER} and {@link #MERGE_L0}.
     */
    boolean isUrgent() {
      return this == FLUSH || this == GATHER || this == MERGE_L0;
    }
  }

  Priority priority();

  /** Whether others of its priority go first, too, between two of its steps. */
  default boolean givesWay() {
    return false;
  }

  /**
   * Does a bounded piece of work (some hundred microseconds, or a few pages).
   *
   * @return whether there is more to do
   * @throws Exception the job has failed and is not stepped again
   */
  boolean step() throws Exception;

  /**
   * Gives back what is of use only if the next step follows soon: pages and buffers. Called between
   * two steps, when jobs of its priority are held back.
   *
   * @throws Exception the job has failed and is not stepped again
   */
  default void rest() throws Exception {}

  /**
   * Called once when a step threw, when the scheduler was closed before the job was done, or when
   * the thread that ran it will not come back ({@link LostThreadException}).
   */
  void onFailed(Throwable cause);
}
