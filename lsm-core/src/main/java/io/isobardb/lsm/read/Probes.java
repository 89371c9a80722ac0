package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.Probe;

/**
 * The probe of each thread.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Probes {
  private static final int SCRATCH_BYTES = 4096;

  private static final ThreadLocal<Probe> OWN =
      ThreadLocal.withInitial(() -> new Probe(SCRATCH_BYTES));

  private Probes() {}

  /** The thread's own, or a new one if that is in use; {@link Probe#give} ends its use. */
  public static Probe take() {
    Probe own = OWN.get();
    if (own.tryTake()) {
      return own;
    }
    // Code of a user reads within a read: an order, an operator, whoever looks at a value.
    Probe another = new Probe(0);
    another.tryTake();
    return another;
  }
}
