package io.isobardb.lsm.flush;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.FullL0;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.commit.Sealer;
import io.isobardb.lsm.commit.WriteShares;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.flush.FlushRules.Cause;
import io.isobardb.lsm.flush.FlushRules.FlushView;
import io.isobardb.lsm.flush.FlushRules.Pressure;
import io.isobardb.lsm.merge.Flushes;
import io.isobardb.lsm.merge.NeedlessRanges;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.lsm.version.Version;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the write memory below its trigger and the log below its limit, by flushing.
 *
 * <p>Asked by writers and by itself; looks at all trees with something in memory. The log comes
 * first, and the tree with the lowest LSN in it; for memory's sake the {@link FlushPolicy} chooses,
 * anew after each slice. Trees so small that it takes several to fill an SSTable are flushed
 * together. Thread rule: all methods may be called by any thread; none blocks.
 */
public final class Flusher implements Flushes {
  private final Engine engine;
  private final Settings settings;
  private final FlushRules rules;
  private final Sealer sealer;
  private final Listener listener;
  private final WriteShares shares;

  /** Times that writers look at the log while it grows by all that it may hold. */
  private static final int LOG_LOOKS = 1024;

  /** Where the log ended when its pressure was last worked out. */
  private volatile long seenEnd;

  /** Held while the fullest L0 is looked for. */
  private final Object seeing = new Object();

  private final AtomicInteger running = new AtomicInteger();

  /** Requests not answered yet; the thread that counts the first one answers them all. */
  private final AtomicInteger requests = new AtomicInteger();

  /** Trees of which all is being flushed. */
  private final Set<TreeHandle> whole = ConcurrentHashMap.newKeySet();

  /** What became of the trees lately. */
  private final WriteWindow window;

  private final FlushHistory history = new FlushHistory();

  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder flushes = new LongAdder();

  /**
   * What flushes keep to.
   *
   * @param rules what is flushed when
   * @param l0 how L0 takes what is flushed
   * @param sizes of SSTables: of slices
   * @param maxJobs flushes at once
   * @param l0Rules how many groups L0 may have
   */
  public record Settings(
      FlushRules rules, L0Structure l0, TableSizes sizes, int maxJobs, L0Rules l0Rules) {}

  /** Is told what flushes have done. */
  public interface Listener {
    /** A tree's L0 has grown. */
    void onFlushed(TreeHandle tree);

    /** A flush is done with a tree's memory. */
    void onLeft(TreeHandle tree);

    /** Memory is short: cursors should give up old states, so that what was flushed is freed. */
    void memoryShort();
  }

  /**
   * @param shares says which trees have filled theirs
   */
  public Flusher(
      Engine engine, Settings settings, Sealer sealer, Listener listener, WriteShares shares) {
    this.engine = engine;
    this.settings = settings;
    this.rules = settings.rules();
    this.sealer = sealer;
    this.listener = listener;
    this.shares = shares;
    this.window = new WriteWindow(rules.logLimitBytes());
  }

  Engine engine() {
    return engine;
  }

  Settings settings() {
    return settings;
  }

  /** Bytes written to disk by flushes. */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /** Slices flushed. */
  public long flushes() {
    return flushes.sum();
  }

  /** Starts flushes if there is need. Cheap when there is none, or when enough of them run. */
  @Override
  public void request() {
    holdWriters();
    start();
  }

  /**
   * As {@link #request}, for a write that need not wait: all writes above the trigger come here.
   * The log is looked at again once it has grown by a small part. Trees are not chosen among while
   * none is free: the job that is done with one asks.
   */
  public void suggest() {
    if (engine.log().end() - seenEnd > rules.logLimitBytes() / LOG_LOOKS) {
      holdWriters();
    }
    if (mayStart() && !noneFree()) {
      ask();
    }
  }

  private void start() {
    if (mayStart()) {
      ask();
    }
  }

  private boolean mayStart() {
    return running.get() < settings.maxJobs()
        && engine.failure().cause() == null
        && !engine.space().isFull();
  }

  private void ask() {
    if (requests.getAndIncrement() == 0) {
      answer();
    }
  }

  /** Repeats until no new request arrived during the choice, so no request is lost. */
  private void answer() {
    boolean done = false;
    try {
      for (int seen = requests.get(); !done; ) {
        choose();
        done = requests.compareAndSet(seen, 0);
        seen = requests.get();
      }
    } finally {
      if (!done) {
        requests.set(0);
      }
    }
  }

