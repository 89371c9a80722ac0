package io.isobardb.lsm.schedule;

import io.isobardb.lsm.IoBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A budget and the stores that share it. Jobs pay after a step, with time, as {@link IoDebts} says;
 * here flushes pay, too, and nothing is forgiven. So what all stores read and write stays within
 * the budget, save the steps that are under way.
 *
 * <p>{@link IoShareRules} divides the budget anew ten times a second, and when a store has
 * something to do again.
 *
 * <p>Thread rule: all methods may be called by any thread; one monitor, held for a few
 * instructions. All stores tell the time by one clock.
 */
public final class SharedIo implements IoBudget {
  private static final long LOOK_NANOS = 100_000_000;

  /** A store whose jobs have asked for nothing for so long has nothing to do. */
  private static final long IDLE_NANOS = 250_000_000;

  private final long bytesPerSecond;

  // Guarded by this.
  private final List<Share> shares = new ArrayList<>();
  private long lookedNanos;
  private boolean hasLooked;
  private double clientRate;

  /** Whether a store has come or gone since it was divided. */
  private boolean stale;

  /** A budget of so many bytes per second that nobody shares yet. */
  public SharedIo(long bytesPerSecond) {
    if (bytesPerSecond < LEAST_BYTES) {
      throw new IllegalArgumentException(
          "an IoBudget must be 1MB per second or more, not " + bytesPerSecond + " bytes");
    }
    this.bytesPerSecond = bytesPerSecond;
  }

  @Override
  public long bytesPerSecond() {
    return bytesPerSecond;
  }

  @Override
  public synchronized int stores() {
    return shares.size();
  }

  /**
   * A store takes part from now on.
   *
   * @param debtBytes what waits for its merges; must return at once, as the other one
   * @param clientBytes what its clients have read and written so far
   */
  public synchronized Share join(LongSupplier debtBytes, LongSupplier clientBytes) {
    Share share = new Share(debtBytes, clientBytes);
    shares.add(share);
    return share;
  }

  /** Sees what was used since it was looked at last. */
  private void look(long nanos) {
    double seconds = (nanos - lookedNanos) / 1e9;
    clientRate = 0;
    for (Share share : shares) {
      clientRate += share.look(seconds);
    }
    lookedNanos = nanos;
  }

  private void divide(long nanos) {
    List<Share> busy = new ArrayList<>();
    List<IoShareRules.Claim> claims = new ArrayList<>();
    for (Share share : shares) {
      share.pay(nanos);
      share.rate = 0;
      if (share.isBusy(nanos)) {
        busy.add(share);
        claims.add(share.claim());
      }
    }
    double[] rates = IoShareRules.rates(IoShareRules.forJobs(bytesPerSecond, clientRate), claims);
    for (int i = 0; i < rates.length; i++) {
      busy.get(i).rate = rates[i];
    }
    stale = false;
  }

  /** What one store has of it. */
  public final class Share implements AutoCloseable {
    private final LongSupplier debtBytes;
    private final LongSupplier clientBytes;

    // Guarded by the budget's monitor.
    private double rate;
    private double flushOwed;
    private double urgentOwed;
    private double owed;
    private long paidNanos = Long.MIN_VALUE;
    private long askedNanos;
    private boolean hasAsked;
    private long usedBytes;
    private double usedRate;
    private long clientsBefore;

    /** Whether a job had to wait since it was looked at, and before that. */
    private boolean heldBack;

    private boolean wasHeldBack = true;

    private Share(LongSupplier debtBytes, LongSupplier clientBytes) {
      this.debtBytes = debtBytes;
      this.clientBytes = clientBytes;
      this.clientsBefore = clientBytes.getAsLong();
    }

    /** A job's step has read and written so many bytes. */
    void charge(Job.Priority priority, long bytes, long nanos) {
      synchronized (SharedIo.this) {
        touch(nanos);
        pay(nanos);
        usedBytes += bytes;
        owed += bytes;
        urgentOwed += priority.isUrgent() ? bytes : 0;
        flushOwed += priority == Job.Priority.FLUSH ? bytes : 0;
      }
    }

    /** How long jobs of a priority have to wait, at least: shares may change. */
    long waitNanos(Job.Priority priority, long nanos) {
      synchronized (SharedIo.this) {
        touch(nanos);
        pay(nanos);
        double due =
            switch (priority) {
              case FLUSH -> flushOwed;
              case GATHER, MERGE_L0 -> urgentOwed;
              case MERGE_MEMORY -> 0;
              case MERGE_DEEP, IDLE -> owed;
            };
        if (due <= 0) {
          return 0;
        }
        heldBack = true;
        return (long) Math.ceil(Math.min(LOOK_NANOS, due / rate * 1e9));
      }
    }

    private void touch(long nanos) {
      boolean wasIdle = !isBusy(nanos);
      hasAsked = true;
      askedNanos = nanos;
      heldBack |= wasIdle;
      if (!hasLooked) {
        hasLooked = true;
        lookedNanos = nanos;
      }
      boolean due = nanos - lookedNanos >= LOOK_NANOS;
      if (due) {
        SharedIo.this.look(nanos);
      }
      if (due || wasIdle || stale) {
        divide(nanos);
      }
    }

    /** Whether it has something to do, or something to pay. */
    private boolean isBusy(long nanos) {
      return owed > 0 || hasAsked && nanos - askedNanos < IDLE_NANOS;
    }

    private void pay(long nanos) {
      // Before the first time there is no rate.
      double paid = Math.max(0, nanos - paidNanos) / 1e9 * rate;
      flushOwed = Math.max(0, flushOwed - paid);
      urgentOwed = Math.max(0, urgentOwed - paid);
      owed = Math.max(0, owed - paid);
      paidNanos = Math.max(paidNanos, nanos);
    }

    /** Sees what was used; gives what clients did, in bytes per second. */
    private double look(double seconds) {
      usedRate = usedBytes / seconds;
      usedBytes = 0;
      wasHeldBack = heldBack;
      heldBack = false;
      long clients = clientBytes.getAsLong();
      double clientRate = Math.max(0, clients - clientsBefore) / seconds;
      clientsBefore = clients;
      return clientRate;
    }

    private IoShareRules.Claim claim() {
      long debt = Math.max(0, debtBytes.getAsLong());
      return new IoShareRules.Claim(debt, usedRate, wasHeldBack || heldBack || owed > 0);
    }

    /** Gives it back to the others. */
    @Override
    public void close() {
      synchronized (SharedIo.this) {
        stale |= shares.remove(this);
      }
    }
  }
}
