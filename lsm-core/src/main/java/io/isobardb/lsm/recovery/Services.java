package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.merge.IdleWatch;
import io.isobardb.lsm.merge.MergePauses;
import io.isobardb.lsm.merge.MergeTiming;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.schedule.Bandwidth;
import io.isobardb.lsm.schedule.IoLimits;
import io.isobardb.lsm.schedule.MeteredStorage;
import io.isobardb.lsm.schedule.StoreWatch;
import io.isobardb.lsm.tuning.Decisions;
import io.isobardb.lsm.tuning.ShapeService;
import io.isobardb.lsm.tuning.TunerFile;
import io.isobardb.lsm.tuning.TunerService;
import io.isobardb.lsm.tuning.Tuning;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What looks at an open store from time to time: {@link IdleWatch}, and what the options ask for. A
 * read-only store has no other than that.
 *
 * <p>Thread rule: events may come from any thread; started and stopped by the one that opens and
 * closes the store.
 */
public final class Services {
  private final List<StoreWatch> all;
  private final IdleWatch idle;
  private final @Nullable Bandwidth bandwidth;
  private final @Nullable TunerService tuner;
  private final @Nullable ShapeService shapes;

  /**
   * Makes them.
   *
   * @param parts has what they look at; its committer and readers are made later
   * @param tuning what the tuner goes by
   * @param tuned whether there is to be one
   */
  Services(StoreParts parts, PartOptions options, Tuning tuning, boolean tuned) {
    Engine engine = parts.engine();
    boolean readOnly = engine.environment().storage().discardsChanges();
    this.idle =
        new IdleWatch(
            engine,
            parts.merger(),
            parts.memoryMerger(),
            parts.flusher(),
            options.indexLookups(),
            parts.wall()::giveBack);
    this.bandwidth = readOnly ? null : bandwidth(engine, parts.storage(), options);
    Decisions decisions = new Decisions(new TunerFile(parts.storage(), parts.pool()));
    TunerService.Work work =
        new TunerService.Work(parts.cache(), parts.flusher(), parts.merger(), decisions);
    this.tuner = tuned ? new TunerService(engine, parts.pool(), work, parts.wall(), tuning) : null;
    boolean shaped = tuning.shaping().adaptation() != Adaptation.OFF && !readOnly;
    this.shapes = shaped ? new ShapeService(engine, parts.merger(), decisions, tuning) : null;
    List<StoreWatch> made = new ArrayList<>(List.of(idle));
    MergeTiming timing = options.timing();
    if (timing.decides() && !readOnly) {
      LongSupplier spare = bandwidth == null ? () -> 0 : bandwidth::spareBytes;
      made.add(new MergePauses(engine, parts.merger(), timing, parts.flusher(), spare));
    }
    addTo(made, bandwidth);
    addTo(made, tuner);
    addTo(made, shapes);
    this.all = List.copyOf(made);
  }

  private static void addTo(List<StoreWatch> made, @Nullable StoreWatch watch) {
    if (watch != null) {
      made.add(watch);
    }
  }

  private static Bandwidth bandwidth(Engine engine, MeteredStorage storage, PartOptions options) {
    Bandwidth.Seams seams =
        new Bandwidth.Seams(
            () -> engine.log().isOpen() ? engine.log().end() : 0,
            engine.gate()::pressure,
            limits ->
                engine
                    .observers()
                    .onLimited(
                        limits.urgentBytes(),
                        limits.allBytes(),
                        limits.pieceBytes(),
                        limits.reason()),
            engine.failure()::fail);
    return new Bandwidth(engine.environment(), storage, options.limits(), seams);
  }

  void start() {
    all.forEach(StoreWatch::start);
  }

  /** Some more was written. */
  void onWritten() {
    all.forEach(StoreWatch::onWritten);
  }

  /** Memory is still to be given back. */
  void onUnfinished() {
    idle.onWritten();
  }

  void onFlushed() {
    all.forEach(StoreWatch::onFlushed);
  }

  void onMergeRequested() {
    all.forEach(StoreWatch::onMergeRequested);
  }

  void onCacheMiss() {
    all.forEach(StoreWatch::onCacheMiss);
  }

  /**
   * Waits, with every pause of merges ended meanwhile, and no job limited.
   *
   * @param wait waits for merges, or for what they bring about
   */
  public void awaitMerges(Runnable wait) {
    await(all, wait);
  }

  /**
   * As {@link #awaitMerges}, but jobs leave the device to clients as ever: who asked for the merges
   * has time.
   */
  public void awaitMergesBesideClients(Runnable wait) {
    await(all.stream().filter(watch -> watch != bandwidth).toList(), wait);
  }

  private static void await(List<StoreWatch> told, Runnable wait) {
    told.forEach(StoreWatch::onAwaited);
    try {
      wait.run();
    } finally {
      told.forEach(StoreWatch::onNoLongerAwaited);
    }
  }

  /** What flushes and merges may read and write now, and why. */
  public IoLimits ioLimits() {
    return bandwidth == null ? IoLimits.NONE : bandwidth.limits();
  }

  /** What was learnt of the device, in bytes per second; 0 if nothing was. */
  public long learntBytes() {
    return bandwidth == null ? 0 : bandwidth.learntBytes();
  }

  /** The memory tuner, null if it is off. */
  public @Nullable TunerService tuner() {
    return tuner;
  }

  /** Adds what ends all decisions about memory and shape: they would wait for jobs. */
  public void addStops(ClosingSteps steps) {
    if (tuner != null) {
      steps.add(tuner::stop);
    }
    if (shapes != null) {
      steps.add(shapes::stop);
    }
  }

  /** Ends what goes on until no job is left. */
  void stop() {
    idle.stop();
  }

  /** Gives back what they have of the memory. They are not told of anything any more. */
  void release() {
    if (tuner != null) {
      tuner.release();
    }
  }
}