  /**
   * Slows writers down while the log is near its limit, and makes them wait while it is over that.
   * Cheap when it is not near.
   */
  private void holdWriters() {
    long limit = rules.logLimitBytes();
    seenEnd = engine.log().end();
    double pressure = 0;
    // A log that is replayed is as long as it is.
    if (engine.log().isOpen() && Fullness.USUAL.slow(engine.log().sizeBytes(), limit) > 0) {
      // What a flush could let go, not what the files hold: their cut comes with the next edit.
      pressure = Fullness.USUAL.slow(engine.log().end() - engine.catalog().neededLsn(), limit);
    }
    engine.gate().setLogPressure(pressure);
  }

  /** One thread at a time: whoever comes last has seen what all before have changed. */
  @Override
  public void seeL0() {
    synchronized (seeing) {
      engine.gate().setL0(fullestL0());
    }
  }

  private FullL0 fullestL0() {
    FullL0 fullest = FullL0.none(settings.l0Rules().least());
    long nanos = engine.nanos();
    for (TreeHandle tree : engine.catalog().holders()) {
      TreeState state = tree.states().current();
      if (state.memoryBytes() > 0) {
        tree.load().look(nanos, tree.counts());
        fullest =
            fullest.or(FullL0.of(tree.name(), state.version(), tree.l0Limits(settings.l0Rules())));
      }
    }
    return fullest;
  }

  private void choose() {
    while (running.get() < settings.maxJobs()) {
      FlushJob job = next();
      if (job == null) {
        if (engine.gate().pressed() && running.get() == 0) {
          relieve();
        }
        return;
      }
      submit(job);
    }
  }

  private void submit(FlushJob job) {
    running.incrementAndGet();
    try {
      engine.environment().scheduler().submit(job);
    } catch (Throwable e) {
      running.decrementAndGet();
      giveBack(job.trees());
      throw e;
    }
  }

  /** Lets others have trees whose flush could not be begun. */
  private void giveBack(List<TreeHandle> taken) {
    for (TreeHandle tree : taken) {
      whole.remove(tree);
      tree.memory().leave();
    }
  }

  private @Nullable FlushJob next() {
    for (Cause cause : rules.causes(pressure())) {
      // Writers ask again and again meanwhile: they are not to pay for the policy.
      boolean hopeless = noneFree();
      FlushJob job = hopeless ? null : begun(cause, rules.choose(view(cause, null)));
      if (job != null) {
        return job;
      }
    }
    return null;
  }

  private Pressure pressure() {
    // Write memory that will come free, since all of a tree is being flushed.
    long coming = whole.stream().mapToLong(tree -> tree.states().current().sealedBytes()).sum();
    return new Pressure(
        engine.log().sizeBytes(),
        sweepBytes(),
        engine.gate().excessBytes(),
        coming,
        shares != WriteShares.NONE,
        running.get());
  }

  /** See {@link FlushRules#sweepBytes}. */
  private long sweepBytes() {
    long bytes = engine.log().sizeBytes();
    return rules.mayBeLong(bytes)
        ? rules.sweepBytes(engine.gate().usedBytes(), history.since(engine.log().end() - bytes))
        : 0;
  }

  /** Frees what nobody but idle cursors holds any more. */
  private void relieve() {
    long before = engine.gate().usedBytes();
    listener.memoryShort();
    if (engine.gate().usedBytes() < before) {
      engine.gate().wake();
    }
  }

  @Override
  public boolean flushAll(TreeHandle tree) {
    if (!tree.memory().tryTake()) {
      return false;
    }
    FlushJob job;
    try {
      window.holds(tree.id(), tree.states().current().memoryBytes());
      sealer.seal(tree);
      whole.add(tree);
      job = new FlushJob(this, List.of(new TreeFlush(this, tree, FlushKind.FULL, false)));
    } catch (Throwable e) {
      giveBack(List.of(tree));
      throw e;
    }
    submit(job);
    return true;
  }

  /** Whether a flush of a tree would find range deletes that hide nothing any more. */
  public boolean findsNeedlessRanges(TreeHandle tree) {
    TreeState state = tree.states().current();
    return !state.version().rangeDeletes().isEmpty()
        && !needlessRanges(tree, state.version(), state).isEmpty();
  }

