package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.FullL0;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.merge.MergeTiming.Choice;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.StoreWatch;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.L0Rules;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.workload.BurstHistory;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks from time to time how much is written, and lets disk merges begin and go on as {@link
 * MergeTiming} says. There is none in a store whose merges always run.
 *
 * <p>Looks as long as merges are postponed or under way, or somebody writes; then not before the
 * next merge is asked for.
 *
 * <p>Thread rule: all methods may be called by any thread. The monitor is taken before the
 * merger's.
 */
public final class MergePauses implements StoreWatch {
  /** What was seen so long ago is looked at again before a merge begins. */
  private static final long MOST_GLANCE_NANOS = 10_000_000;

  private final Engine engine;
  private final Merger merger;
  private final MergeTiming timing;
  private final L0Rules rules;
  private final Flushes flushes;
  private final LongSupplier spareBytes;
  private volatile @Nullable Handle handle;
  private volatile long glancedNanos;

  // Guarded by this.
  private long probedNanos;
  private long probedBytes;
  private long glancedBytes;
  private long bytesPerSecond;
  private long writtenNanos;
  private int awaiting;
  private BurstHistory history = BurstHistory.NONE;
  private Choice choice = new Choice(Set.of(Slot.values()), "the store was opened");

  /**
   * Begins to look when it is started.
   *
   * @param spareBytes what clients leave of the device in a second beyond the minimum of flushes
   *     and merges of L0
   */
  public MergePauses(
      Engine engine, Merger merger, MergeTiming timing, Flushes flushes, LongSupplier spareBytes) {
    this.engine = engine;
    this.merger = merger;
    this.timing = timing;
    this.rules = merger.settings().l0Rules();
    this.flushes = flushes;
    this.spareBytes = spareBytes;
    this.glancedNanos = engine.nanos();
    this.probedNanos = glancedNanos;
    this.writtenNanos = probedNanos - timing.schedule().duration().toNanos();
  }

  @Override
  public void start() {
    handle = engine.environment().scheduler().start(this);
    onWritten();
  }

  @Override
  public void onWritten() {
    Handle started = handle;
    if (started != null) {
      started.wakeWithin(timing.probeNanos());
    }
  }

  /** Ends every pause, and lets none begin until {@link #onNoLongerAwaited}. */
  @Override
  public void onAwaited() {
    synchronized (this) {
      awaiting++;
    }
    look();
  }

  /** Ends what one {@link #onAwaited} began. */
  @Override
  public void onNoLongerAwaited() {
    synchronized (this) {
      awaiting--;
    }
    onWritten();
  }

  /** A merge is asked for: looks whether it may begin, now or soon, once this is started. */
  @Override
  public void onMergeRequested() {
    Handle started = handle;
    if (started == null) {
      return;
    }
    // Not for each of many trees that are flushed together.
    long soon = Math.min(MOST_GLANCE_NANOS, timing.probeNanos());
    if (engine.nanos() - glancedNanos >= soon) {
      look();
      onWritten();
    } else {
      // The next probe may come in an hour, and no other request before this merge is done.
      started.wakeWithin(soon);
    }
  }

  @Override
  public String name() {
    return "merge-schedule";
  }

  @Override
  public boolean ready() {
    return false;
  }

  @Override
  public void run() {
    if (look()) {
      onWritten();
    }
  }

  /** Looks, and changes what may run. Returns whether to look again. */
  private boolean look() {
    boolean more;
    boolean pauseBegins;
    Choice before;
    Choice now;
    synchronized (this) {
      long nanos = engine.nanos();
      boolean paused = history.now().pause();
      boolean wrote = seeWrites(nanos);
      pauseBegins = !paused && history.now().pause();
      before = choice;
      now = timing.choose(view(nanos));
      choice = now;
      merger.allow(now.slots());
      Scheduler scheduler = engine.environment().scheduler();
      scheduler.hold(Job.Priority.MERGE_DEEP, !now.all());
      scheduler.hold(Job.Priority.IDLE, !now.all());
      more = wrote || !now.all() || merger.busy();
    }
    if (pauseBegins && timing.schedule().kind() == MergeSchedule.Kind.ADAPTIVE) {
      flushAhead((long) history.expectedBytes());
    }
    if (!now.slots().equals(before.slots())) {
      SystemLog.tell(
          Level.DEBUG,
          MergePauses.class,
          () -> "merges that may run: " + now.slots() + ", as " + now.reason(),
          null);
    }
    if (!before.slots().containsAll(now.slots())) {
      engine.catalog().trees().forEach(merger::request);
    }
    return more;
  }

  /**
   * Until a probe has passed, the rate is at least what has been written of it already. After a
   * sleep, in which nobody is thought to have written, all that is new counts as of one probe.
   */
  private boolean seeWrites(long nanos) {
    long bytes = 0;
    for (TreeHandle tree : engine.catalog().trees()) {
      bytes += tree.counts().bytesWritten();
    }
    // A tree that was dropped takes its bytes along.
    boolean wrote = bytes > glancedBytes;
    glancedBytes = bytes;
    glancedNanos = nanos;
    if (wrote) {
      writtenNanos = nanos;
    }
    long passed = nanos - probedNanos;
    boolean probed = passed >= timing.probeNanos();
    boolean slept = passed >= 2 * timing.probeNanos();
    long over = slept ? timing.probeNanos() : Math.max(passed, timing.probeNanos());
    long rate = (long) ((bytes - probedBytes) * 1e9 / over);
    bytesPerSecond = probed ? rate : Math.max(rate, bytesPerSecond);
    if (probed) {
      if (slept) {
        history = history.after(passed - over, 0);
      }
      history = history.after(slept ? over : passed, Math.max(0, bytes - probedBytes));
      probedBytes = bytes;
      probedNanos = nanos;
    }
    return wrote;
  }

  /**
   * Flushes what is in memory while nobody writes, so that the next burst finds room: if that is
   * thought to write as much as there is, and a quarter of it is in use.
   */
  private void flushAhead(long expectedBytes) {
    long limit = engine.gate().limitBytes();
    if (expectedBytes >= limit && engine.gate().usedBytes() >= limit / 4) {
      for (TreeHandle tree : engine.catalog().trees()) {
        if (tree.states().current().memoryBytes() > limit / 16) {
          flushes.flushAll(tree);
        }
      }
    }
  }

  private MergeTiming.View view(long nanos) {
    FullL0 fullest = FullL0.none(rules.least());
    for (TreeHandle tree : engine.catalog().trees()) {
      tree.load().look(nanos, tree.counts());
      Version version = tree.states().current().version();
      fullest = fullest.or(FullL0.of(tree.name(), version, tree.l0Limits(rules)));
    }
    return new MergeTiming.View(
        bytesPerSecond,
        nanos - writtenNanos,
        fullest,
        merger.debtBytes(),
        freeBytes(),
        awaiting > 0,
        history.isBurst(),
        spareBytes.getAsLong());
  }

  private long freeBytes() {
    try {
      return engine.environment().storage().usableBytes();
    } catch (IOException e) {
      // Nobody knows: merges go on, as if there were little.
      return 0;
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    engine.failure().fail(cause);
  }
}
