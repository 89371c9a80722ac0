package io.isobardb.lsm.simulation;

import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.schedule.Errand;
import io.isobardb.lsm.schedule.IoLimits;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.ProcessorLimits;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.Stepping;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs jobs and services on the caller's thread, one step at a time, in an order drawn from a seed.
 * Equal seeds and equal callers give equal runs.
 *
 * <p>A thread that awaits a signal runs other steps meanwhile; these may await in their turn, so
 * waits are nested, and an outer one can't go on before the inner ones have ended. A job or service
 * in progress is never entered again. A waiter looks at its condition only when the signal was
 * raised, and a service runs only when it was woken or its alarm is due: what nobody raises or
 * wakes stays asleep here, as it would with threads.
 *
 * <p>Priorities do not count: every order that threads could bring about, and then some, may
 * happen. The clock moves by {@value #STEP_NANOS} ns per step, and to the next alarm or deadline
 * when nothing can run. If there is none of these either, the wait can never end, and {@link
 * IllegalStateException} says so.
 *
 * <p>Thread rule: only the thread that used it first.
 */
public final class SimulatedScheduler implements Scheduler {
  /** Few: the more steps, the more orders of events. */
  private static final int STEP_BYTES = 32 << 10;

  private static final long STEP_NANOS = 1_000;
  private static final long NEVER = Long.MAX_VALUE;
  private static final long HELP = 0x5EED0FE88A4D5L;

  /** Something that can be stepped. */
  private abstract static class Task {
    boolean inProgress;

    abstract String name();

    abstract boolean runnable();

    abstract void step();
  }

  /** A wait that has not ended. */
  private record Wait(String name, BooleanSupplier condition) {
    @Override
    public String toString() {
      return name + (condition.getAsBoolean() ? " (which holds)" : "");
    }
  }

  private final SimulatedClock clock;
  private final SplittableRandom random;
  private final List<Task> tasks = new ArrayList<>();
  private final List<Wait> waits = new ArrayList<>();
  private final Set<Job.Priority> held = EnumSet.noneOf(Job.Priority.class);
  private final SimulatedSignal jobEnded = new SimulatedSignal("the end of a job");
  private long stepLimit = NEVER;

  /** Draws when errands are done: apart from the order of steps, which seeds stand for. */
  private final SplittableRandom help;

  private @Nullable IllegalStateException stuck;
  private @Nullable Thread owner;
  private int eagerPercent;
  private boolean closed;
  private long steps;
  private long trace;

  /**
   * A scheduler without anything to do.
   *
   * @param clock what alarms and deadlines go by
   * @param seed decides the order of steps
   */
  public SimulatedScheduler(SimulatedClock clock, long seed) {
    this.clock = clock;
    this.random = new SplittableRandom(seed);
    this.help = new SplittableRandom(seed ^ HELP);
  }

  /**
   * From now on, a step is run inside {@link #submit}, {@link Service.Handle#wake} and {@link
   * Signal#raise} with this probability, and after it maybe another one. Only for code that calls
   * these without holding a lock: the steps run on the same thread and would walk through it.
   */
  public void eager(int percent) {
    if (percent < 0 || percent > 99) {
      throw new IllegalArgumentException("percent: " + percent);
    }
    eagerPercent = percent;
  }

  /** Makes waits fail that are still there after this many steps since the beginning. */
  public void setStepLimit(long limit) {
    stepLimit = limit;
  }

  /** Runs one step of something that can run. Returns whether there was anything. */
  public boolean runOne() {
    checkThread();
    List<Task> runnable = new ArrayList<>();
    for (Task task : tasks) {
      if (!task.inProgress && task.runnable()) {
        runnable.add(task);
      }
    }
    if (runnable.isEmpty()) {
      return false;
    }
    Task task = runnable.get(random.nextInt(runnable.size()));
    steps++;
    mix(task.name().hashCode());
    mix(clock.nanos());
    clock.advance(STEP_NANOS);
    task.inProgress = true;
    try {
      task.step();
    } finally {
      task.inProgress = false;
    }
    return true;
  }

  /** Runs steps until nothing can run at the present time. */
  public void runUntilIdle() {
    while (runOne()) {}
  }

  /** Runs steps for {@code nanos} of simulated time, waiting for alarms in between. */
  public void runFor(long nanos) {
    long end = clock.nanos() + nanos;
    while (clock.nanos() < end) {
      if (!runOne()) {
        clock.advanceTo(Math.min(end, nextAlarm()));
      }
    }
  }

  /** Steps run so far. */
  public long steps() {
    return steps;
  }

  /** A hash over all steps so far, their order and their times; equal for equal runs. */
  public long traceHash() {
    return trace;
  }

  private void mix(long value) {
    long z = (trace ^ value) * 0x9E3779B97F4A7C15L + 0xD1B54A32D192ED03L;
    trace = z ^ (z >>> 29);
  }

  private void checkThread() {
    Thread caller = Thread.currentThread();
    if (owner == null) {
      owner = caller;
    }
    if (owner != caller) {
      throw new IllegalStateException(
          "a simulated scheduler belongs to one thread, " + owner + ", not to " + caller);
    }
  }

  private void beEager() {
    while (eagerPercent > 0 && random.nextInt(100) < eagerPercent && runOne()) {}
  }

  /** Queues a job. If the scheduler is closed, the job fails at once. */
  @Override
  public void submit(Job job) {
    checkThread();
    if (closed) {
      job.onFailed(closedBefore(job));
      return;
    }
    tasks.add(new JobTask(job));
    beEager();
  }

  /**
   * {@inheritDoc}
   *
   * @throws StoreClosedException if the scheduler is closed
   */
  @Override
  public Service.Handle start(Service service) {
    checkThread();
    if (closed) {
      throw new StoreClosedException("the scheduler is closed");
    }
    ServiceTask task = new ServiceTask(service);
    tasks.add(task);
    return task;
  }

  /**
   * {@inheritDoc} It is done at once, or as a later step, if its owner has not come to it by then:
   * the seed says which.
   */
  @Override
  public boolean help(Errand errand) {
    checkThread();
    if (closed) {
      return false;
    }
    tasks.removeIf(task -> task instanceof HelpTask earlier && !earlier.runnable());
    if (help.nextBoolean()) {
      new HelpTask(errand).step();
    } else {
      tasks.add(new HelpTask(errand));
    }
    return true;
  }

  @Override
  public Signal signal(String name) {
    return new SimulatedSignal(name);
  }

  @Override
  public int stepBytes() {
    return STEP_BYTES;
  }

  @Override
  public void hold(Job.Priority priority, boolean hold) {
    checkThread();
    if (hold) {
      held.add(priority);
    } else {
      held.remove(priority);
    }
  }

  /** {@inheritDoc} Steps are drawn, whatever they cost: so nobody waits for this. */
  @Override
  public void limit(IoLimits limits) {
    checkThread();
  }

  @Override
  public void limit(ProcessorLimits limits) {
    checkThread();
  }

  /** {@inheritDoc} There are none here. */
  @Override
  public ProcessorTimes processorTimes() {
    return ProcessorTimes.UNKNOWN;
  }

  /** {@inheritDoc} There are no priorities here, and every step is a job's last for a while. */
  @Override
  public Interruptions interruptions() {
    return Interruptions.NONE;
  }

  @Override
  public int pending() {
    int jobs = 0;
    for (Task task : tasks) {
      jobs += task instanceof JobTask ? 1 : 0;
    }
    return jobs;
  }

  @Override
  public Signal jobEnded() {
    return jobEnded;
  }

  @Override
  public void close() {
    checkThread();
    closed = true;
    for (Task task : List.copyOf(tasks)) {
      if (task instanceof ServiceTask service) {
        service.stop();
      } else if (task instanceof JobTask job && !job.inProgress && tasks.contains(job)) {
        job.end(closedBefore(job.job));
      }
    }
  }

  private long later(long nanos) {
    long now = clock.nanos();
    return nanos > NEVER - now ? NEVER : now + nanos;
  }

  /** A wait that can't end is a defect for the harness to see, whatever step it is found in. */
  private void throwIfStuck() {
    if (stuck != null) {
      throw stuck;
    }
  }

  private IllegalStateException stuck(String message) {
    stuck = new IllegalStateException(message);
    return stuck;
  }

  private static StoreClosedException closedBefore(Job job) {
    return new StoreClosedException("closed before it was done: " + job.name());
  }

  /** When the next alarm of a service that can run is due. */
  private long nextAlarm() {
    long next = NEVER;
    for (Task task : tasks) {
      if (task instanceof ServiceTask service && !service.inProgress) {
        next = Math.min(next, service.alarm);
      }
    }
    return next;
  }

  private final class JobTask extends Task {
    private final Job job;

    /** Whether it has been stepped and has not rested since. */
    private boolean awake;

    JobTask(Job job) {
      this.job = job;
    }

    @Override
    String name() {
      return job.name();
    }

    @Override
    boolean runnable() {
      return awake || !held.contains(job.priority());
    }

    @Override
    void step() {
      boolean more = true;
      try {
        if (held.contains(job.priority())) {
          awake = false;
          Stepping.rest(job);
        } else {
          awake = true;
          more = Stepping.step(job).more();
        }
      } catch (Throwable e) {
        throwIfStuck();
        end(e);
        return;
      }
      if (!more) {
        end(null);
      } else if (closed) {
        end(closedBefore(job));
      }
    }

    private void end(@Nullable Throwable failure) {
      tasks.remove(this);
      if (failure != null) {
        job.onFailed(failure);
      }
      jobEnded.raised++;
    }
  }

  private final class ServiceTask extends Task implements Service.Handle {
    private final Service service;
    private boolean awake = true;
    private long alarm = NEVER;

    ServiceTask(Service service) {
      this.service = service;
    }

    @Override
    String name() {
      return service.name();
    }

    @Override
    boolean runnable() {
      if (clock.nanos() >= alarm) {
        return true;
      }
      awake = awake && service.ready();
      return awake;
    }

    @Override
    void step() {
      alarm = NEVER;
      awake = true;
      try {
        service.run();
      } catch (Throwable e) {
        throwIfStuck();
        tasks.remove(this);
        service.onFailed(e);
      }
    }

    @Override
    public void wake() {
      checkThread();
      awake = true;
      beEager();
    }

    @Override
    public void wakeWithin(long nanos) {
      checkThread();
      alarm = Math.min(alarm, later(nanos));
    }

    @Override
    public void stop() {
      checkThread();
      tasks.remove(this);
    }
  }

  /** An errand that a helper comes to later; its owner may be faster. */
  private static final class HelpTask extends Task {
    private final Errand errand;

    HelpTask(Errand errand) {
      this.errand = errand;
    }

    @Override
    String name() {
      return "help";
    }

    @Override
    boolean runnable() {
      return errand.isOpen();
    }

    @Override
    void step() {
      try {
        errand.run();
      } catch (RuntimeException e) {
        // As with threads: the owner finds out when it needs what was to be read.
      }
    }
  }

  private final class SimulatedSignal implements Signal {
    private final String name;
    private long raised;

    SimulatedSignal(String name) {
      this.name = name;
    }

    @Override
    public void await(BooleanSupplier condition) {
      awaitUntil(condition, NEVER);
    }

    @Override
    public boolean await(BooleanSupplier condition, long nanos) {
      return awaitUntil(condition, later(nanos));
    }

    private boolean awaitUntil(BooleanSupplier condition, long deadline) {
      checkThread();
      // Read before the look: the condition may do what raises this signal.
      long seen = raised;
      if (condition.getAsBoolean()) {
        return true;
      }
      waits.add(new Wait(name, condition));
      try {
        while (true) {
          if (steps > stepLimit) {
            throw stuck("livelock? " + steps + " steps, and still waiting for " + waits);
          }
          if (raised != seen) {
            seen = raised;
            if (condition.getAsBoolean()) {
              return true;
            }
          }
          if (clock.nanos() >= deadline) {
            return condition.getAsBoolean();
          }
          if (!runOne() && raised == seen) {
            advance(deadline, condition);
          }
        }
      } finally {
        waits.remove(waits.size() - 1);
      }
    }

    /** Nothing can run: time goes on to where something can, or this wait is over. */
    private void advance(long deadline, BooleanSupplier condition) {
      long next = Math.min(deadline, nextAlarm());
      if (next != NEVER) {
        clock.advanceTo(next);
      } else if (condition.getAsBoolean()) {
        throw stuck("lost wake-up: " + name + " holds, but nobody raised it");
      } else {
        StringJoiner chain = new StringJoiner(", in a wait for ", "deadlock: waiting for ", "");
        for (int i = waits.size() - 1; i >= 0; i--) {
          chain.add(waits.get(i).toString());
        }
        throw stuck(chain.toString());
      }
    }

    @Override
    public void raise() {
      checkThread();
      raised++;
      beEager();
    }

    @Override
    public String toString() {
      return "signal " + name;
    }
  }
}
