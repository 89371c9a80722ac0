package io.isobardb.lsm.simulation;

import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.schedule.IoLimits;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.JobQueue;
import io.isobardb.lsm.schedule.ProcessorLimits;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.SharedIo;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.Stepping;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.lsm.simulation.VirtualTime.Actor;
import io.isobardb.lsm.simulation.VirtualTime.Pace;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs clients, jobs and services in virtual time, on a machine with so many processors and one
 * {@link VirtualDevice}. Jobs run in the order that threads would take them in, by the same {@link
 * JobQueue}. Equal runs have equal latencies, to the nanosecond.
 *
 * <p>Each client, worker and service is an actor of a {@link VirtualTime}. A step changes the store
 * as it begins, and its processor time and I/O pass afterwards: so no actor waits while it holds a
 * lock.
 *
 * <p>The other scheduler of this package draws the order of steps and knows no time; this one keeps
 * to the order of threads and knows nothing else.
 *
 * <p>Thread rule: the thread that makes it is an actor, too, and so are the clients that it starts;
 * no other may call.
 */
public final class VirtualScheduler implements Scheduler {
  /**
   * The machine.
   *
   * @param workers threads for jobs
   * @param processors how many actors can compute at once
   * @param stepNanos processor time of a job's step
   * @param stepBytes what a step carries
   * @param device reads and writes
   */
  public record Machine(
      int workers, int processors, long stepNanos, int stepBytes, VirtualDevice.Limits device) {}

  private final Machine machine;
  private final VirtualDevice device;
  private final VirtualTime time;
  private final JobQueue queue;
  private final List<JobTimes> history = new ArrayList<>();
  private final Deque<Actor> idleWorkers = new ArrayDeque<>();
  private final List<ServiceActor> services = new ArrayList<>();
  private final VirtualSignal workersEnd;
  private final VirtualSignal jobEnded;
  private long jobNanos;
  private int workersBusy;
  private boolean closed;
  private boolean jobsFree;
  private boolean jobsFair;
  private @Nullable Pace jobsPace;

  /** A machine without anything to do. The calling thread becomes its first actor. */
  public VirtualScheduler(SimulatedClock clock, Machine machine) {
    this(machine, new VirtualDevice(machine.device()), clock);
  }

  private VirtualScheduler(Machine machine, VirtualDevice device, SimulatedClock clock) {
    this(machine, device, new VirtualTime(clock, machine.processors(), device));
  }

  private VirtualScheduler(Machine machine, VirtualDevice device, VirtualTime time) {
    this.machine = machine;
    this.device = device;
    this.time = time;
    this.queue = new JobQueue(machine.workers());
    this.workersEnd = new VirtualSignal(time, "the end of the workers' jobs");
    this.jobEnded = new VirtualSignal(time, "the end of a job");
    for (int i = 1; i <= machine.workers(); i++) {
      time.start(new Actor("worker-" + i), this::work);
    }
  }

  /** One for another store on the same machine, with as many workers of its own. */
  public VirtualScheduler forAnotherStore() {
    return new VirtualScheduler(machine, device, time);
  }

  // The harness's side.

  /** A client that was started. */
  public final class Client {
    private final Actor actor;
    private final VirtualSignal ends;
    private boolean ended;

    private Client(Actor actor) {
      this.actor = actor;
      this.ends = new VirtualSignal(time, "the end of " + actor.name);
    }

    /** Waits for its end. */
    public void join() {
      ends.await(() -> ended);
    }
  }

  /** Starts a client. It runs when the caller waits next. */
  public Client client(String name, Runnable body) {
    Client client = new Client(new Actor(name));
    time.start(
        client.actor,
        () -> {
          body.run();
          settle();
          client.ended = true;
          client.ends.raise();
        });
    return client;
  }

  /** Lets what the calling actor owes pass, and then time until {@code nanos} of the clock. */
  public void sleepUntil(long nanos) {
    settle();
    if (nanos > time.nanos()) {
      time.at(nanos, time.resume(time.current()));
      time.park();
    }
  }

  /** The calling actor owes so much processor time. */
  public void compute(long nanos) {
    time.compute(nanos);
  }

  /** Lets what the calling actor owes pass. */
  public void settle() {
    time.settle();
  }

  /** From now on jobs take neither processor time nor the device: what is left is clients' own. */
  public void freeJobs() {
    jobsFree = true;
  }

  /**
   * Jobs that are submitted from now on run in that order, each to its end: none is more urgent
   * than another.
   */
  public void fairJobs() {
    jobsFair = true;
  }

