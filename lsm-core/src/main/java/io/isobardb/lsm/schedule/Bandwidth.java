package io.isobardb.lsm.schedule;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.schedule.BandwidthRules.Pressure;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what clients read and write while there are jobs, and at the processors that they use,
 * and limits jobs as {@link BandwidthRules} and {@link ProcessorRules} say. Sleeps while there are
 * none.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Bandwidth implements StoreWatch {
  private static final long LOOK_NANOS = 10_000_000;

  /** What the device does is counted over this: single looks are uneven. */
  private static final long SPAN_NANOS = 100_000_000;

  /** How long pieces took is forgotten after one to two of these in which others passed. */
  private static final long TURN_NANOS = 5_000_000_000L;

  /** Clients that have read so lately may read again at any moment. */
  private static final long LATELY_NANOS = 1_000_000_000;

  private final Scheduler scheduler;
  private final Clock clock;
  private final MeteredStorage storage;
  private final BandwidthRules rules;
  private final ProcessorMeter processors;
  private final LongSupplier logEnd;
  private final Supplier<Pressure> pressure;
  private final Consumer<IoLimits> onChange;
  private final Consumer<Throwable> onFailure;
  private volatile @Nullable Handle handle;
  private volatile IoLimits limits = IoLimits.NONE;

  // Guarded by this.
  private long lookedNanos;
  private long readBytes;
  private long readNanos;
  private long logBytes;
  private long spanNanos;
  private long spanBytes;
  private long spanRate;
  private long learntBytes;
  private long turnedNanos;
  private int awaiting;

  /**
   * What a store is to this.
   *
   * @param logEnd bytes of the log that clients have reserved
   * @param pressure whom background work keeps waiting soon
   * @param onChange is told of other limits
   * @param onFailure is told if it ends
   */
  public record Seams(
      LongSupplier logEnd,
      Supplier<Pressure> pressure,
      Consumer<IoLimits> onChange,
      Consumer<Throwable> onFailure) {}

  /** How jobs are limited. */
  public record Rules(BandwidthRules bandwidth, ProcessorRules processors) {}

  /**
   * Begins to look when it is started.
   *
   * @param environment whose scheduler is limited
   * @param storage knows what is read, and passes what jobs read and write in pieces
   */
  public Bandwidth(Environment environment, MeteredStorage storage, Rules rules, Seams seams) {
    this.scheduler = environment.scheduler();
    this.clock = environment.clock();
    this.storage = storage;
    this.rules = rules.bandwidth();
    this.logEnd = seams.logEnd();
    this.pressure = seams.pressure();
    this.onChange = seams.onChange();
    this.onFailure = seams.onFailure();
    this.lookedNanos = clock.nanos();
    this.processors = new ProcessorMeter(scheduler, rules.processors(), lookedNanos);
    this.readNanos = lookedNanos - LATELY_NANOS;
    this.spanNanos = lookedNanos;
    this.turnedNanos = lookedNanos;
  }

  @Override
  public void start() {
    handle = scheduler.start(this);
    onWritten();
  }

  @Override
  public void onFlushed() {
    onWritten();
  }

  @Override
  public void onWritten() {
    Handle started = handle;
    if (started != null) {
      started.wakeWithin(LOOK_NANOS);
    }
  }

  @Override
  public void onAwaited() {
    synchronized (this) {
      awaiting++;
    }
    look();
  }

  @Override
  public synchronized void onNoLongerAwaited() {
    awaiting--;
  }

  /** What jobs may read and write now, and why. */
  public IoLimits limits() {
    return limits;
  }

  @Override
  public String name() {
    return "bandwidth";
  }

  @Override
  public boolean ready() {
    return false;
  }

  @Override
  public void run() {
    look();
    if (scheduler.pending() > 0) {
      onWritten();
    }
  }

  private synchronized void look() {
    long now = clock.nanos();
    long passed = now - lookedNanos;
    if (passed <= 0) {
      return;
    }
    lookedNanos = now;
    long read = storage.bytesRead(IoPurpose.QUERY) + storage.bytesRead(IoPurpose.COPY);
    long log = logEnd.getAsLong();
    if (read > readBytes) {
      readNanos = now;
    }
    long clients = (long) ((read - readBytes + log - logBytes) * 1e9 / passed);
    readBytes = read;
    logBytes = log;
    learn(now);
    if (now - turnedNanos >= TURN_NANOS) {
      turnedNanos = now;
      storage.times().turn();
    }
    Pressure pressed = awaiting > 0 ? Pressure.ALL : pressure.get();
    processors.look(now, pressed);
    IoLimits before = limits;
    IoLimits next =
        rules.next(
            before,
            new BandwidthRules.View(
                clients,
                now - readNanos < LATELY_NANOS,
                Math.max(learntBytes, storage.times().bytesPerSecond()),
                spanRate,
                storage.times().piece(),
                pressed));
    if (!next.equals(before)) {
      limits = next;
      storage.limitPieces(next);
      if (next.urgentBytes() != before.urgentBytes() || next.allBytes() != before.allBytes()) {
        scheduler.limit(next);
      }
      onChange.accept(next);
    }
  }

  private void learn(long now) {
    long passed = now - spanNanos;
    if (passed >= SPAN_NANOS) {
      long all = storage.bytes();
      spanRate = (long) ((all - spanBytes) * 1e9 / passed);
      learntBytes = BandwidthRules.learnt(learntBytes, spanRate, passed, limits.pieceBytes());
      spanNanos = now;
      spanBytes = all;
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    onFailure.accept(cause);
  }
}
