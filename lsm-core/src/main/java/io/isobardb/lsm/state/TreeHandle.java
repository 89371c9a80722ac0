package io.isobardb.lsm.state;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.sstable.TreeDictionary;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.lsm.version.Version;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A tree as the engine sees it: what it is, its states, and what works on it.
 *
 * <p>Thread rule: {@link #commitLock} is held by a thread that changes what the manifest knows of
 * this tree, from deciding the change until the new state is in place; nobody waits for memory
 * while holding it.
 */
public final class TreeHandle {
  private final int id;
  private volatile String name;
  private final Settings settings;
  private final TreeStates states;
  private final ReentrantLock commitLock = new ReentrantLock();
  private final OperationCounts counts;
  private final LongAdder failedFolds = new LongAdder();
  private final MemoryWork memory;
  private final TreeWork work = new TreeWork();
  private final RunsAsked runsAsked = new RunsAsked();
  private final ActiveSeals seals;
  private final PlannedLevels levels = new PlannedLevels();
  private final RecentLoad load = new RecentLoad();

  private final TreeDictionary dictionary = new TreeDictionary();

  private volatile Priority priority = Priority.EQUAL;
  private volatile @Nullable Refusal refused;
  private volatile boolean closed;
  private volatile @Nullable EntryFilter filter;
  private volatile boolean expires;
  private volatile Adjustments adjustments = Adjustments.NONE;
  private volatile TreeShape shape = TreeShape.DEFAULT;
  private volatile boolean runsGiven;
  private @Nullable Runs adapted;
  private int adaptedL0;

  /**
   * What was said of the tree when it was created.
   *
   * @param logged whether writes go to the log
   * @param compression of pages on disk
   * @param filterBitsPerKey 0 for no filters
   * @param operator null if nothing can be merged
   */
  public record Settings(
      KeyOrder order,
      boolean logged,
      Compression compression,
      int filterBitsPerKey,
      @Nullable MergeOperator operator) {
    /** Those of a tree that is to be made. */
    public static Settings of(TreeOptions options) {
      return new Settings(
          options.keyOrder(),
          options.logged(),
          options.compression(),
          options.filterBitsPerKey(),
          options.mergeOperator());
    }

    /** This compression, if it is not that of the tree's creation; else null. */
    public @Nullable Compression other(Compression wanted) {
      return wanted.equals(compression) ? null : wanted;
    }

    private Compression compression(Adjustments adjustments) {
      Compression changed = adjustments.compression();
      return changed == null ? compression : changed;
    }

    /** The same as users know them, all of them set. */
    public TreeOptions options(Adjustments adjustments) {
      TreeOptions.Builder all =
          TreeOptions.builder()
              .keyOrder(order)
              .logged(logged)
              .compression(compression(adjustments))
              .filterBitsPerKey(filterBitsPerKey)
              .timeToLive(Duration.ofMillis(adjustments.timeToLive()))
              .runs(adjustments.runs())
              .maxSpace(adjustments.maxSpace());
      return (operator == null ? all.noMergeOperator() : all.mergeOperator(operator)).build();
    }
  }

  /**
   * How the tree stands to others when write memory is short.
   *
   * @param floorBytes write memory that others do not take from it
   * @param weight how much its writes count, 1 ordinarily
   */
  public record Priority(long floorBytes, double weight) {
    static final Priority EQUAL = new Priority(0, 1);
  }

  /** Why a tree can't be used. */
  public enum Refusal {
    /** The store is closed. */
    STORE_CLOSED,
    /** The tree was dropped, or is being dropped. */
    DROPPED,
    /** A batch was applied to it in part. */
    PARTLY_WRITTEN
  }

  /**
   * @param counts of what users do to it
   * @param memoryLeft raised when nobody works on the memory of this tree any more, or of another
   */
  public TreeHandle(
      int id,
      String name,
      Settings settings,
      TreeStates states,
      OperationCounts counts,
      Signal memoryLeft) {
    this.id = id;
    this.name = name;
    this.settings = settings;
    this.states = states;
    this.counts = counts;
    this.memory = new MemoryWork(memoryLeft);
    this.seals = new ActiveSeals(this);
  }

  public int id() {
    return id;
  }

  public String name() {
    return name;
  }

  /** Gives it another name, which the manifest has already. */
  void rename(String other) {
    name = other;
  }

  public Settings settings() {
    return settings;
  }

  public KeyOrder order() {
    return settings.order();
  }

  public TreeStates states() {
    return states;
  }

  public ReentrantLock commitLock() {
    return commitLock;
  }

  public Priority priority() {
    return priority;
  }

  public synchronized void setFloor(long bytes, long most) {
    if (bytes < 0 || bytes > most) {
      throw outOfRange("floor", "the budget of " + most + " bytes", bytes);
    }
    checkOpen();
    priority = new Priority(bytes, priority.weight());
  }

  public synchronized void setWeight(double weight, double most) {
    if (!(weight >= 0 && weight <= most)) {
      throw outOfRange("weight", String.valueOf((long) most), weight);
    }
    checkOpen();
    priority = new Priority(priority.floorBytes(), weight);
  }

  private IllegalArgumentException outOfRange(String what, String most, Number value) {
    return new IllegalArgumentException(
        "the " + what + " of tree '" + name + "' must be from 0 to " + most + ", not " + value);
  }

  /** Whether the tree was dropped, or its store closed; work on it is pointless then. */
  public boolean closed() {
    return closed;
  }

  /**
   * Makes all that clients do with the tree from now on fail. Its memory is flushed all the same:
   * calls that began before may be waiting for that.
   */
  public void refuse(Refusal why) {
    refused = why;
  }

  /**
   * Whether {@link #refuse} or {@link #close} was called. An operation has to ask after it has
   * begun, so that either it hears of the refusal or the refusing thread sees the operation.
   */
  public boolean refused() {
    return refused != null;
  }

  /** As {@link #refuse}, and ends flushes and merges of the tree, too. */
  public void close(Refusal why) {
    refused = why;
    closed = true;
  }

  /** Takes {@link #close} back. */
  public void reopen() {
    closed = false;
    refused = null;
  }

  /**
   * Passes if the tree may be used.
   *
   * @throws TreeDroppedException if it was dropped
   * @throws StoreClosedException if the store is closed, or has to be opened again
   */
  public void checkOpen() {
    Refusal why = refused;
    if (why != null) {
      throw refusal(why);
    }
  }

  private StoreClosedException refusal(Refusal why) {
    return switch (why) {
      case DROPPED -> new TreeDroppedException(name);
      case STORE_CLOSED ->
          new StoreClosedException("tree '" + name + "' can't be used: the store is closed");
      case PARTLY_WRITTEN ->
          new StoreClosedException(
              "tree '"
                  + name
                  + "' can't be used: a batch was applied to it in part; close the store, and open it"
                  + " again");
    };
  }

  /** What disk merges may leave out besides what newer versions hide, or null. */
  public @Nullable EntryFilter filter() {
    return filter;
  }

  public void setFilter(@Nullable EntryFilter filter) {
    this.filter = filter;
  }

  /** Whether some of its entries expire, or did since the store was opened. */
  public boolean expires() {
    return expires;
  }

  /** See {@link #expires}. */
  public void setExpires() {
    expires = true;
  }

  /** How long what is put lives, in milliseconds; 0 for ever. */
  public long timeToLive() {
    return adjustments.timeToLive();
  }

  /** What was changed of it since it was created. */
  public Adjustments adjustments() {
    return adjustments;
  }

  /** How pages of new SSTables are stored. */
  public Compression compression() {
    return settings.compression(adjustments);
  }

  /** What its last level is compressed with. */
  TreeDictionary dictionary() {
    return dictionary;
  }

  /** What is wanted of its SSTables. */
  public TreeShape shape() {
    return shape;
  }

  /**
   * Goes by other adjustments from now on.
   *
   * @param maxSpace of trees that have none of their own
   */
  public synchronized void adjust(Adjustments changed, double maxSpace) {
    adjustments = changed;
    reshape(changed.maxSpace() == 0 ? maxSpace : changed.maxSpace());
  }

  private void reshape(double space) {
    Runs runs = adapted;
    if (runs == null || !isAdaptable() || (runs.last() > 1 && !TreeShape.isWideEnough(space))) {
      adapted = null;
      runs = adjustments.runs();
    }
    if (!isAdaptable()) {
      adaptedL0 = 0;
    }
    shape = new TreeShape(runs, space, adaptedL0);
  }

  /** Somebody has said how many runs there are to be: only those who use the tree change that. */
  public synchronized void keepRuns() {
    runsGiven = true;
    reshape(shape.maxSpace());
  }

  /**
   * Whether the store may choose the runs: nobody has said how many since it was opened, and none
   * are stored but the default.
   */
  public boolean isAdaptable() {
    return !runsGiven && adjustments.runs().isLeveled();
  }

  /**
   * Goes by other runs until the store is closed, without noting them; does nothing if the tree is
   * not adaptable.
   *
   * @param runs that its {@code maxSpace} allows
   * @param l0Start groups of L0 from which on it is merged down; 0 for those of the store's options
   */
  public synchronized void adapt(Runs runs, int l0Start) {
    if (isAdaptable()) {
      adapted = runs.isLeveled() ? null : runs;
      adaptedL0 = l0Start;
      reshape(shape.maxSpace());
    }
  }

  /**
   * The value that the versions of a key make up; null if that is none.
   *
   * @throws MergeException if the operator fails, which is counted
   * @throws IllegalStateException if the tree has no merge operator, so that it holds no operands
   */
  public byte @Nullable [] fold(OperandChain chain, byte[] key) {
    MergeOperator operator = settings.operator();
    if (operator == null) {
      throw new IllegalStateException(this + " holds operands and has no merge operator");
    }
    try {
      return chain.fold(operator, name, key);
    } catch (MergeException e) {
      failedFolds.increment();
      throw e;
    }
  }

  /** How often the merge operator has failed since the store was opened. */
  public long failedFolds() {
    return failedFolds.sum();
  }

  /** What users have done to it. */
  public OperationCounts counts() {
    return counts;
  }

  /** How many groups its L0 may have, as it is read now. */
  public L0Limits l0Limits(L0Rules rules) {
    Version version = states.current().version();
    int deeper = version.tiers().size() + version.levelCount();
    return rules.startingAt(shape.l0Start()).limits(load.load(), version.groups().size(), deeper);
  }

  /** What users did to it lately. */
  public RecentLoad load() {
    return load;
  }

  /** The work on what it has in memory. */
  public MemoryWork memory() {
    return memory;
  }

  /** What its levels on disk are planned to hold. */
  public PlannedLevels levels() {
    return levels;
  }

  /** How its active SSTables are sealed, and what they have been used for. */
  public ActiveSeals seals() {
    return seals;
  }

  /** What flushes and disk merges have done to the tree. */
  public TreeWork work() {
    return work;
  }

  /** How many runs on disk its readers look into. */
  public RunsAsked runsAsked() {
    return runsAsked;
  }

  /** The active SSTable now. */
  public ActiveTree activeTree() {
    return states.current().active().content();
  }

  @Override
  public String toString() {
    return name;
  }
}
