package io.isobardb.lsm.simulation;

/**
 * What goes wrong with one operation of a {@link SimulatedStorage}.
 *
 * @param kind what
 * @param nanos how long it takes on the simulated clock, before it succeeds or fails
 */
public record Fault(Kind kind, long nanos) {
  /** The kinds of faults. */
  public enum Kind {
    /** It works. */
    NONE,
    /**
     * An {@link java.io.IOException}. Nothing was done. After a failed sync what was to be synced
     * stays readable, but no later sync makes it durable unless it is written again.
     */
    EIO,
    /**
     * A {@code DiskFullException}, or {@link #EIO} for syncs and what needs no room. Nothing was
     * done.
     */
    ENOSPC,
    /** A write does a part of its bytes and then fails as by {@link #EIO}. */
    SHORT_THEN_EIO,
    /** A write does a part of its bytes and then fails as by {@link #ENOSPC}. */
    SHORT_THEN_ENOSPC,
    /** A read gives a part of its bytes, as if the file ended there. All else works. */
    SHORT_READ,
    /** It works, and the thread that called is interrupted meanwhile. */
    INTERRUPTED;

    /** Whether the call throws. */
    boolean fails() {
      return this != NONE && this != SHORT_READ && this != INTERRUPTED;
    }
  }

  public static final Fault NONE = new Fault(Kind.NONE, 0);
  public static final Fault EIO = new Fault(Kind.EIO, 0);
  public static final Fault ENOSPC = new Fault(Kind.ENOSPC, 0);
  public static final Fault SHORT_THEN_EIO = new Fault(Kind.SHORT_THEN_EIO, 0);
  public static final Fault SHORT_THEN_ENOSPC = new Fault(Kind.SHORT_THEN_ENOSPC, 0);
  public static final Fault SHORT_READ = new Fault(Kind.SHORT_READ, 0);
  public static final Fault INTERRUPTED = new Fault(Kind.INTERRUPTED, 0);

  /** It works, but takes {@code nanos}. */
  public static Fault slow(long nanos) {
    return new Fault(Kind.NONE, nanos);
  }
}
