package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.FullL0;
import io.isobardb.lsm.event.MergeSpan;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Starts merges of SSTables on disk, as a policy says. {@link MemoryMerger} starts those in memory.
 *
 * <p>Thread rule: all methods may be called by any thread; none blocks on I/O.
 */
public final class Merger {
  private final Engine engine;
  private final Settings settings;
  private final Flushes flushes;
  private final Map<TreeHandle, List<DiskMergeJob>> running = new HashMap<>();

  /**
   * Trees that asked for merges while not all slots were free, with those that were not: asked
   * again, in turn, when one of these is.
   */
  private final Map<TreeHandle, Set<Slot>> waiting = new LinkedHashMap<>();

  private final NeedlessTables needless;

  /** What is to be merged down, in the order in which it was asked for. */
  private final Map<TreeHandle, List<MergeDown>> wishes = new HashMap<>();

  /** Trees of which no disk merge is begun now. */
  private final Set<TreeHandle> paused = new HashSet<>();

  /** What waits for merges, of each tree for which something does, and its sum. */
  private final Map<TreeHandle, Long> debts = new HashMap<>();

  private long debtBytes;

  /** Merges that may begin; those of {@link Slot#DROP} may in any case. */
  private volatile Set<Slot> allowed = EnumSet.allOf(Slot.class);

  private final Listener listener;

  /** Merges that were begun and neither ended nor were given up, by their slot. */
  private final int[] begun = new int[Slot.values().length];

  private final LongAdder bytesVoided = new LongAdder();
  private final LongAdder voided = new LongAdder();
  private final LongAdder bytesRead = new LongAdder();
  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder merges = new LongAdder();

  /**
   * What merges keep to.
   *
   * @param disk which merge of a tree's SSTables is next
   * @param sizes of SSTables
   * @param slots disk merges at once
   * @param l0Rules how many groups L0 may have
   */
  public record Settings(MergePolicy disk, TableSizes sizes, Slots slots, L0Rules l0Rules) {}

  /**
   * How many disk merges there are at once. Those of L0 have slots of their own, so that none waits
   * for the end of a deeper one.
   *
   * @param l0 merges of L0
   * @param deep all others
   * @param all both
   */
  public record Slots(int l0, int deep, int all) {
    /** No merge is begun, and nothing is dropped. */
    public static final Slots NONE = new Slots(0, 0, 0);

    /** What goes with so many background threads. */
    public static Slots of(int threads) {
      int each = Math.max(1, threads - 1);
      return new Slots(each, each, threads == 1 ? 1 : 2 * each);
    }
  }

  /** Is told of requests. */
  public interface Listener {
    /** Disk merges are asked for, and about to be chosen. */
    void onMergesRequested();
  }

  public Merger(Engine engine, Settings settings, Flushes flushes, Listener listener) {
    this.listener = listener;
    this.engine = engine;
    this.settings = settings;
    this.flushes = flushes;
    this.needless = new NeedlessTables(engine);
  }

  Settings settings() {
    return settings;
  }

  /** How large SSTables are. */
  public TableSizes tableSizes() {
    return settings.sizes();
  }

  /** The size of an SSTable that a disk merge writes to a tree now. */
  long tableBytes(TreeHandle tree) {
    return tableBytes(tree, 0);
  }

  /** The size of an SSTable of a tree that has so many bytes more on disk than it has now. */
  public long tableBytes(TreeHandle tree, long moreBytes) {
    return settings
        .sizes()
        .merged(
            engine.gate().limitBytes(),
            tree.states().current().version().sizeBytes() + moreBytes,
            flushes.recentMemoryBytes(tree),
            tree.memory().isSliced());
  }

  /** Begins no disk merge of a tree until {@link #resume}. Those under way go on. */
  public synchronized void pause(TreeHandle tree) {
    paused.add(tree);
  }

  /** Takes {@link #pause} back, and looks whether there is anything to merge. */
  public void resume(TreeHandle tree) {
    synchronized (this) {
      paused.remove(tree);
    }
    request(tree);
  }

  /** Whether no disk merge of the tree under way takes what lies round an SSTable's keys. */
  public synchronized boolean leavesAlone(TreeHandle tree, SSTableMeta table) {
    for (DiskMergeJob job : running.getOrDefault(tree, List.of())) {
      if (job.choice().covers(tree.order(), table)) {
        return false;
      }
    }
    return true;
  }

  /** Bytes of SSTables that disk merges read. */
  public long bytesRead() {
    return bytesRead.sum();
  }

