package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.merge.MemoryBalance.Neighbours;
import io.isobardb.lsm.observe.MergeSpan;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Starts merges, on disk and in memory, as a policy says.
 *
 * <p>Thread rule: all methods may be called by any thread; none blocks on I/O.
 */
public final class Merger {
  /** The SSTables of memory merges are this part of the write memory, ... */
  private static final int SLICE_SHARE = 64;

  /** ... or have so many pages, ... */
  private static final int SLICE_PAGES = 16;

  /** ... as long as that is no more than this part. */
  private static final int MOST_SHARE = 16;

  private static final long MEMORY_LEVEL_BYTES = 64 << 20;

  /** SSTables of a tree grow beyond what is flushed when it would have more than so many. */
  private static final int TREE_PARTS = 128;

  private static final long MIN_TABLE_BYTES = 1 << 20;
  private static final long MAX_TABLE_BYTES = 16 << 20;

  private final Engine engine;
  private final Settings settings;
  private final MergePolicy policy;
  private final ToLongFunction<TreeHandle> writeMemory;
  private final Map<TreeHandle, List<DiskMergeJob>> running = new HashMap<>();

  /** Trees that asked for merges while there were enough: asked again, in turn, when one ends. */
  private final Set<TreeHandle> waiting = new LinkedHashSet<>();

  private int count;
  private final LongAdder bytesRead = new LongAdder();
  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder merges = new LongAdder();
  private final LongAdder memoryMerges = new LongAdder();
  private Runnable onChange = () -> {};

  /**
   * What merges keep to.
   *
   * @param tableBytes size of an SSTable that is flushed now
   * @param maxJobs disk merges at once
   * @param activeBytes size of a small active SSTable now
   * @param component says whether runs are merged in memory
   */
  public record Settings(
      LongSupplier tableBytes, int maxJobs, LongSupplier activeBytes, MemoryComponent component) {}

  /**
   * @param writeMemory the most bytes of write memory that a tree held lately: what its levels are
   *     made for, so that they do not come and go with every flush
   */
  public Merger(
      Engine engine,
      Settings settings,
      MergePolicy policy,
      ToLongFunction<TreeHandle> writeMemory) {
    this.engine = engine;
    this.settings = settings;
    this.policy = policy;
    this.writeMemory = writeMemory;
  }

  /** What to do when a merge has changed a tree: flushes may have waited for it. */
  public void onChange(Runnable action) {
    onChange = action;
  }

  /**
   * The size of an SSTable that a disk merge writes to a tree. With little write memory what is
   * flushed is small, but each SSTable's index and filter take pages of the cache, and each one's
   * ends make merges larger than they need be: so they grow with the tree, and those of a tree that
   * is flushed whole, without slices to match, have a least size (decision 0012).
   */
  long tableBytes(TreeHandle tree) {
    boolean small =
        MemoryComponent.isSmall(writeMemory.applyAsLong(tree), engine.gate().limitBytes());
    return tableBytes(flushedBytes(), tree.states().current().version().sizeBytes(), small);
  }

  /**
   * The size of an SSTable that a disk merge writes; a pure function.
   *
   * @param flushedBytes the size of an SSTable that is flushed
   * @param treeBytes of all the tree's SSTables
   * @param small whether the tree is flushed whole, for memory's sake
   */
  public static long tableBytes(long flushedBytes, long treeBytes, boolean small) {
    long wanted = Math.max(flushedBytes, Math.min(treeBytes / TREE_PARTS, MAX_TABLE_BYTES));
    return small ? Math.max(wanted, MIN_TABLE_BYTES) : wanted;
  }

  /** The size of an SSTable that is flushed now. */
  private long flushedBytes() {
    return settings.tableBytes().getAsLong();
  }

  /** Bytes of SSTables that disk merges read. */
  public long bytesRead() {
    return bytesRead.sum();
  }

  /** Bytes of SSTables that disk merges wrote. */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /** Disk merges done. */
  public long merges() {
    return merges.sum();
  }

  /** Memory merges begun. */
  public long memoryMerges() {
    return memoryMerges.sum();
  }

  /** Starts what disk merges there are to do for a tree. */
  public void request(TreeHandle tree) {
    while (!tree.closed() && engine.failure().cause() == null && !engine.space().isFull()) {
      DiskMergeJob job = choose(tree);
      if (job == null) {
        return;
      }
      engine.environment().scheduler().submit(job);
    }
  }