  /** The range deletes of a version that hide nothing any more, given the runs in memory. */
  List<RangeDelete> needlessRanges(TreeHandle tree, Version version, TreeState memory) {
    long readers = engine.retention().indifferentLsn(tree);
    return NeedlessRanges.of(version, memory, readers);
  }

  /** A flush of the chosen trees; null if there are none, or somebody else was faster. */
  private @Nullable FlushJob begun(Cause cause, List<FlushChoice> choices) {
    List<TreeHandle> taken = new ArrayList<>();
    List<TreeFlush> parts = new ArrayList<>();
    try {
      for (FlushChoice choice : choices) {
        TreeHandle tree = engine.catalog().tree(choice.treeId());
        if (tree != null && tree.memory().tryTake()) {
          taken.add(tree);
          SystemLog.tell(
              Level.DEBUG, Flusher.class, () -> "flushing " + tree + ": " + choice.reason(), null);
          tree.memory().setSliced(choice.sliced());
          parts.add(begun(tree, cause, choice.kind()));
        }
      }
      return parts.isEmpty() ? null : new FlushJob(this, parts);
    } catch (Throwable e) {
      giveBack(taken);
      throw e;
    }
  }

  /** A flush of a tree that is taken; its active SSTable is sealed if that is to go, too. */
  private TreeFlush begun(TreeHandle tree, Cause cause, FlushKind kind) {
    TreeState state = tree.states().current();
    int frozen = state.frozenRuns(engine.log().visible());
    boolean full = kind == FlushKind.FULL;
    if (sealer.rules().sealsForFlush(state.memoryRunCount(), frozen, full, cause == Cause.SHARE)) {
      sealer.seal(tree);
    }
    if (full) {
      whole.add(tree);
    }
    return new TreeFlush(this, tree, kind, cause != Cause.LOG);
  }

