package io.isobardb.lsm;

import io.isobardb.lsm.schedule.IoLimits;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A scheduler that looks, whenever a writer is going to wait, whether anything is under way. */
final class StallWatch implements Scheduler {
  private static final String MEMORY = "write memory";

  private final Scheduler scheduler;
  private final List<String> alone = new ArrayList<>();
  private int waits;

  StallWatch(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Looks of writers that went on waiting. */
  int waits() {
    return waits;
  }

  /** Those of them while no job was queued or running. */
  List<String> alone() {
    return alone;
  }

  private boolean look(BooleanSupplier condition) {
    if (condition.getAsBoolean()) {
      return true;
    }
    waits++;
    if (scheduler.pending() == 0) {
      alone.add("look " + waits);
    }
    return false;
  }

  @Override
  public void submit(Job job) {
    scheduler.submit(job);
  }

  @Override
  public Service.Handle start(Service service) {
    return scheduler.start(service);
  }

  @Override
  public Signal signal(String name) {
    Signal signal = scheduler.signal(name);
    if (!name.equals(MEMORY)) {
      return signal;
    }
    return new Signal() {
      @Override
      public void await(BooleanSupplier condition) {
        signal.await(() -> look(condition));
      }

      @Override
      public boolean await(BooleanSupplier condition, long nanos) {
        return signal.await(() -> look(condition), nanos);
      }

      @Override
      public void raise() {
        signal.raise();
      }
    };
  }

  @Override
  public void hold(Job.Priority priority, boolean hold) {
    scheduler.hold(priority, hold);
  }

  @Override
  public void limit(IoLimits limits) {
    scheduler.limit(limits);
  }

  @Override
  public Interruptions interruptions() {
    return scheduler.interruptions();
  }

  @Override
  public int stepBytes() {
    return scheduler.stepBytes();
  }

  @Override
  public int pending() {
    return scheduler.pending();
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