  /** From now on the device is faster or slower. */
  public void changeDevice(VirtualDevice.Limits limits) {
    device.change(limits);
  }

  /** From now on the device is held to a rate, or to none. */
  public void holdDevice(VirtualDevice.@Nullable Held held) {
    device.hold(held);
  }

  /** From now on the device has credits, all that it can have, and is slow once they are spent. */
  public void lendToDevice(VirtualDevice.Credits credits) {
    device.lend(credits);
  }

  /** From now on what jobs read and write passes at this pace at most, in bytes per second. */
  public void limitJobs(long bytesPerSecond) {
    jobsPace = new Pace(bytesPerSecond);
  }

  /** The calling actor owes this I/O. Returns how long the device works for it. */
  long transfer(Kind kind, long bytes) {
    boolean job = steppedNow() != null;
    return job && jobsFree ? 0 : time.transfer(kind, bytes, job ? jobsPace : null);
  }

  /** What all jobs did so far, in the order in which they were submitted. */
  public List<JobTimes> history() {
    return List.copyOf(history);
  }

  /** How long the device has been busy, in nanoseconds. */
  public long deviceBusyNanos() {
    return device.busyNanos();
  }

  /** The priority of the job that the calling actor steps; null for clients and services. */
  Job.@Nullable Priority steppedNow() {
    return time.current().stepping;
  }

  // Jobs.

  /** Queues a job. If the scheduler is closed, the job fails at once. */
  @Override
  public void submit(Job job) {
    if (closed) {
      cancel(job);
      return;
    }
    Timed timed = new Timed(job, time.nanos());
    history.add(timed.times);
    time.tell(
        () -> {
          if (closed) {
            cancel(job);
            return;
          }
          queue.add(timed);
          wakeWorker();
        });
  }

  @Override
  public void hold(Job.Priority priority, boolean hold) {
    // At once: two actors that owe time might be heard in the wrong order.
    if (queue.hold(priority, hold) && !hold) {
      wakeWorkers();
    }
  }

  @Override
  public void limit(IoLimits limits) {
    queue.limit(limits, time.nanos());
    wakeWorkers();
  }

  @Override
  public void limit(ProcessorLimits limits) {
    queue.limit(limits, time.nanos());
    wakeWorkers();
  }

  @Override
  public void share(SharedIo.Share share) {
    queue.share(share);
  }

  @Override
  public ProcessorTimes processorTimes() {
    return new ProcessorTimes(machine.processors(), time.computedNanos(), jobNanos);
  }

  @Override
  public Interruptions interruptions() {
    return queue.interruptions();
  }

  private void wakeWorkers() {
    idleWorkers.forEach(idle -> time.at(time.nanos(), time.resume(idle)));
    idleWorkers.clear();
  }

  private void wakeWorker() {
    Actor idle = idleWorkers.poll();
    if (idle != null) {
      time.at(time.nanos(), time.resume(idle));
    }
  }

  private void work() {
    Actor me = time.current();
    while (!closed) {
      Job job = queue.next(time.nanos());
      Job tired = job == null ? queue.nextToRest() : null;
      if (tired != null) {
        workersBusy++;
        rest(me, tired);
        workersBusy--;
      } else if (job == null) {
        long wait = queue.waitNanos(time.nanos());
        if (wait < VirtualTime.NEVER) {
          time.at(time.nanos() + wait, time.resume(me));
        }
        idleWorkers.add(me);
        time.park();
        idleWorkers.remove(me);
      } else {
        workersBusy++;
        run(me, job);
        workersBusy--;
        // Its end may have made room for others that were queued.
        wakeWorkers();
      }
    }
    workersEnd.raise();
  }

  private void rest(Actor me, Job job) {
    me.stepping = ((Timed) job).job.priority();
    Throwable failure = null;
    try {
      Stepping.rest(job);
    } catch (Throwable e) {
      time.checkWhole();
      failure = e;
    }
    settle();
    me.stepping = null;
    if (failure == null && !closed) {
      queue.onRested(job);
      wakeWorkers();
      return;
    }
    queue.onEnded(job);
    if (failure == null) {
      cancel(job);
    } else {
      job.onFailed(failure);
    }
    jobEnded.raise();
  }

