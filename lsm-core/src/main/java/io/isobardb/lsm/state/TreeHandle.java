package io.isobardb.lsm.state;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.ActiveUse;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.operand.OperandChain;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.sstable.FileLayout;
import io.isobardb.tuner.workload.LevelShares;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A tree as the engine sees it: what it is, its states, and who works on it.
 *
 * <p>Thread rule: {@link #commitLock} is held by whoever changes what the manifest knows of this
 * tree, from deciding the change until the new state is in place; nobody waits for memory while
 * holding it.
 */
public final class TreeHandle {
  /** What an entry costs in a page besides its key and value, in bytes, about. */
  public static final int ENTRY_OVERHEAD = 32;

  private final int id;
  private volatile String name;
  private final Settings settings;
  private final TreeStates states;
  private final ReentrantLock commitLock = new ReentrantLock();
  private final AtomicBoolean sealing = new AtomicBoolean();
  private final OperationCounts counts;
  private final LongAdder failedFolds = new LongAdder();
  private final LongAdder replayedBytes = new LongAdder();
  private final TreeWork work = new TreeWork();
  private final ReadLoss readLoss = new ReadLoss();
  private final MergeGain mergeGain = new MergeGain();

  /** What had been written and read when the active SSTable was begun. */
  private volatile ActiveUse before = new ActiveUse(0, 0, 0, 0, true, false);

  private final AtomicBoolean memoryBusy = new AtomicBoolean();

  private final Signal memoryLeft;

  private volatile Priority priority = Priority.EQUAL;
  private volatile @Nullable Refusal refused;
  private volatile boolean closed;
  private volatile boolean sliced;
  private volatile byte @Nullable [] sweep;
  private volatile byte @Nullable [] packedUpTo;
  private volatile @Nullable EntryFilter filter;
  private volatile boolean expires;
  private volatile long timeToLive;
  private volatile @Nullable WriteSample sample;
  private volatile @Nullable LevelShares levelPlan;
  private volatile String levelReason = "";

  /**
   * What was said of the tree when it was created.
   *
   * @param logged whether writes go to the log
   * @param codec of pages on disk
   * @param filterBitsPerKey 0 for no filters
   * @param operator null if nothing can be merged
   */
  public record Settings(
      KeyOrder order,
      boolean logged,
      int codec,
      int filterBitsPerKey,
      @Nullable MergeOperator operator) {
    /** Those of a tree that is to be made. */
    public static Settings of(TreeOptions options) {
      return new Settings(
          options.keyOrder(),
          options.logged(),
          options.compression() == Compression.LZ4 ? FileLayout.CODEC_LZ4 : FileLayout.CODEC_NONE,
          options.filterBitsPerKey(),
          options.mergeOperator());
    }

    /** The same as users know them, all of them set. */
    public TreeOptions options(Duration timeToLive) {
      TreeOptions.Builder all =
          TreeOptions.builder()
              .keyOrder(order)
              .logged(logged)
              .compression(codec == FileLayout.CODEC_LZ4 ? Compression.LZ4 : Compression.NONE)
              .filterBitsPerKey(filterBitsPerKey)
              .timeToLive(timeToLive);
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
    this.memoryLeft = memoryLeft;
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

  /** Whether a flush or a memory merge of this tree is queued or running. */
  public boolean memoryBusy() {
    return memoryBusy.get();
  }

  /** Takes the tree's memory for a flush or a memory merge; false if another has it. */
  public boolean takeMemory() {
    return !memoryBusy.get() && memoryBusy.compareAndSet(false, true);
  }

  /** Ends {@link #takeMemory}. */
  public void leaveMemory() {
    memoryBusy.set(false);
    memoryLeft.raise();
  }

  /** Waits until nobody works on the tree's memory. */
  public void awaitMemory() {
    memoryLeft.await(() -> !memoryBusy.get());
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
   * begun, so that either it hears of it or who refuses sees the operation.
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

  /** Whether the tree had memory enough for slices when it was last flushed. */
  public boolean sliced() {
    return sliced;
  }

  /** See {@link #sliced}. */
  public void setSliced(boolean large) {
    sliced = large;
  }

  /** The key up to which partial flushes have swept the key space, or null at its beginning. */
  public byte @Nullable [] sweep() {
    return sweep;
  }

  public void setSweep(byte @Nullable [] key) {
    sweep = key;
  }

  /**
   * The key up to which merges in memory have come on their way round the key space, or null at its
   * beginning. Only who has taken the tree's memory goes on from there.
   */
  public byte @Nullable [] packedUpTo() {
    return packedUpTo;
  }

  /** See {@link #packedUpTo}. */
  public void setPackedUpTo(byte @Nullable [] key) {
    packedUpTo = key;
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
    return timeToLive;
  }

  public void setTimeToLive(long millis) {
    timeToLive = millis;
  }

  /** What learns from its writes, or null. */
  public @Nullable WriteSample sample() {
    return sample;
  }

  public void setSample(@Nullable WriteSample learner) {
    sample = learner;
  }

  /** A key was written, for {@link #sample}. */
  public void learn(long hash, long lsn) {
    WriteSample learner = sample;
    if (learner != null) {
      learner.wrote(hash, lsn);
    }
  }

  /** What its levels are planned to hold, or null if nothing is planned. */
  public @Nullable LevelShares levelPlan() {
    return levelPlan;
  }

  public void setLevelPlan(@Nullable LevelShares plan) {
    levelPlan = plan;
  }

  /** Why its levels are planned as they are, or why not yet; empty if nobody has looked. */
  public String levelReason() {
    return levelReason;
  }

  public void setLevelReason(String reason) {
    levelReason = reason;
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

  /** An entry was replayed from the log; its bytes with some for the entry. */
  public void addReplayed(long bytes) {
    replayedBytes.add(bytes);
  }

  /** Bytes written since the store was opened, replayed ones included, with some per entry. */
  public long bytesWritten() {
    return replayedBytes.sum() + counts.bytesWritten() + ENTRY_OVERHEAD * counts.writes();
  }

  /** What reads have lost since runs in memory were last merged. */
  public ReadLoss readLoss() {
    return readLoss;
  }

  /** What merging all in memory has been good for. */
  public MergeGain mergeGain() {
    return mergeGain;
  }

  /** What flushes and disk merges have done to the tree. */
  public TreeWork work() {
    return work;
  }

  /** The active SSTable now. */
  public ActiveTree activeTree() {
    return states.current().active().content();
  }

  /** What the active SSTable has been used for so far. */
  public ActiveUse activeUse() {
    ActiveUse begun = before;
    TreeState state = states.current();
    return new ActiveUse(
        activeTree().bytesUsed(),
        state.memoryBytes(),
        bytesWritten() - begun.writtenBytes(),
        readLoss.nanosPerRun() - begun.readNanos(),
        state.version().sizeBytes() == 0,
        sliced);
  }

  /**
   * Seals the active SSTable if it is still {@code full}, and puts an empty one in its place.
   *
   * <p>The new one is published before its boundary is read from {@code logEnd}: whoever reserves
   * from there on sees it, and whoever reserved before finds, by the boundary, the one that was
   * sealed. So for every key the newer component has the newer versions.
   *
   * @param next makes that empty one
   * @param logEnd the end of what is reserved in the log
   * @return whether this call sealed it
   */
  public boolean seal(ActiveTree full, Supplier<ActiveTree> next, LongSupplier logEnd) {
    if (activeTree() != full || !sealing.compareAndSet(false, true)) {
      return false;
    }
    try {
      if (activeTree() != full) {
        return false;
      }
      Table.StartLsn start = new Table.StartLsn();
      ActiveTree fresh = next.get();
      states.swap(state -> state.sealed(settings.order(), new Table.Active(fresh, start)));
      long end = logEnd.getAsLong();
      start.set(end);
      full.sealedAt(end);
      before = new ActiveUse(0, 0, bytesWritten(), readLoss.nanosPerRun(), true, false);
      return true;
    } finally {
      sealing.set(false);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
