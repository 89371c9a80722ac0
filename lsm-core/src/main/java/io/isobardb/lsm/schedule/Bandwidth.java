package io.isobardb.lsm.schedule;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.schedule.BandwidthRules.Pressure;
import io.isobardb.lsm.schedule.DeviceSpeed.Window;
import io.isobardb.lsm.schedule.MeteredStorage.DeviceUse;
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
  private static final long SPAN_NANOS = 250_000_000;

  /** How long pieces took is forgotten after one to two of these in which others passed. */
  private static final long TURN_NANOS = 5_000_000_000L;

  /** A limit that was learnt is lifted so often, for a whole span, to see what the device does. */
  private static final long TRY_NANOS = 5_000_000_000L;

  /** What syncs have to write to tell what the device does. */
  private static final int ENOUGH_SYNCED = 1 << 20;

  /** Clients that have read so lately may read again at any moment. */
  private static final long LATELY_NANOS = 1_000_000_000;

  private final Scheduler scheduler;
  private final Clock clock;
  private final MeteredStorage storage;
  private final BandwidthRules rules;
  private final ProcessorMeter processors;
  private final HeldRateMeter held;
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
  private long usedNanos;
  private long logBytes;
  private long spanNanos;
  private DeviceUse spanUse = DeviceUse.NONE;
  private SyncTimes.Seen spanSyncs = SyncTimes.Seen.NOTHING;

  /** What syncs had done when something was learnt from them last. */
  private SyncTimes.Seen learntSyncs = SyncTimes.Seen.NOTHING;

  private boolean spanHeld;
  private long spareBytes = Long.MAX_VALUE;
  private DeviceSpeed speed = DeviceSpeed.UNKNOWN;
  private BandwidthRules.Device device = BandwidthRules.Device.UNKNOWN;

  /** When jobs were last not limited for a whole span. */
  private long triedNanos;

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
    this.usedNanos = readNanos;
    this.spanNanos = lookedNanos;
    this.held = new HeldRateMeter(storage, lookedNanos);
    this.turnedNanos = lookedNanos;
    this.triedNanos = lookedNanos;
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

  /**
   * What the device does in a second at least, if that is learnt, or what it is held to; 0 if
   * nothing is known.
   */
  public synchronized long learntBytes() {
    return device.known();
  }

  /**
   * What clients leave of the device in a second beyond what flushes and merges of L0 are to have;
   * below 0 if they leave less than that.
   */
  public synchronized long spareBytes() {
    return spareBytes;
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
    if (read > readBytes || log > logBytes) {
      usedNanos = now;
    }
    BandwidthRules.Clients clients =
        new BandwidthRules.Clients(
            (long) ((read - readBytes) * 1e9 / passed),
            (long) ((log - logBytes) * 1e9 / passed),
            now - readNanos < LATELY_NANOS,
            now - usedNanos < LATELY_NANOS);
    readBytes = read;
    logBytes = log;
    if (rules.learns()) {
      learn(now);
    }
    if (now - turnedNanos >= TURN_NANOS) {
      turnedNanos = now;
      storage.times().turn();
    }
    Pressure current = awaiting > 0 ? Pressure.ALL : pressure.get();
    processors.look(now, current);
    held.look(now, current, device.bytes());
    BandwidthRules.View view =
        new BandwidthRules.View(clients, device, storage.times().piece(), current);
    spareBytes = rules.spare(view);
    IoLimits before = limits;
    IoLimits next = rules.next(before, view);
    spanHeld |= next.limits();
    if (!next.isSame(before)) {
      limits = next;
      storage.limitPieces(next);
      if (!next.isAsMuch(before)) {
        scheduler.limit(next);
      }
      onChange.accept(next);
    }
  }

  private void learn(long now) {
    long passed = now - spanNanos;
    SyncTimes.Seen syncs = storage.syncs();
    long syncNanos = syncs.nanos() - spanSyncs.nanos();
    // What a sync writes is known when it ends, so the span does not end before.
    boolean waits = syncs.running() && syncNanos == 0 && passed < TURN_NANOS;
    if (passed < SPAN_NANOS || waits) {
      return;
    }
    DeviceUse use = storage.device();
    DeviceUse did = use.since(spanUse);
    Window window = new Window(passed, did.bytes(), did.nanos() + syncNanos, spanHeld);
    Window calls = new Window(passed, did.bytes(), did.nanos(), spanHeld);
    speed = speed.after(calls);
    long recent = calls.rate();
    if (syncNanos > 0) {
      recent += (long) ((syncs.bytes() - spanSyncs.bytes()) * 1e9 / syncNanos);
    }
    learnFromSyncs(syncs);
    if (!spanHeld) {
      triedNanos = now;
    }
    long quick = Math.max(speed.bytesPerSecond(), storage.times().bytesPerSecond());
    storage.expect(quick);
    device =
        new BandwidthRules.Device(
            quick, held.bytesPerSecond(), recent, window.isBusy(), now - triedNanos >= TRY_NANOS);
    spanNanos = now;
    spanUse = use;
    spanSyncs = syncs;
    spanHeld = limits.limits();
  }

  /** Few bytes tell what syncs take, not what the device does. */
  private void learnFromSyncs(SyncTimes.Seen syncs) {
    long bytes = syncs.bytes() - learntSyncs.bytes();
    long nanos = syncs.nanos() - learntSyncs.nanos();
    if (bytes >= ENOUGH_SYNCED && nanos > 0) {
      speed = speed.after(new Window(nanos, bytes, nanos, false));
      learntSyncs = syncs;
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    onFailure.accept(cause);
  }
}
