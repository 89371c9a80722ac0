package io.isobardb.lsm.observe;

import io.isobardb.lsm.error.MergeException;
import java.util.List;

/**
 * Is told what a store does in the background. Implement what is of interest.
 *
 * <pre>{@code
 * store.addListener(
 *     new StoreListener() {
 *       @Override
 *       public void onStalled(StoreListener.Stall stall) {
 *         System.out.println("a writer waited: " + stall);
 *       }
 *     });
 * }</pre>
 *
 * <p>Thread rule: called by the store's threads and by writers, several at once, and never under a
 * lock. What a listener does delays the work that it is told of, so it should return at once. It
 * may read. It must not wait for anything the store does: what may wait for the store's work, such
 * as a write, {@code Store.flush} and {@code Store.close}, throws {@link IllegalStateException}
 * here. Have another thread call it. What a listener throws is logged. If it calls {@code
 * System.exit}, the store is closed, or at least saved, without what the thread was doing.
 */
public interface StoreListener {
  /** What of a tree a flush takes. */
  enum FlushKind {
    /** The next slice of all runs in memory; by default write memory was short, or the log long. */
    PARTIAL,
    /** A slice of all runs, where the oldest entries are. */
    OLDEST,
    /** A slice of all runs, first to last; by default it was asked for. */
    FULL
  }

  /** What a merge works on. */
  enum MergeKind {
    /** Runs in memory. */
    MEMORY,
    /** Groups of L0, into one group of L0. */
    WITHIN_L0,
    /** Groups of L0, into a level. */
    L0,
    /** Tiers, into one tier. */
    WITHIN_TIERS,
    /** A level or tiers, into the next level. */
    LEVEL,
    /** One SSTable goes to another level as it is. */
    MOVE,
    /** An empty level came on top. */
    ADD_LEVEL,
    /** The empty level on top went. */
    DROP_LEVEL,
    /** SSTables went, unread: range deletes hide all they held. */
    DROP_TABLES
  }

  /**
   * A slice of a tree's memory is on disk.
   *
   * @param tree name of the tree
   * @param kind what of the tree is flushed
   * @param bytesWritten size of the SSTables
   * @param bytesFreed write memory given back
   * @param nanos how long it took, waits for more urgent work included
   */
  record Flush(String tree, FlushKind kind, long bytesWritten, long bytesFreed, long nanos) {}

  /**
   * SSTables were merged, or moved to another level.
   *
   * @param tree name of the tree
   * @param kind what was merged
   * @param inputs SSTables that went, or runs, in memory
   * @param outputs SSTables that came; 0 if the inputs were moved as they are
   * @param bytesRead size of the inputs, 0 if they were moved
   * @param bytesWritten size of the outputs
   * @param nanos how long it took, waits for more urgent work included
   */
  record Merge(
      String tree,
      MergeKind kind,
      int inputs,
      int outputs,
      long bytesRead,
      long bytesWritten,
      long nanos) {}

  /**
   * A writer has waited.
   *
   * @param reason what for
   * @param nanos how long
   */
  record Stall(StallReason reason, long nanos) {}

  /**
   * The log was synced.
   *
   * @param bytes of log that became durable
   * @param nanos how long it took
   */
  record Sync(long bytes, long nanos) {}

  /**
   * The memory tuner has decided. Costs are pages written and read per operation, each with its
   * weight.
   *
   * @param cycle number of the cycle that it decided on, rising, also over reopening
   * @param operations what clients did in that cycle
   * @param fromBytes write memory in that cycle
   * @param toBytes write memory there is to be; the wall moves there from now on
   * @param writeCost pages written per operation
   * @param readCost pages read per operation
   * @param cost the two together, and what the decision before has come to
   * @param predictedCost what the cost is expected to be next
   * @param expectedCost what the decision before expected the cost to be, NaN if there was none
   * @param method how the decision was come to: {@code NEWTON}, {@code FIXED_STEP}, {@code STAY},
   *     {@code TAKEN_BACK} or {@code LIMITS}
   * @param reason why, in words
   */
  record Tuning(
      long cycle,
      long operations,
      long fromBytes,
      long toBytes,
      double writeCost,
      double readCost,
      double cost,
      double predictedCost,
      double expectedCost,
      String method,
      String reason) {}

  /**
   * What a tree's levels are to hold was decided, as it is with {@code levels=OPTIMISED}. Costs are
   * entries that merges write for each entry put, NaN where nothing is known.
   *
   * @param cycle number of the cycle that it was decided on
   * @param tree the tree's name
   * @param plannedBytes what each level is to hold, from L1 on; empty if they follow what L0
   *     delivers at a time
   * @param modelledCost what the model says of the sizes that were
   * @param expectedCost what a plan is to come to
   * @param foundCost what was found since the decision before
   * @param action what is done: {@code STAY}, {@code MOVE}, {@code KEEP}, {@code DOUBT} or {@code
   *     TAKE_BACK}
   * @param reason why, in words
   */
  record Levels(
      long cycle,
      String tree,
      List<Long> plannedBytes,
      double modelledCost,
      double expectedCost,
      double foundCost,
      String action,
      String reason) {
    /**
     * Copies the list.
     *
     * @param cycle number of the cycle that it was decided on
     * @param tree the tree's name
     * @param plannedBytes from L1 on; empty if levels follow what L0 delivers
     * @param modelledCost entries written for each entry put; NaN if not known
     * @param expectedCost entries written for each entry put; NaN if not known
     * @param foundCost entries written for each entry put; NaN if not known
     * @param action what is done
     * @param reason why, in words
     */
    public Levels {
      plannedBytes = List.copyOf(plannedBytes);
    }
  }

