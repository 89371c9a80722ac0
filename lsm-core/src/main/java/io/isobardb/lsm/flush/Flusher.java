package io.isobardb.lsm.flush;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.commit.TreeSlots;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.L0Structure;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the write memory below its trigger and the log below its limit, by flushing.
 *
 * <p>Asked by writers and by itself; looks at all trees, idle ones too. The log comes first, and
 * the tree with the lowest LSN in it; for memory's sake the {@link FlushPolicy} chooses, anew after
 * each slice. Trees so small that it takes several to fill an SSTable are flushed together. Thread
 * rule: all methods may be called by any thread; none blocks.
 */
public final class Flusher {
  private final Engine engine;
  private final Settings settings;
  private final LongSupplier tableBytes;
  private final Consumer<TreeHandle> onFlushed;
  private final @Nullable TreeSlots slots;

  private final AtomicInteger running = new AtomicInteger();

  /** Requests not answered yet; whoever counts the first one answers them all. */
  private final AtomicInteger requests = new AtomicInteger();

  /** Trees of which all is being flushed. */
  private final Set<TreeHandle> whole = ConcurrentHashMap.newKeySet();

  /** What became of the trees lately. */
  private final WriteWindow window;

  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder flushes = new LongAdder();
  private volatile Runnable letGo = () -> {};

  /**
   * What flushes keep to.
   *
   * @param policy which tree is flushed when write memory runs short
   * @param strategy how much of it
   * @param l0 how L0 takes what is flushed
   * @param logLimitBytes above this length of log the tree with the lowest LSN is flushed
   * @param maxJobs flushes at once
   */
  public record Settings(
      FlushPolicy policy, FlushStrategy strategy, L0Structure l0, long logLimitBytes, int maxJobs) {

    /** These settings with another number of flushes at once. */
    public Settings withMaxJobs(int jobs) {
      return new Settings(policy, strategy, l0, logLimitBytes, jobs);
    }
  }

  /**
   * @param tableBytes size of a disk SSTable that is written now: of a slice
   * @param onFlushed told when a tree's L0 has grown
   * @param slots says which trees have filled their shares of the write memory; null if there are
   *     no such shares
   */
  public Flusher(
      Engine engine,
      Settings settings,
      LongSupplier tableBytes,
      Consumer<TreeHandle> onFlushed,
      @Nullable TreeSlots slots) {
    this.engine = engine;
    this.settings = settings;
    this.tableBytes = tableBytes;
    this.onFlushed = onFlushed;
    this.slots = slots;
    this.window = new WriteWindow(settings.logLimitBytes());
  }

