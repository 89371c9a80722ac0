package io.isobardb.lsm.simulation;

import io.isobardb.lsm.schedule.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A signal in virtual time: a raise reaches others when what the raiser owes has passed. */
final class VirtualSignal implements Signal {
  private final VirtualTime time;
  private final String name;
  private final List<Runnable> waiting = new ArrayList<>();
  private long raised;
  private int waiters;

  VirtualSignal(VirtualTime time, String name) {
    this.time = time;
    this.name = name;
  }

  @Override
  public void await(BooleanSupplier condition) {
    awaitUntil(condition, VirtualTime.NEVER);
  }

  @Override
  public boolean await(BooleanSupplier condition, long nanos) {
    return awaitUntil(
        condition,
        nanos > VirtualTime.NEVER - time.nanos() ? VirtualTime.NEVER : time.nanos() + nanos);
  }

  private boolean awaitUntil(BooleanSupplier condition, long deadline) {
    time.waits().add(this);
    waiters++;
    try {
      while (true) {
        long seen = raised;
        if (condition.getAsBoolean()) {
          return true;
        }
        time.settle();
        if (raised != seen) {
          continue;
        }
        if (time.nanos() >= deadline) {
          return false;
        }
        Runnable resume = time.resume(time.current());
        waiting.add(resume);
        if (deadline != VirtualTime.NEVER) {
          time.at(deadline, resume);
        }
        time.park();
        waiting.remove(resume);
      }
    } finally {
      waiters--;
      time.waits().remove(this);
    }
  }

  @Override
  public void raise() {
    if (waiters > 0) {
      time.tell(this::raiseNow);
    }
  }

  private void raiseNow() {
    raised++;
    waiting.forEach(resume -> time.at(time.nanos(), resume));
    waiting.clear();
  }

  @Override
  public String toString() {
    return "signal " + name;
  }
}