  /**
   * A tree was made, or has got this name.
   *
   * @param tree its name
   */
  record TreeCreated(String tree) {}

  /**
   * A tree was dropped, or has another name now.
   *
   * @param tree the name it had
   */
  record TreeDropped(String tree) {}

  /**
   * How many runs a tree's levels are to have, or from how many groups on its L0 is merged down,
   * was decided, as it is in stores that adapt. Costs are pages written and read for each
   * operation, each with its weight; NaN where they are not known, as of a tree that is hardly
   * used.
   *
   * @param window number of the tree's window of operations, rising, also over reopening
   * @param tree the tree's name
   * @param from the runs that it has, in words as {@code to}
   * @param to those that it is to have, as the option {@code runs} takes them; with {@code ,L0=8}
   *     behind them if its L0 is to be merged down from 8 groups on, and not as all others are
   * @param modelledCost what the model says of those that it has
   * @param expectedCost what the model says of those that it is to have
   * @param foundCost what an operation has cost in the window, or since the change that is judged
   * @param price pages that the change rewrites, weighted
   * @param action what is done: {@code BEGIN} with a tree's first flush, {@code CHANGE}, {@code
   *     WOULD_CHANGE}, {@code KEEP}, {@code TAKE_BACK} or {@code UNJUDGED}
   * @param reason why, in words
   */
  record Shape(
      long window,
      String tree,
      String from,
      String to,
      double modelledCost,
      double expectedCost,
      double foundCost,
      double price,
      String action,
      String reason) {}

  /**
   * The store takes no more writes.
   *
   * @param cause why
   */
  record Failure(Throwable cause) {}

  /**
   * A flush or merge came to a key of which the operands can't be merged. They stay, and reads of
   * the key throw the cause, until the operator is mended or the key is put or deleted.
   *
   * @param cause what the operator did, of which tree, and the first such key that was come to
   */
  record OperatorFailure(MergeException cause) {}

  /**
   * A transaction is, or was, open for long: merges keep what it may read.
   *
   * @param id of the transaction
   * @param nanos how long it has been open
   */
  record LongTransaction(long id, long nanos) {}

  /**
   * Something that users take from a store, or a store, was not closed: told when the store is
   * closed, or garbage collection finds that nobody can close it any more. Only if the JVM was
   * started with {@code -Disobar.leaks=true}.
   *
   * @param what what it is
   * @param origin where it was taken: thread and stack trace
   */
  record Leak(String what, Throwable origin) {}

  /**
   * Something was not closed.
   *
   * @param event what it was, and where it was opened
   */
  default void onLeaked(Leak event) {}

  /**
   * A transaction is, or was, open for long.
   *
   * @param event which one, and for how long
   */
  default void onLongTransaction(LongTransaction event) {}

  /**
   * A slice of a tree's memory is on disk.
   *
   * @param event of which tree, how much, and where it went
   */
  default void onFlushed(Flush event) {}

  /**
   * A merge has ended.
   *
   * @param event of which tree, what it read and wrote
   */
  default void onMerged(Merge event) {}

  /**
   * A writer has waited.
   *
   * @param event why, and for how long
   */
  default void onStalled(Stall event) {}

  /**
   * The log was synced.
   *
   * @param event how much, and for how long
   */
  default void onSynced(Sync event) {}

  /**
   * The memory tuner has decided.
   *
   * @param event what it found, what it expects, and why
   */
  default void onTuned(Tuning event) {}

  /**
   * What a tree's levels are to hold was decided.
   *
   * @param event what was decided, and why
   */
  default void onLeveled(Levels event) {}

  /**
   * A tree was made; on the thread that made it, before that call returns.
   *
   * @param event which one
   */
  default void onTreeCreated(TreeCreated event) {}

  /**
   * A tree was dropped; on the thread that dropped it, before that call returns.
   *
   * @param event which one
   */
  default void onTreeDropped(TreeDropped event) {}

  /**
   * How many runs a tree's levels are to have was decided.
   *
   * @param event what was decided, and why
   */
  default void onShaped(Shape event) {}

  /**
   * A merge operator has failed; told once at most for each flush or merge.
   *
   * @param event of which tree, and what it threw
   */
  default void onOperatorFailed(OperatorFailure event) {}

  /**
   * The store takes no more writes; called once at most.
   *
   * @param event what failed
   */
  default void onFailed(Failure event) {}
}