  private synchronized @Nullable DiskMergeJob choose(TreeHandle tree) {
    if (count >= settings.maxJobs()) {
      waiting.add(tree);
      return null;
    }
    List<DiskMergeJob> jobs = running.computeIfAbsent(tree, key -> new ArrayList<>());
    MergeChoice choice = policy.choose(view(tree, jobs));
    if (choice == null) {
      if (jobs.isEmpty()) {
        running.remove(tree);
      }
      return null;
    }
    DiskMergeJob job = new DiskMergeJob(this, engine, tree, choice);
    jobs.add(job);
    count++;
    return job;
  }

  private MergeView view(TreeHandle tree, List<DiskMergeJob> jobs) {
    return new MergeView(
        tree.states().current().version(),
        writeMemory.applyAsLong(tree),
        tableBytes(tree),
        jobs.stream().map(DiskMergeJob::choice).toList());
  }

  /** Bytes of the tree's SSTables that wait for disk merges, or are being merged; about. */
  public long debtBytes(TreeHandle tree) {
    return policy.debtBytes(view(tree, List.of()));
  }

  void merged(
      TreeHandle tree,
      MergeChoice choice,
      List<SSTableMeta> outputs,
      MergeSpan span,
      long startNanos) {
    long read = outputs.isEmpty() ? 0 : choice.inputBytes();
    long written = outputs.stream().mapToLong(SSTableMeta::sizeBytes).sum();
    bytesRead.add(read);
    bytesWritten.add(written);
    tree.work().merged(written);
    merges.increment();
    int inputs = choice.inputs().stream().mapToInt(input -> input.tables().size()).sum();
    long nanos = engine.nanos() - startNanos;
    engine
        .observers()
        .merged(
            span,
            new StoreListener.Merge(
                tree.name(), choice.eventKind(), inputs, outputs.size(), read, written, nanos));
  }

  void ended(DiskMergeJob job) {
    List<TreeHandle> next;
    synchronized (this) {
      List<DiskMergeJob> jobs = running.get(job.tree());
      if (jobs != null && jobs.remove(job)) {
        count--;
        if (jobs.isEmpty()) {
          running.remove(job.tree());
        }
      }
      // Each in its turn, this one last; but first those that can't be flushed until then.
      waiting.remove(job.tree());
      next = new ArrayList<>(waiting);
      next.add(job.tree());
      waiting.clear();
    }
    next.sort(Comparator.comparing(tree -> !tree.states().current().version().l0Full()));
    onChange.run();
    next.forEach(this::request);
  }

  /** Whether disk merges of a tree are queued or running. */
  public synchronized boolean busy(TreeHandle tree) {
    return running.containsKey(tree);
  }

  /** Starts a memory merge of a tree if the memory component and its runs call for one. */
  public void requestMemory(TreeHandle tree) {
    TreeState state = tree.states().current();
    boolean whole = settings.component().mergesWhole();
    boolean due =
        whole ? mergesWhole(state) : alike(tree, state) != null || slowsReads(tree, state);
    if (!due
        || tree.closed()
        || tree.memoryBusy().get()
        || !tree.memoryBusy().compareAndSet(false, true)) {
      return;
    }
    Job job = null;
    if (slowsReads(tree, state)) {
      // Merged with the others when what is being written to it is there, at the next look.
      tree.seal(tree.activeTree(), engine.log()::end);
    } else {
      job = whole ? whole(tree) : alike(tree);
    }
    if (job == null) {
      giveBack(tree);
      return;
    }
    start(tree, job);
  }

  /**
   * Lets others have the tree's memory. A flush that was asked for meanwhile, by a writer who waits
   * now, was not begun: so it is asked for again.
   */
  private void giveBack(TreeHandle tree) {
    tree.memoryBusy().set(false);
    onChange.run();
  }

  private void start(TreeHandle tree, Job job) {
    tree.readLoss().clear();
    memoryMerges.increment();
    engine.environment().scheduler().submit(job);
  }

  /** Whether the active SSTable is large, and reads have lost what it costs to merge all in one. */
  private boolean slowsReads(TreeHandle tree, TreeState state) {
    return settings.component() == MemoryComponent.PARTITIONED
        && state.memoryRunCount() > 0
        && grown(tree)
        && MemoryBalance.paidFor(state.memoryBytes(), tree.readLoss().nanos());
  }

  private boolean mergesWhole(TreeState state) {
    return settings.component().mergesNow(state.frozenRuns(engine.log().visible()));
  }

  /** A merge of all frozen runs into one SSTable, or below one index; null if there is no room. */
  private @Nullable Job whole(TreeHandle tree) {
    TreeState state = tree.states().current();
    int frozen = state.frozenRuns(engine.log().visible());
    boolean indexes = settings.component().mergesIndexes();
    long room =
        indexes ? IndexMergeJob.bytesFor(engine, state.memory(), frozen) : state.sealedBytes();
    if (!mergesWhole(state) || !engine.gate().hasRoomBelowDelay(room)) {
      return null;
    }
    return indexes
        ? new IndexMergeJob(this, engine, tree, frozen)
        : new MemoryMergeJob(this, engine, tree, frozen, 0, Long.MAX_VALUE, 0);
  }