  /** Bytes of SSTables that disk merges wrote. */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /** Bytes that disk merges had written when they were given up for more urgent ones. */
  public long bytesVoided() {
    return bytesVoided.sum();
  }

  /** Disk merges given up for more urgent ones. */
  public long voided() {
    return voided.sum();
  }

  /** Disk merges done. */
  public long merges() {
    return merges.sum();
  }

  /** Lets no other merges begin than those of some slots. */
  void allow(Set<Slot> slots) {
    allowed = slots;
  }

  /** Whether merges are not postponed. */
  boolean unhindered() {
    return allowed.contains(Slot.DEEP);
  }

  /** Starts what disk merges there are to do for a tree, and may begin now. */
  public void request(TreeHandle tree) {
    seeDebt(tree);
    listener.onMergesRequested();
    start(tree);
  }

  private void start(TreeHandle tree) {
    while (!tree.closed() && engine.failure().cause() == null && !engine.space().isFull()) {
      DiskMergeJob job = choose(tree);
      if (job == null) {
        return;
      }
      job.start();
    }
  }

  /** Submits a merge that no longer waits for what is given up for it. */
  void submit(DiskMergeJob job) {
    try {
      engine.environment().scheduler().submit(job);
    } catch (Throwable e) {
      job.onFailed(e);
      throw e;
    }
  }

  private synchronized @Nullable DiskMergeJob choose(TreeHandle tree) {
    waiting.remove(tree);
    if (paused.contains(tree)) {
      return null;
    }
    List<DiskMergeJob> jobs = running.getOrDefault(tree, List.of());
    EnumSet<Slot> free = free();
    EnumSet<Slot> taken = EnumSet.complementOf(free);
    taken.removeAll(EnumSet.of(Slot.GATHER, Slot.DROP));
    if (mayGather(tree, jobs)) {
      free.add(Slot.GATHER);
    }
    boolean mayMerge = !free.isEmpty();
    if (settings.slots().all() > 0) {
      free.add(Slot.DROP);
    }
    MergeChoice choice = needless.choose(tree, busy(jobs), free);
    if (choice == null && mayMerge) {
      choice = settings.disk().choose(view(tree, jobs, free));
    }
    boolean isForReads = false;
    if (choice == null && mayMerge) {
      Wished wished = wished(tree, view(tree, jobs, free));
      choice = wished == null ? null : wished.choice();
      isForReads = wished != null && wished.wish().isForReads();
    }
    while (choice != null && !giveUp(jobs, choice)) {
      choice = settings.disk().choose(view(tree, jobs, free));
    }
    if (choice == null) {
      if (!taken.isEmpty()) {
        waiting.put(tree, taken);
      }
      return null;
    }
    choice = choice.packedBy(tree.compression().last());
    if (choice.leavesL0()) {
      tree.work().leavesL0(tree.states().current().version().l0Bytes());
    }
    DiskMergeJob job = new DiskMergeJob(this, engine, tree, choice, isForReads, givenUp(jobs));
    running.computeIfAbsent(tree, key -> new ArrayList<>()).add(job);
    begun[choice.slot().ordinal()]++;
    return job;
  }

  /** A merge, and for what wish it is done. */
  private record Wished(MergeChoice choice, MergeDown wish) {}

  private @Nullable Wished wished(TreeHandle tree, MergeView view) {
    for (MergeDown wish : wishes.getOrDefault(tree, List.of())) {
      MergeChoice choice = settings.disk().choose(view, wish);
      if (choice != null) {
        return new Wished(choice, wish);
      }
    }
    return null;
  }

  /** Whether disk merges of a tree are under way, or will be once others have ended. */
  public synchronized boolean merges(TreeHandle tree) {
    return !running.getOrDefault(tree, List.of()).isEmpty()
        || waiting.containsKey(tree) && begun[Slot.L0.ordinal()] + begun[Slot.DEEP.ordinal()] > 0;
  }

  /** Begins to merge down what is wished, until {@link #forget}. */
  public void add(TreeHandle tree, MergeDown wish) {
    synchronized (this) {
      List<MergeDown> all = wishes.computeIfAbsent(tree, key -> new ArrayList<>());
      if (!all.contains(wish)) {
        all.add(wish);
      }
    }
    request(tree);
  }