  private void run(Actor me, Job first) {
    Job job = first;
    boolean more = true;
    while (more) {
      me.stepping = ((Timed) job).job.priority();
      Stepping.Step step = new Stepping.Step(false, 0, 0);
      try {
        step = Stepping.step(job, me.stepping);
        more = step.more();
      } catch (Throwable e) {
        time.checkWhole();
        job.onFailed(e);
        more = false;
      }
      if (!jobsFree) {
        compute(machine.stepNanos());
        jobNanos += machine.stepNanos();
      }
      settle();
      me.stepping = null;
      if (!jobsFree) {
        queue.charge(job, step, machine.stepNanos(), time.nanos());
      }
      ((Timed) job).times.passed(time.nanos(), more);
      if (more && closed) {
        cancel(job);
        more = false;
      }
      if (more) {
        Job next = queue.nextAfter(job, time.nanos());
        if (next == null) {
          return;
        }
        if (next != job) {
          wakeWorker();
        }
        job = next;
      }
    }
    queue.onEnded(job);
    jobEnded.raise();
  }

  private static void cancel(Job job) {
    job.onFailed(new StoreClosedException("closed before it was done: " + job.name()));
  }

  /** A job whose times are kept. */
  private final class Timed implements Job {
    private final Job job;
    private final JobTimes times;
    private final boolean fair = jobsFair;

    Timed(Job job, long now) {
      this.job = job;
      this.times = new JobTimes(job, now);
    }

    /** One for all fair jobs: that of merges of L0, which may have each worker. */
    @Override
    public Priority priority() {
      return fair ? Priority.MERGE_L0 : job.priority();
    }

    @Override
    public String name() {
      return job.name();
    }

    @Override
    public boolean givesWay() {
      return job.givesWay();
    }

    @Override
    public boolean step() throws Exception {
      times.steps(time.nanos());
      return job.step();
    }

    @Override
    public void rest() throws Exception {
      job.rest();
    }

    @Override
    public void onFailed(Throwable cause) {
      job.onFailed(cause);
    }
  }

  @Override
  public int stepBytes() {
    return machine.stepBytes();
  }

  @Override
  public int pending() {
    return queue.size();
  }

  @Override
  public Signal jobEnded() {
    return jobEnded;
  }

  // Services.

  /**
   * {@inheritDoc}
   *
   * @throws StoreClosedException if the scheduler is closed
   */
  @Override
  public Service.Handle start(Service service) {
    if (closed) {
      throw new StoreClosedException("the scheduler is closed");
    }
    ServiceActor actor = new ServiceActor(service);
    services.add(actor);
    time.start(actor, actor::work);
    return actor;
  }

  private final class ServiceActor extends Actor implements Service.Handle {
    private final Service service;
    private final VirtualSignal end;
    private boolean asleep;
    private boolean stopped;
    private boolean ended;
    private long alarm = VirtualTime.NEVER;

    ServiceActor(Service service) {
      super(service.name());
      this.service = service;
      this.end = new VirtualSignal(time, "the end of service " + service.name());
    }

    void work() {
      try {
        while (!stopped) {
          if (service.ready() || time.nanos() >= alarm) {
            alarm = VirtualTime.NEVER;
            service.run();
            settle();
          } else {
            asleep = true;
            if (alarm != VirtualTime.NEVER) {
              time.at(alarm, time.resume(this));
            }
            time.park();
            asleep = false;
          }
        }
      } catch (Throwable e) {
        time.checkWhole();
        service.onFailed(e);
      }
      ended = true;
      end.raise();
    }

    @Override
    public void wake() {
      if (asleep) {
        time.tell(this::wakeNow);
      }
    }

    private void wakeNow() {
      if (asleep) {
        time.at(time.nanos(), time.resume(this));
      }
    }

    @Override
    public void wakeWithin(long nanos) {
      long wanted =
          nanos > VirtualTime.NEVER - time.nanos() ? VirtualTime.NEVER : time.nanos() + nanos;
      if (wanted < alarm) {
        alarm = wanted;
        if (asleep) {
          time.at(alarm, time.resume(this));
        }
      }
    }

    @Override
    public void stop() {
      stopped = true;
      wakeNow();
      if (time.current() != this) {
        end.await(() -> ended);
      }
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>A call by a job or a service waits for none of them.
   */
  @Override
  public void close() {
    closed = true;
    queue.clear().forEach(VirtualScheduler::cancel);
    jobEnded.raise();
    wakeWorkers();
    boolean own = time.current().stepping != null || time.current() instanceof ServiceActor;
    if (!own) {
      workersEnd.await(() -> workersBusy == 0);
    }
    for (ServiceActor service : List.copyOf(services)) {
      if (own) {
        service.stopped = true;
        service.wakeNow();
      } else {
        service.stop();
      }
    }
  }

  @Override
  public Signal signal(String name) {
    return new VirtualSignal(time, name);
  }
}
