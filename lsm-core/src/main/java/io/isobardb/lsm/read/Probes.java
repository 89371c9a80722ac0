package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.schedule.PerThread;

/**
 * Each thread's own {@link Probe}, to be used again for its next read.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Probes {
  private final PerThread<Probe> probes;

  /**
   * @param scratchBytes the size of their scratch buffers
   */
  Probes(int scratchBytes) {
    this.probes = new PerThread<>(() -> new Probe(scratchBytes));
  }

  /** The thread's own, or a new one if that is in use; {@link Probe#give} ends its use. */
  public Probe take() {
    Probe own = probes.get();
    if (own.tryTake()) {
      return own;
    }
    // Code of a user reads within a read: an order, an operator, a user that looks at a value.
    Probe another = new Probe(0);
    another.tryTake();
    return another;
  }
}