  /** Whether each tree is busy, or holds nothing that could be flushed. */
  private boolean noneFree() {
    for (TreeHandle tree : engine.catalog().holders()) {
      if (!busy(tree) && holdsMemory(tree.states().current(), Cause.LOG)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether a flush for memory's sake goes on with this tree, of which a slice has been flushed.
   * Else it is to end, and what is more urgent begins.
   */
  boolean goesOn(TreeHandle tree) {
    if (l0Full(tree) || rules.isLong(engine.log().sizeBytes(), sweepBytes())) {
      return false;
    }
    if (shares.isDue(tree)) {
      return true;
    }
    if (!engine.gate().pressed()) {
      return false;
    }
    if (!requests.compareAndSet(0, 1)) {
      return true;
    }
    try {
      return rules.goesOn(view(Cause.MEMORY, tree), tree.id());
    } finally {
      if (!requests.compareAndSet(1, 0)) {
        answer();
      }
    }
  }

  /**
   * What is to be chosen from.
   *
   * @param mine a tree that may be chosen although the caller's flush of it is under way
   */
  private FlushView view(Cause cause, @Nullable TreeHandle mine) {
    if (cause != Cause.SHARE) {
      window.look(engine.catalog());
    }
    double kept =
        cause == Cause.MEMORY
            ? FlushRules.keptOfFloors(engine.gate().mostKeptBytes(), engine.catalog().floorBytes())
            : 0;
    List<TreeMemory> trees = new ArrayList<>();
    for (TreeHandle tree : engine.catalog().holders()) {
      if (holdsMemory(tree.states().current(), cause) && !tree.closed() && isAbout(tree, cause)) {
        trees.add(memory(tree, cause, kept, tree == mine ? l0Full(tree) : busy(tree)));
      }
    }
    return new FlushView(
        cause, engine.gate().limitBytes(), sliceBytes(), engine.log().end(), trees);
  }

  /** Whether a flush for a cause could be of use. Range deletes keep the log from being cut. */
  private static boolean holdsMemory(TreeState state, Cause cause) {
    return state.memoryBytes() > 0 || (cause == Cause.LOG && !state.ranges().unsaved().isEmpty());
  }

  private boolean isAbout(TreeHandle tree, Cause cause) {
    return switch (cause) {
      case LOG -> tree.settings().logged();
      case SHARE -> shares.isDue(tree);
      case MEMORY -> true;
    };
  }

  private TreeMemory memory(TreeHandle tree, Cause cause, double kept, boolean busy) {
    TreeState state = tree.states().current();
    long bytes = state.memoryBytes();
    if (cause != Cause.SHARE) {
      window.holds(tree.id(), bytes);
    }
    TreeHandle.Priority priority = tree.priority();
    long flushable = Math.max(0, bytes - (long) (kept * priority.floorBytes()));
    long minLsn = state.minMemoryLsn(engine.log().durable());
    WriteWindow.Lately lately = window.lately(tree.id(), priority.weight());
    return new TreeMemory(
        tree.id(), bytes, flushable, minLsn, busy, tree.memory().isSliced(), lately);
  }

  private boolean busy(TreeHandle tree) {
    return tree.memory().isTaken() || l0Full(tree);
  }

  private boolean l0Full(TreeHandle tree) {
    return tree.states().current().version().l0Full(tree.l0Limits(settings.l0Rules()));
  }

  /** A tree was dropped, and no flush of it is under way. */
  public void forget(TreeHandle tree) {
    window.forget(tree.id());
  }

  @Override
  public long recentMemoryBytes(TreeHandle tree) {
    return Math.max(tree.states().current().memoryBytes(), window.mostBytes(tree.id()));
  }

  /** The part of the write memory that a tree holds, 0 to 1. */
  double shareOfMemory(TreeState state) {
    return Math.min(1, (double) state.memoryBytes() / engine.gate().limitBytes());
  }

  /** Size of a slice of a tree that has the write memory to itself: an SSTable. */
  long sliceBytes() {
    return settings.sizes().flushed(engine.gate().limitBytes());
  }

  /** Size of a slice of this tree. */
  long sliceBytes(TreeHandle tree) {
    long memoryBytes = tree.states().current().memoryBytes();
    return settings
        .sizes()
        .flushed(engine.gate().limitBytes(), memoryBytes, tree.memory().isSliced());
  }

  /**
   * Slices are on disk, and out of memory.
   *
   * @param freed bytes of write memory that came free
   */
  void onFlushed(List<FlushSlice> slices, long freed) throws IOException {
    long now = engine.nanos();
    long begun = slices.stream().mapToLong(slice -> slice.part().startNanos()).min().orElse(now);
    long total = slices.stream().mapToLong(FlushSlice::bytesWritten).sum();
    history.add(engine.log().end(), Math.max(freed, total));
    for (FlushSlice slice : slices) {
      TreeHandle tree = slice.tree();
      long written = slice.bytesWritten();
      // Its share: what each slice alone has freed is not known.
      long given = (long) ((double) freed * written / Math.max(1, total));
      // Others write meanwhile: it was as much as was written in any case.
      window.note(tree.id(), tree.counts().bytesWritten());
      window.onFlushed(tree.id(), Math.max(given, written), slice.part().forMemory());
      engine.catalog().onFlushed(tree);
      tree.work().onFlushed(written, slice.part().forMemory());
      bytesWritten.add(written);
      flushes.increment();
      FlushKind kind = slice.part().kind();
      long nanos = now - slice.part().startNanos();
      engine
          .observers()
          .onFlushed(
              slice.part().span(),
              new StoreListener.Flush(tree.name(), kind, written, given, nanos));
    }
    cutLog();
    holdWriters();
    seeL0();
    engine.gate().firstRoom().makeRoom();
    if (engine.gate().pressed()) {
      listener.memoryShort();
    }
    engine.gate().onFreed(freed, total, now - begun);
    slices.forEach(slice -> listener.onFlushed(slice.tree()));
  }

  private void cutLog() throws IOException {
    if (engine.log().isOpen()) {
      engine.log().truncateBefore(engine.catalog().logStart());
    }
  }

  /** A flush is done with these trees. */
  void onLeft(Collection<TreeFlush> parts) {
    for (TreeFlush part : parts) {
      whole.remove(part.tree());
      part.tree().memory().leave();
    }
    if (!engine.gate().pressed() && engine.failure().cause() == null) {
      parts.forEach(part -> listener.onLeft(part.tree()));
    }
  }

  /** A flush has ended. */
  void onEnded() {
    if (running.decrementAndGet() == 0 && engine.log().sizeBytes() > rules.logLimitBytes()) {
      relieveLog();
    }
    engine.gate().wake();
    request();
  }

  /** Cuts the log as far as it can be now: no later flush might come that would. */
  private void relieveLog() {
    if (!engine.log().isOpen() || engine.failure().cause() != null) {
      return;
    }
    try {
      engine.log().flush();
      engine.catalog().noteLogStart();
      cutLog();
    } catch (IOException | RuntimeException e) {
      engine.space().onJobFailed(e);
    }
  }
}