  /** Begins to merge down what reads have paid for, in place of what they had before. */
  public void mergeForReads(TreeHandle tree, ReadLosses losses) {
    MergeView view;
    synchronized (this) {
      view = view(tree, running.getOrDefault(tree, List.of()), EnumSet.of(Slot.L0, Slot.DEEP));
    }
    List<MergeDown.Passed> paid = settings.disk().paidFor(view, losses);
    synchronized (this) {
      List<MergeDown> all = wishes.computeIfAbsent(tree, key -> new ArrayList<>());
      all.removeIf(wish -> wish instanceof MergeDown.Passed);
      all.addAll(paid);
      if (all.isEmpty()) {
        wishes.remove(tree);
      }
    }
    if (!paid.isEmpty()) {
      request(tree);
    }
  }

  /** Begins no more merges for a wish. */
  public synchronized void forget(TreeHandle tree, MergeDown wish) {
    wishes.computeIfPresent(
        tree, (key, all) -> all.removeIf(one -> one == wish) && all.isEmpty() ? null : all);
  }

  private static Set<Long> busy(List<DiskMergeJob> jobs) {
    Set<Long> busy = new HashSet<>();
    for (DiskMergeJob job : jobs) {
      busy.addAll(job.choice().files());
    }
    return busy;
  }

  /** See {@link NeedlessTables#awaitsDrop}. */
  public boolean awaitsDrop(TreeHandle tree) {
    return needless.awaitsDrop(tree);
  }

  /** Has all SSTables of a tree rewritten of which something has expired, however little. */
  public void requestExpired(TreeHandle tree) {
    synchronized (this) {
      needless.rewriteExpired(tree);
    }
    request(tree);
  }

  /**
   * Whether groups of L0 may be merged with each other beside a merge that takes others down, and
   * takes long: L0 is on the way to its limit meanwhile. A tree has one such merge at a time.
   */
  private boolean mayGather(TreeHandle tree, List<DiskMergeJob> jobs) {
    boolean besideOther = false;
    for (DiskMergeJob job : jobs) {
      if (job.choice().slot() == Slot.GATHER) {
        return false;
      }
      besideOther |= job.choice().leavesL0();
    }
    return besideOther && allowed.contains(Slot.L0) && l0(tree).nearlyFull();
  }

  /** Free slots for whatever tree, of {@link Slot#L0} and {@link Slot#DEEP}. */
  private EnumSet<Slot> free() {
    EnumSet<Slot> free = EnumSet.noneOf(Slot.class);
    Slots slots = settings.slots();
    int l0 = begun[Slot.L0.ordinal()];
    int deep = begun[Slot.DEEP.ordinal()];
    if (l0 + deep < slots.all()) {
      if (l0 < slots.l0()) {
        free.add(Slot.L0);
      }
      if (deep < slots.deep()) {
        free.add(Slot.DEEP);
      }
    }
    free.retainAll(allowed);
    return free;
  }

  /**
   * Gives up the merges that a choice names.
   *
   * @return false if one of them has come too far meanwhile: then there is another choice to make
   */
  private boolean giveUp(List<DiskMergeJob> jobs, MergeChoice choice) {
    for (DiskMergeJob job : jobs) {
      if (choice.voids().contains(job.choice())) {
        if (!job.claim().giveUp()) {
          return false;
        }
        begun[job.choice().slot().ordinal()]--;
        voided.increment();
      }
    }
    return true;
  }

  /** Merges that were given up, now or for an earlier choice, and may still read their inputs. */
  private static List<DiskMergeJob> givenUp(List<DiskMergeJob> jobs) {
    return jobs.stream().filter(job -> job.claim().isGivenUp()).toList();
  }

  /** A merge that was given up had written so much. */
  void onLost(long bytes) {
    bytesVoided.add(bytes);
  }

  private MergeView view(TreeHandle tree, List<DiskMergeJob> jobs, Set<Slot> free) {
    List<MergeChoice> made = new ArrayList<>();
    List<MergeChoice> voidable = new ArrayList<>();
    for (DiskMergeJob job : jobs) {
      if (job.claim().isVoidable()) {
        voidable.add(job.choice());
      }
      if (!job.claim().isGivenUp()) {
        made.add(job.choice());
      }
    }
    long batch = tree.work().batchBytes();
    return new MergeView(
        tree.states().current().version(),
        tree.shape(),
        flushes.recentMemoryBytes(tree),
        tableBytes(tree),
        batch > 0 ? batch : MergeView.UNTOLD,
        tree.levels().plan(),
        made,
        voidable,
        free);
  }