  private @Nullable MemoryMergeJob alike(TreeHandle tree) {
    TreeState state = tree.states().current();
    Neighbours runs = alike(tree, state);
    return runs == null
        ? null
        : memoryMerge(tree, runs.count(), state.memoryRunCount() - runs.to());
  }

  /** A tree with less write memory than this is not merged for the sake of room. */
  private long memoryLevelBytes() {
    return Math.min(MEMORY_LEVEL_BYTES, engine.gate().limitBytes() / 2);
  }

  /** Frozen runs that are worth a merge now, by their places among all in memory. */
  private @Nullable Neighbours alike(TreeHandle tree, TreeState state) {
    if (!settings.component().mergesRuns() || state.memoryRunCount() < 2) {
      return null;
    }
    List<Run> memory = state.memory();
    int frozen = state.frozenRuns(engine.log().visible());
    int open = memory.size() - frozen;
    long[] sizes = new long[frozen];
    long merged = 0;
    for (int i = 0; i < frozen; i++) {
      Run run = memory.get(open + i);
      sizes[i] = run.sizeBytes();
      merged += run.get(0).tree() == null ? sizes[i] : 0;
    }
    Neighbours chosen =
        MemoryBalance.choose(
            sizes,
            merged,
            settings.activeBytes().getAsLong(),
            state.memoryBytes() >= memoryLevelBytes(),
            engine.gate().usedBytes() >= engine.gate().limitBytes() / 2
                && tree.mergeGain().hoped(tree.bytesWritten()),
            tree.readLoss().nanos());
    return chosen == null ? null : new Neighbours(open + chosen.from(), open + chosen.to());
  }

  private @Nullable MemoryMergeJob memoryMerge(TreeHandle tree, int inputs, int older) {
    long slice = sliceBytes();
    return engine.gate().overdrawn(0)
        ? null
        : new MemoryMergeJob(this, engine, tree, inputs, older, slice, 2 * slice);
  }

  /** Size of the SSTables that memory merges make: so much room they need besides their inputs. */
  private long sliceBytes() {
    long page = engine.catalog().space().pageSize();
    long limit = engine.gate().limitBytes();
    // Filter, index and a half-empty last page weigh little in one of so many pages.
    long share = Math.max(limit / SLICE_SHARE, Math.min(SLICE_PAGES * page, limit / MOST_SHARE));
    return Math.max(2 * page, Math.min(flushedBytes(), share));
  }

  /**
   * Merges all runs in memory of a tree that is not written to, so that reads ask one packed run
   * instead of many, and none that has grown large with room for more.
   *
   * @return whether it should be asked again, because the tree's memory is busy now
   */
  public boolean requestIdle(TreeHandle tree) {
    TreeState state = tree.states().current();
    boolean merged = state.memoryRunCount() == 1 && state.run(0).get(0).tree() == null;
    if (!settings.component().mergesRuns()
        || settings.component().mergesWhole()
        || (state.memoryRunCount() == 0 || merged) && !grown(tree)
        || state.memoryBytes() < settings.activeBytes().getAsLong()) {
      return false;
    }
    if (!tree.memoryBusy().compareAndSet(false, true)) {
      return true;
    }
    if (grown(tree)) {
      tree.seal(tree.activeTree(), engine.log()::end);
    }
    state = tree.states().current();
    List<Run> memory = state.memory();
    boolean frozen = state.frozenRuns(engine.log().visible()) == memory.size();
    MemoryMergeJob job = frozen && !memory.isEmpty() ? memoryMerge(tree, memory.size(), 0) : null;
    if (job == null) {
      giveBack(tree);
      return !frozen;
    }
    start(tree, job);
    return false;
  }

  /** While the log is replayed, what replay seals has to do with where it is. */
  private boolean grown(TreeHandle tree) {
    return tree.activeTree().full() && engine.log().isOpen();
  }

  /**
   * A memory merge has ended.
   *
   * @param again whether there is use in looking for another at once
   */
  void memoryEnded(TreeHandle tree, boolean again) {
    giveBack(tree);
    engine.gate().wake();
    if (again) {
      requestMemory(tree);
    }
  }

  void failed(Throwable cause) {
    if (cause instanceof DiskFullException full) {
      engine.space().full(full);
    } else if (cause instanceof OutOfBudgetException none) {
      engine.space().outOfMemory(none);
    } else {
      engine.failure().fail(cause);
    }
  }
}