  /** What makes cursors give up old states, so that what was flushed can be freed. */
  public void onPressure(Runnable action) {
    letGo = action;
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
  public void request() {
    holdWriters();
    if (running.get() >= settings.maxJobs()
        || engine.failure().cause() != null
        || engine.space().isFull()) {
      return;
    }
    if (requests.getAndIncrement() == 0) {
      answer();
    }
  }

  /** Chooses until nobody has asked meanwhile: he may have seen what came too late to be chosen. */
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

  /** Makes writers wait while the log is over its limit. Cheap when it is not near that. */
  private void holdWriters() {
    boolean logFull = false;
    // A log that is replayed is as long as it is.
    if (engine.log().isOpen() && engine.log().sizeBytes() > settings.logLimitBytes()) {
      // What a flush could let go, not what the files hold: their cut comes with the next edit.
      long needed = engine.log().end() - engine.catalog().neededLsn();
      logFull = needed > settings.logLimitBytes();
    }
    engine.gate().setLogFull(logFull);
  }

  /** Sees whether flushes wait for L0, so that the waits of writers are named for that. */
  private void seeL0() {
    boolean full = false;
    for (TreeHandle tree : engine.catalog().trees()) {
      full |= l0Full(tree) && tree.states().current().memoryBytes() > 0;
    }
    engine.gate().setL0Full(full);
  }

  private void choose() {
    while (running.get() < settings.maxJobs()) {
      FlushJob job = logTriggered();
      if (job == null && slots != null) {
        job = shareTriggered(slots);
      }
      if (job == null && engine.gate().pressed()) {
        job = memoryTriggered();
        if (job == null && running.get() == 0) {
          relieve();
        }
      }
      if (job == null) {
        return;
      }
      running.incrementAndGet();
      engine.environment().scheduler().submit(job);
    }
  }

  /** Frees what nobody but idle cursors holds any more. */
  private void relieve() {
    long before = engine.gate().usedBytes();
    letGo.run();
    if (engine.gate().usedBytes() < before) {
      engine.gate().wake();
    }
  }

  /** Flushes everything a tree holds in memory now. False if a flush of it is under way. */
  public boolean flushAll(TreeHandle tree) {
    if (!tree.memoryBusy().compareAndSet(false, true)) {
      return false;
    }
    window.holds(tree.id(), tree.states().current().memoryBytes());
    sealActive(tree);
    whole.add(tree);
    running.incrementAndGet();
    TreeFlush all = new TreeFlush(this, tree, FlushKind.FULL, false);
    engine.environment().scheduler().submit(new FlushJob(this, List.of(all)));
    return true;
  }

  /** A flush of the trees that keep the log from being cut, if the log is too long. */
  private @Nullable FlushJob logTriggered() {
    if (!logIsLong()) {
      return null;
    }
    window.look(engine.catalog().trees());
    List<TreeMemory> logged = memory(tree -> tree.settings().logged(), tree -> 0, null);
    // The oldest tree in any case; others while that one is busy, if they alone hold too much.
    long lowest = logged.stream().mapToLong(TreeMemory::minLsn).min().orElse(Lsn.MAX - 1);
    long below = Math.max(lowest + 1, engine.log().end() - logTriggerBytes());
    FlushStrategy strategy = settings.strategy();
    return begun(
        FlushPolicy.chooseForLog(logged, below, roundBytes()),
        tree -> strategy.forLog(window.turnover(tree.id())),
        false);
  }

  /** A flush of the chosen trees; null if there are none, or somebody else was faster. */
  private @Nullable FlushJob begun(
      List<FlushChoice> choices, Function<TreeHandle, FlushKind> kind, boolean forMemory) {
    List<TreeFlush> parts = new ArrayList<>();
    for (FlushChoice choice : choices) {
      TreeHandle tree = claim(choice);
      if (tree != null) {
        parts.add(begun(tree, kind.apply(tree), forMemory));
      }
    }
    return parts.isEmpty() ? null : new FlushJob(this, parts);
  }

  /** A flush of a tree that is claimed; its active SSTable is sealed if that is to go, too. */
  private TreeFlush begun(TreeHandle tree, FlushKind kind, boolean forMemory) {
    TreeState state = tree.states().current();
    int frozen = state.frozenRuns(engine.log().visible());
    // What is sealed and gets its last writes now is flushed before more is sealed.
    if (frozen == state.memoryRunCount() && (kind == FlushKind.FULL || frozen == 0)) {
      sealActive(tree);
    }
    if (kind == FlushKind.FULL) {
      whole.add(tree);
    }
    return new TreeFlush(this, tree, kind, forMemory);
  }

  /** Bytes of write memory that will come free, since all of a tree is being flushed. */
  private long comingBytes() {
    return whole.stream().mapToLong(tree -> tree.states().current().sealedBytes()).sum();
  }

  private long logTriggerBytes() {
    return Fullness.nearlyFull(settings.logLimitBytes());
  }

  private boolean logIsLong() {
    return engine.log().sizeBytes() > logTriggerBytes();
  }

  /** A flush of a tree that has filled its share. */
  private @Nullable FlushJob shareTriggered(TreeSlots shares) {
    for (TreeHandle tree : engine.catalog().trees()) {
      if (shares.due(tree)
          && !tree.closed()
          && !busy(tree)
          && tree.memoryBusy().compareAndSet(false, true)) {
        // Of a whole component, only what is sealed: the other half is being written.
        if (tree.states().current().memoryRunCount() == 0) {
          sealActive(tree);
        }
        FlushKind kind = settings.strategy().forMemory(false, window.turnover(tree.id()));
        return new FlushJob(this, List.of(new TreeFlush(this, tree, kind, true)));
      }
    }
    return null;
  }

  /** A flush of the trees that the policy chooses, if any has something to flush. */
  private @Nullable FlushJob memoryTriggered() {
    if (allBusy()) {
      // Writers ask again and again meanwhile: they are not to pay for the policy.
      return null;
    }
    // With shares, what is filled is on its way already; what is left to do comes from a replay.
    if (engine.gate().excessBytes() <= comingBytes() || (slots != null && running.get() > 0)) {
      return null;
    }
    FlushStrategy strategy = settings.strategy();
    return begun(
        chooseForMemory(null, roundBytes()),
        tree -> strategy.forMemory(isSmall(tree), window.turnover(tree.id())),
        true);
  }

  private boolean isSmall(TreeHandle tree) {
    if (tree.priority().floorBytes() > 0) {
      // A flush of the whole would take what is to stay.
      return false;
    }
    long bytes = tree.states().current().memoryBytes();
    return MemoryComponent.isSmall(bytes, engine.gate().limitBytes());
  }

  private boolean allBusy() {
    for (TreeHandle tree : engine.catalog().trees()) {
      if (!busy(tree)) {
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
    if (l0Full(tree)) {
      return false;
    }
    TreeSlots shares = slots;
    if (shares != null && shares.due(tree)) {
      return !logIsLong();
    }
    if (!engine.gate().pressed() || logIsLong()) {
      return false;
    }
    if (!requests.compareAndSet(0, 1)) {
      return true;
    }
    try {
      List<FlushChoice> choices = chooseForMemory(tree, 1);
      return choices.isEmpty() || choices.get(0).treeId() == tree.id();
    } finally {
      if (!requests.compareAndSet(1, 0)) {
        answer();
      }
    }
  }

  /**
   * @param mine a tree that may be chosen although the caller's flush of it is under way
   * @param bytes what the chosen trees should give back together
   */
  private List<FlushChoice> chooseForMemory(@Nullable TreeHandle mine, long bytes) {
    window.look(engine.catalog().trees());
    double kept = keptOfFloors();
    List<TreeMemory> trees =
        memory(tree -> true, tree -> (long) (kept * tree.priority().floorBytes()), mine);
    long total = trees.stream().mapToLong(TreeMemory::memoryBytes).sum();
    // One tree at least holds more than this.
    long minimum = Math.min(sliceBytes(), total / Math.max(1, trees.size()) / 2);
    return settings.policy().choose(trees, minimum, bytes);
  }

  /**
   * Which part of their floors trees keep: all, unless that is more than half of the write memory,
   * or than what those leave who wait for some. As much again must be there for whoever writes, or
   * memory could be full with nobody to flush.
   */
  private double keptOfFloors() {
    long floors = 0;
    for (TreeHandle tree : engine.catalog().trees()) {
      floors += tree.priority().floorBytes();
    }
    double most = engine.gate().mostKeptBytes();
    return Math.min(1, most / Math.max(1, floors));
  }

  /**
   * What a policy is to know of the trees that hold write memory.
   *
   * @param counts which trees
   * @param kept what is not to be taken from a tree, in bytes
   */
  private List<TreeMemory> memory(
      Predicate<TreeHandle> counts, ToLongFunction<TreeHandle> kept, @Nullable TreeHandle mine) {
    List<TreeMemory> trees = new ArrayList<>();
    for (TreeHandle tree : engine.catalog().trees()) {
      TreeState state = tree.states().current();
      long bytes = state.memoryBytes();
      if (bytes > 0 && !tree.closed() && counts.test(tree)) {
        window.holds(tree.id(), bytes);
        boolean busy = tree == mine ? l0Full(tree) : busy(tree);
        long flushable = Math.max(0, bytes - kept.applyAsLong(tree));
        long written = (long) (window.bytes(tree.id()) * tree.priority().weight());
        long minLsn = state.minMemoryLsn(engine.log().durable());
        trees.add(new TreeMemory(tree.id(), bytes, flushable, minLsn, written, busy));
      }
    }
    return trees;
  }

  /** Takes a chosen tree for a flush; null if it is gone, or somebody else was faster. */
  private @Nullable TreeHandle claim(FlushChoice choice) {
    TreeHandle tree = engine.catalog().tree(choice.treeId());
    if (tree == null || !tree.memoryBusy().compareAndSet(false, true)) {
      return null;
    }
    System.getLogger(Flusher.class.getName())
        .log(Level.DEBUG, () -> "flushing " + tree + ": " + choice.reason());
    return tree;
  }

  private static boolean busy(TreeHandle tree) {
    return tree.memoryBusy().get() || l0Full(tree);
  }

  private static boolean l0Full(TreeHandle tree) {
    return tree.states().current().version().l0Full();
  }

  /** The most bytes of write memory that a tree held within about a log's length. */
  public long recentMemoryBytes(TreeHandle tree) {
    return Math.max(tree.states().current().memoryBytes(), window.mostBytes(tree.id()));
  }

  /** The part of the write memory that a tree holds, 0 to 1. */
  double shareOfMemory(TreeState state) {
    return Math.min(1, (double) state.memoryBytes() / engine.gate().limitBytes());
  }

  /** Size of a slice: an SSTable. */
  long sliceBytes() {
    return tableBytes.getAsLong();
  }

  /**
   * What is committed together of several trees. Writers have about a slice's size between the
   * trigger and the limit: so some of that comes back before they have to wait.
   */
  long roundBytes() {
    return sliceBytes() / 2;
  }

  private void sealActive(TreeHandle tree) {
    ActiveTree active = tree.activeTree();
    if (active.bytesUsed() > 0) {
      Lock applying = engine.log().applying();
      applying.lock();
      try {
        tree.seal(active, engine.log()::end);
      } finally {
        applying.unlock();
      }
    }
  }

  /**
   * Slices are on disk, and out of memory.
   *
   * @param freed bytes of write memory that came free
   */
  void flushed(List<FlushSlice> slices, long freed) throws IOException {
    long now = engine.nanos();
    long begun = slices.stream().mapToLong(FlushSlice::startNanos).min().orElse(now);
    long total = slices.stream().mapToLong(FlushSlice::bytesWritten).sum();
    for (FlushSlice slice : slices) {
      TreeHandle tree = slice.tree();
      long written = slice.bytesWritten();
      // Its share: what each slice alone has freed is not known.
      long given = (long) ((double) freed * written / Math.max(1, total));
      // Others write meanwhile: it was as much as was written in any case.
      window.flushed(tree.id(), Math.max(given, written), slice.part().forMemory());
      tree.work().flushed(written, slice.part().forMemory());
      bytesWritten.add(written);
      flushes.increment();
      FlushKind kind = slice.part().kind();
      long nanos = now - slice.startNanos();
      engine
          .observers()
          .flushed(slice.span(), new StoreListener.Flush(tree.name(), kind, written, given, nanos));
    }
    cutLog();
    holdWriters();
    seeL0();
    if (engine.gate().pressed()) {
      letGo.run();
    }
    engine.gate().freed(freed, now - begun);
    slices.forEach(slice -> onFlushed.accept(slice.tree()));
  }

  private void cutLog() throws IOException {
    if (engine.log().isOpen()) {
      engine.log().get().truncateBefore(engine.catalog().logStart());
    }
  }

  /** A flush is done with these trees. */
  void left(List<TreeFlush> parts) {
    for (TreeFlush part : parts) {
      whole.remove(part.tree());
      part.tree().memoryBusy().set(false);
    }
  }

  /** A flush has ended. */
  void ended() {
    if (running.decrementAndGet() == 0 && engine.log().sizeBytes() > settings.logLimitBytes()) {
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
      engine.log().get().flush();
      engine.catalog().noteLogStart();
      cutLog();
    } catch (IOException | RuntimeException e) {
      failed(e);
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