  /** The tree as the policy would see it if no merge were running. */
  public MergeView diskView(TreeHandle tree) {
    return view(tree, List.of(), Set.of());
  }

  /** Bytes of the tree's SSTables that wait for disk merges, or are being merged; about. */
  public long debtBytes(TreeHandle tree) {
    return settings.disk().debtBytes(diskView(tree));
  }

  /** Bytes that disk merges of the tree are to write until {@link #debtBytes} is none; about. */
  public long chainBytes(TreeHandle tree) {
    return settings.disk().chainBytes(diskView(tree));
  }

  /** What disk merges of a tree are to cost. */
  public LevelCosts expected(TreeHandle tree) {
    return settings.disk().expected(diskView(tree));
  }

  /** Lets the gate know how much there is to merge in all. */
  private synchronized void seeDebt(TreeHandle tree) {
    long debt = tree.closed() ? 0 : debtBytes(tree);
    Long before = debt == 0 ? debts.remove(tree) : debts.put(tree, debt);
    debtBytes += debt - (before == null ? 0 : before);
    if (tree.closed()) {
      needless.forget(tree);
      wishes.remove(tree);
    }
    engine.gate().setDebt(debtBytes);
  }

  void onMerged(DiskMergeJob job, List<SSTableMeta> outputs, MergeSpan span, long startNanos) {
    TreeHandle tree = job.tree();
    MergeChoice choice = job.choice();
    long read = outputs.isEmpty() ? 0 : choice.inputBytes();
    long written = outputs.stream().mapToLong(SSTableMeta::sizeBytes).sum();
    bytesRead.add(read);
    bytesWritten.add(written);
    tree.work().onMerged(written, choice.output(), job.isForReads());
    if (choice.leavesL0() && read > 0) {
      tree.work().leftL0(read, written, choice.l0Bytes(), choice.l0Groups());
      engine.gate().onLeftL0(choice.l0Bytes());
    }
    merges.increment();
    int inputs = choice.inputs().stream().mapToInt(input -> input.tables().size()).sum();
    long nanos = engine.nanos() - startNanos;
    engine
        .observers()
        .onMerged(
            span,
            new StoreListener.Merge(
                tree.name(), choice.eventKind(), inputs, outputs.size(), read, written, nanos));
  }

  void onEnded(DiskMergeJob job) {
    synchronized (this) {
      List<DiskMergeJob> jobs = running.get(job.tree());
      if (jobs != null && jobs.remove(job)) {
        if (!job.claim().isGivenUp()) {
          begun[job.choice().slot().ordinal()]--;
        }
        if (jobs.isEmpty()) {
          running.remove(job.tree());
        }
      }
      waiting.remove(job.tree());
    }
    flushes.seeL0();
    flushes.request();
    // Each in its turn, this one last.
    for (TreeHandle next = nextWaiting(); next != null; next = nextWaiting()) {
      start(next);
    }
    request(job.tree());
    engine.gate().wake();
  }

  /**
   * Takes out the tree that is asked next: one that a free slot may help, first of all one that
   * can't be flushed until then. Null if there is none, so the many that wait are not asked for
   * nothing each time that a merge ends.
   */
  private synchronized @Nullable TreeHandle nextWaiting() {
    Set<Slot> free = free();
    TreeHandle next = null;
    for (Map.Entry<TreeHandle, Set<Slot>> entry : waiting.entrySet()) {
      boolean helps = !Collections.disjoint(entry.getValue(), free);
      if (helps && (next == null || l0Full(entry.getKey()))) {
        next = entry.getKey();
        if (l0Full(next)) {
          break;
        }
      }
    }
    if (next != null) {
      waiting.remove(next);
    }
    return next;
  }

  private FullL0 l0(TreeHandle tree) {
    Version version = tree.states().current().version();
    return FullL0.of(tree.name(), version, tree.l0Limits(settings.l0Rules()));
  }

  /** Whether a tree is not flushed for memory's sake until its L0 has been merged. */
  boolean l0Full(TreeHandle tree) {
    return tree.states().current().version().l0Full(tree.l0Limits(settings.l0Rules()));
  }

  /** What waits for merges, of all trees. */
  synchronized long debtBytes() {
    return debtBytes;
  }

  /** Whether disk merges are queued or running. */
  synchronized boolean busy() {
    return !running.isEmpty();
  }

  /** Whether disk merges of a tree are queued or running. */
  public synchronized boolean busy(TreeHandle tree) {
    return running.containsKey(tree);
  }
}
