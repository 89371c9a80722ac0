package io.isobardb.lsm.schedule;

import java.util.function.BooleanSupplier;

/**
 * A signal whose waits are held against the order of {@link Awaited}.
 *
 * @param what is waited for
 * @param signal waits
 */
record OrderedSignal(Awaited what, Signal signal) implements Signal {
  @Override
  public void await(BooleanSupplier condition) {
    what.check();
    signal.await(condition);
  }

  @Override
  public boolean await(BooleanSupplier condition, long nanos) {
    what.check();
    return signal.await(condition, nanos);
  }

  @Override
  public boolean awaitUnlessInterrupted(BooleanSupplier condition, long nanos) {
    what.check();
    return signal.awaitUnlessInterrupted(condition, nanos);
  }

  @Override
  public void raise() {
    signal.raise();
  }

  @Override
  public String toString() {
    return signal.toString();
  }
}
