package io.isobardb.lsm.commit;

import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.state.TreeHandle;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The time of a store, in milliseconds since the Unix epoch: what entries expire by. It follows the
 * machine's clock, and does not run backwards: while the machine's clock is a little behind what
 * was told before, in this run or an earlier one, it stands still.
 *
 * <p>A <em>leap</em> is what a clock that is merely adjusted does not do: the machine's clock falls
 * more than {@link #LEAP_MILLIS} behind the store's, or goes so much further than the monotonic
 * clock. The store's time follows leaps both ways, so that one wrong clock does no harm for good.
 * Leaps are counted, and logged as warnings. Merges do not drop anything by the time that a leap
 * ahead has added before {@link #HELD_NANOS} have passed: if the clock is set right by then, what
 * had expired only by the leap is there again.
 *
 * <p>Nobody looks at it before something in the store expires. After that it is written to once a
 * millisecond at most.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class StoreClock implements LongSupplier {
  /** More is a leap. */
  public static final long LEAP_MILLIS = 60_000;

  /** How long merges do not go by a leap ahead. */
  static final long HELD_NANOS = 3_600_000_000_000L;

  /** After so long the machine's clock is held against the monotonic one. */
  private static final long LOOK_MILLIS = 1000;

  private static final long NANOS = 1_000_000;

  private final Clock machine;
  private final AtomicLong last;
  private final AtomicLong leaps = new AtomicLong();
  private volatile boolean used;
  private volatile @Nullable String untold;

  /** What both of the machine's clocks told at the last look. Changed under the monitor. */
  private long seenMillis;

  private long seenNanos;

  /** What leaps ahead have added that merges do not go by yet, and when the last one was seen. */
  private long heldMillis;

  private long heldNanos;

  /** What was told before the last leap ahead, or merges went by since. */
  private long surelyMillis;

  /**
   * @param machine the machine's clocks
   * @param noted what was told last before the store was opened; 0 if that is not known
   */
  public StoreClock(Clock machine, long noted) {
    this.machine = machine;
    this.last = new AtomicLong(noted);
    this.seenMillis = wall();
    this.seenNanos = machine.nanos();
    if (noted > seenMillis + LEAP_MILLIS) {
      look();
      tellLeap();
    }
  }

  /**
   * The machine's time. One before the epoch counts as the epoch: no stored time lies before it.
   */
  private long wall() {
    return Math.max(0, machine.wallMillis());
  }

  /** The time now. */
  @Override
  public long getAsLong() {
    for (; ; ) {
      long now = wall();
      long told = last.get();
      if (now > told + LOOK_MILLIS || told > now + LEAP_MILLIS) {
        return look();
      }
      if (now <= told) {
        return told;
      }
      if (last.compareAndSet(told, now)) {
        return now;
      }
    }
  }

  /** Notices leaps; the time now. */
  private synchronized long look() {
    long now = wall();
    long nanos = machine.nanos();
    long told = last.get();
    long ahead = now - seenMillis - (nanos - seenNanos) / NANOS;
    seenMillis = now;
    seenNanos = nanos;
    if (told > now + LEAP_MILLIS) {
      heldMillis = Math.max(0, heldMillis - (told - now));
      surelyMillis = surelyMillis > now + LEAP_MILLIS ? now : Math.max(now, surelyMillis);
      last.set(surelyMillis);
      leapt(
          "was set back from "
              + Instant.ofEpochMilli(told)
              + " to "
              + Instant.ofEpochMilli(now)
              + ": what had expired in between is there again, unless merges have dropped it");
      return surelyMillis;
    }
    if (ahead > LEAP_MILLIS) {
      surelyMillis = Math.max(surelyMillis, told);
      heldMillis += ahead;
      heldNanos = nanos;
      leapt(
          "has leapt "
              + ahead / 1000
              + " s ahead, to "
              + Instant.ofEpochMilli(now)
              + ": entries expire by it; if it is wrong, set it right within an hour, before merges"
              + " drop them");
    }
    return last.accumulateAndGet(now, Math::max);
  }

  private void leapt(String how) {
    leaps.incrementAndGet();
    untold = how;
  }

  /**
   * Logs the last leap, if that was not done. No caller that asks for the time does so, since a log
   * may block.
   */
  public void tellLeap() {
    String how = untold;
    if (how != null) {
      untold = null;
      SystemLog.tell(
          Level.WARNING,
          StoreClock.class,
          () -> "the machine's clock, by which entries expire, " + how,
          null);
    }
  }

  /** What has expired by this time may be dropped, as far as it is for the clock to say. */
  synchronized long settledMillis() {
    long now = getAsLong();
    if (heldMillis > 0 && machine.nanos() - heldNanos >= HELD_NANOS) {
      heldMillis = 0;
    }
    surelyMillis = Math.max(surelyMillis, now - heldMillis);
    return now - heldMillis;
  }

  /**
   * When what is put now until an instant expires: then, unless the store's time stands still
   * beyond that instant, and the machine's clock has yet to come to it. It lives longer then.
   */
  public long expiry(long instant) {
    boolean stands = instant <= getAsLong() && instant > wall();
    return stands ? instant + LEAP_MILLIS : instant;
  }

  /** The last time that was told. */
  public long lastMillis() {
    return last.get();
  }

  /** Leaps of the machine's clock that were noticed, at opening or since. */
  public long leaps() {
    return leaps.get();
  }

  /** What is written to a tree from now on may expire. Called before it is visible. */
  public void noteExpiring(TreeHandle tree) {
    if (!tree.expires()) {
      use();
      tree.setExpires();
    }
  }

  /** Something in the store expires. Called before it can be read. */
  public void use() {
    if (!used) {
      used = true;
    }
  }

  /** Whether something in the store expires, or did. */
  public boolean isUsed() {
    return used;
  }
}
