package io.isobardb.lsm.simulation;

import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.JobQueue;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs clients, jobs and services in virtual time, on a machine with so many processors and one
 * {@link VirtualDevice}. Jobs run in the order that threads would take them in, by the same {@link
 * JobQueue}. Equal runs have equal latencies, to the nanosecond, on any machine.
 *
 * <p>Each client, worker and service is an <em>actor</em> with a thread of its own, but only one of
 * them runs at a time: it runs until it waits, and hands over to the next in virtual time. What it
 * did costs time only then: a step changes the store as it begins, and the processor time and the
 * I/O that it <em>owes</em> pass afterwards, piece by piece. What it told others meanwhile (a
 * signal, a new job) reaches them when all that it owed before has passed. So no actor waits while
 * it holds a lock.
 *
 * <p>The other scheduler of this package draws the order of steps and knows no time; this one keeps
 * to the order of threads and knows nothing else.
 *
 * <p>Thread rule: the thread that makes it is an actor, too, and so are the clients that it starts;
 * no other may call.
 */
public final class VirtualScheduler implements Scheduler {
  /** A processor is given to the next one after this. */
  private static final long SLICE_NANOS = 100_000;

  /** No actor computes for so long in real time, if all is well. */
  private static final long STUCK_SECONDS = 120;

  private static final long NEVER = Long.MAX_VALUE;

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

  /** What a job did when. Times in nanoseconds of the clock, -1 for what has not happened. */
  public static final class JobTimes {
    private final String name;
    private final Job.Priority priority;
    private final long submitted;
    private long begun = -1;
    private long ended = -1;
    private long longestPause;
    private long lastStep = -1;

    JobTimes(Job job, long now) {
      this.name = job.name();
      this.priority = job.priority();
      this.submitted = now;
    }

    public String name() {
      return name;
    }

    public Job.Priority priority() {
      return priority;
    }

    public long submitted() {
      return submitted;
    }

    /** When its first step began. */
    public long begun() {
      return begun;
    }

    /** When its last step had passed. */
    public long ended() {
      return ended;
    }

    /** The longest time between two of its steps. */
    public long longestPause() {
      return longestPause;
    }

    @Override
    public String toString() {
      return String.format(
          "%s %s: submitted %d us, begun %d, ended %d, longest pause %d",
          priority, name, submitted / 1000, begun / 1000, ended / 1000, longestPause / 1000);
    }
  }

  private record Event(long nanos, long number, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return nanos != other.nanos
          ? Long.compare(nanos, other.nanos)
          : Long.compare(number, other.number);
    }
  }

  /** Something owed: processor time, I/O, or a message that leaves when the rest has passed. */
  private record Debt(@Nullable Kind kind, long amount, @Nullable Runnable message) {}

  private final SimulatedClock clock;
  private final Machine machine;
  private final VirtualDevice device;
  private final long[] processorsFree;
  private final JobQueue queue;
  private final List<JobTimes> history = new ArrayList<>();
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final List<Actor> actors = new ArrayList<>();
  private final Deque<Actor> idleWorkers = new ArrayDeque<>();
  private final List<ServiceActor> services = new ArrayList<>();
  private final List<Signal> waits = new ArrayList<>();
  private final VirtualSignal workersEnd = new VirtualSignal("the end of the workers' jobs");
  private int workersBusy;
  private Actor current;
  private @Nullable Actor resumed;
  private long eventNumber;
  private volatile long eventsDone;
  private boolean closed;
  private volatile @Nullable Throwable broken;

  /** A machine without anything to do. The calling thread becomes its first actor. */
  public VirtualScheduler(SimulatedClock clock, Machine machine) {
    this.clock = clock;
    this.machine = machine;
    this.device = new VirtualDevice(machine.device());
    this.processorsFree = new long[machine.processors()];
    this.queue = new JobQueue(machine.workers());
    this.current = new Actor("main");
    actors.add(current);
    for (int i = 1; i <= machine.workers(); i++) {
      start(new Actor("worker-" + i), this::work);
    }
  }

  // The harness's side.

  /** A client that was started. */
  public final class Client {
    private final Actor actor;
    private final VirtualSignal ends;
    private boolean ended;

    private Client(Actor actor) {
      this.actor = actor;
      this.ends = new VirtualSignal("the end of " + actor.name);
    }

    /** Waits for its end. */
    public void join() {
      ends.await(() -> ended);
    }
  }

  /** Starts a client. It runs when the caller waits next. */
  public Client client(String name, Runnable body) {
    Client client = new Client(new Actor(name));
    start(
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
    if (nanos > clock.nanos()) {
      at(nanos, resume(current));
      park();
    }
  }

  /** The calling actor owes so much processor time. */
  public void compute(long nanos) {
    current.owed.add(new Debt(null, nanos, null));
  }

  /** Lets what the calling actor owes pass. */
  public void settle() {
    Actor me = current;
    if (!me.owed.isEmpty()) {
      Runnable resume = resume(me);
      pay(me, () -> at(clock.nanos(), resume));
      park();
    }
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
    return current.stepping;
  }

  /** The calling actor owes this I/O. */
  void transfer(Kind kind, long bytes) {
    long left = bytes;
    do {
      long piece = Math.min(left, VirtualDevice.PIECE_BYTES);
      current.owed.add(new Debt(kind, piece, null));
      left -= piece;
    } while (left > 0);
  }

  // Time.

  private void at(long nanos, Runnable action) {
    events.add(new Event(nanos, eventNumber++, action));
  }

  /** Lets what an actor owes pass, piece by piece, and then runs {@code then}. */
  private void pay(Actor actor, Runnable then) {
    Debt debt = actor.owed.poll();
    if (debt == null) {
      then.run();
      return;
    }
    Runnable message = debt.message();
    Kind kind = debt.kind();
    if (message != null) {
      message.run();
      pay(actor, then);
    } else if (kind != null) {
      at(device.serve(clock.nanos(), kind, debt.amount()), () -> pay(actor, then));
    } else {
      long part = Math.min(debt.amount(), SLICE_NANOS);
      if (debt.amount() > part) {
        actor.owed.addFirst(new Debt(null, debt.amount() - part, null));
      }
      at(processor(part), () -> pay(actor, then));
    }
  }

  /** When so much processor time that is asked for now has passed. */
  private long processor(long nanos) {
    int first = 0;
    for (int i = 1; i < processorsFree.length; i++) {
      first = processorsFree[i] < processorsFree[first] ? i : first;
    }
    processorsFree[first] = Math.max(clock.nanos(), processorsFree[first]) + nanos;
    return processorsFree[first];
  }

  /** Runs now, or when what the calling actor owes has passed. */
  private void tell(Runnable message) {
    if (current.owed.isEmpty()) {
      message.run();
    } else {
      current.owed.add(new Debt(null, 0, message));
    }
  }

  // Actors.

  private static class Actor {
    final String name;
    final Deque<Debt> owed = new ArrayDeque<>();
    final Semaphore turn = new Semaphore(0);
    Job.@Nullable Priority stepping;

    /** Counts its waits: what was to end an earlier one does nothing. */
    long waits;

    Actor(String name) {
      this.name = name;
    }
  }

  private void start(Actor actor, Runnable body) {
    actors.add(actor);
    Thread thread =
        new Thread(
            () -> {
              try {
                awaitTurn(actor);
                body.run();
                handOver(actor);
              } catch (Throwable e) {
                breakOff(e);
              }
            },
            "virtual-" + actor.name);
    thread.setDaemon(true);
    thread.start();
    at(clock.nanos(), resume(actor));
  }

  /** What makes an actor go on that waits next, or now. */
  private Runnable resume(Actor actor) {
    long wait = actor.waits;
    return () -> resumed = actor.waits == wait ? actor : null;
  }

  /** The calling actor waits until what {@link #resume} gave has run. */
  private void park() {
    Actor me = current;
    if (handOver(me)) {
      awaitTurn(me);
    }
    me.waits++;
  }

  /** Lets time go on until an actor can. Returns whether that is another one than {@code me}. */
  private boolean handOver(Actor me) {
    resumed = null;
    while (resumed == null) {
      checkWhole();
      Event event = events.poll();
      if (event == null) {
        throw new IllegalStateException("deadlock: nothing will happen any more; " + waits);
      }
      eventsDone++;
      clock.advanceTo(event.nanos());
      event.action().run();
    }
    current = resumed;
    if (current == me) {
      return false;
    }
    current.turn.release();
    return true;
  }

  private void awaitTurn(Actor me) {
    long before;
    do {
      before = eventsDone;
      try {
        if (me.turn.tryAcquire(STUCK_SECONDS, TimeUnit.SECONDS)) {
          checkWhole();
          return;
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted: " + me.name, e);
      }
    } while (eventsDone != before);
    IllegalStateException stuck =
        new IllegalStateException("stuck in real time: an actor holds what another one needs");
    breakOff(stuck);
    throw stuck;
  }

  private void breakOff(Throwable cause) {
    if (broken == null) {
      broken = cause;
    }
    actors.forEach(actor -> actor.turn.release());
  }

  private void checkWhole() {
    Throwable cause = broken;
    if (cause != null) {
      throw new IllegalStateException("the simulation broke off", cause);
    }
  }

  // Jobs.

  /** Queues a job. If the scheduler is closed, the job fails at once. */
  @Override
  public void submit(Job job) {
    if (closed) {
      cancel(job);
      return;
    }
    Timed timed = new Timed(job, clock.nanos());
    history.add(timed.times);
    tell(
        () -> {
          if (closed) {
            cancel(job);
            return;
          }
          queue.add(timed);
          wakeWorker();
        });
  }

  private void wakeWorker() {
    Actor idle = idleWorkers.poll();
    if (idle != null) {
      at(clock.nanos(), resume(idle));
    }
  }

  private void work() {
    Actor me = current;
    while (!closed) {
      Job job = queue.next();
      if (job == null) {
        idleWorkers.add(me);
        park();
      } else {
        workersBusy++;
        run(me, job);
        workersBusy--;
        // Its end may have made room for others that were queued.
        idleWorkers.forEach(idle -> at(clock.nanos(), resume(idle)));
        idleWorkers.clear();
      }
    }
    workersEnd.raise();
  }

  private void run(Actor me, Job first) {
    Job job = first;
    boolean more = true;
    while (more) {
      me.stepping = job.priority();
      try {
        more = job.step();
      } catch (Throwable e) {
        checkWhole();
        job.failed(e);
        more = false;
      }
      compute(machine.stepNanos());
      settle();
      me.stepping = null;
      ((Timed) job).passed(clock.nanos(), more);
      if (more && closed) {
        cancel(job);
        more = false;
      }
      if (more) {
        Job next = queue.nextAfter(job);
        if (next != job) {
          wakeWorker();
        }
        job = next;
      }
    }
    queue.ended(job);
  }

  private static void cancel(Job job) {
    job.failed(new StoreClosedException("closed before it was done: " + job.name()));
  }

  /** A job whose times are kept. */
  private final class Timed implements Job {
    private final Job job;
    private final JobTimes times;

    Timed(Job job, long now) {
      this.job = job;
      this.times = new JobTimes(job, now);
    }

    @Override
    public Priority priority() {
      return job.priority();
    }

    @Override
    public String name() {
      return job.name();
    }

    @Override
    public boolean step() throws Exception {
      long now = clock.nanos();
      if (times.begun < 0) {
        times.begun = now;
      } else {
        times.longestPause = Math.max(times.longestPause, now - times.lastStep);
      }
      return job.step();
    }

    void passed(long now, boolean more) {
      times.lastStep = now;
      times.ended = more ? -1 : now;
    }

    @Override
    public void failed(Throwable cause) {
      job.failed(cause);
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
    start(actor, actor::work);
    return actor;
  }

  private final class ServiceActor extends Actor implements Service.Handle {
    private final Service service;
    private final VirtualSignal end;
    private boolean asleep;
    private boolean stopped;
    private boolean ended;
    private long alarm = NEVER;

    ServiceActor(Service service) {
      super(service.name());
      this.service = service;
      this.end = new VirtualSignal("the end of service " + service.name());
    }

    void work() {
      try {
        while (!stopped) {
          if (service.ready() || clock.nanos() >= alarm) {
            alarm = NEVER;
            service.run();
            settle();
          } else {
            asleep = true;
            if (alarm != NEVER) {
              at(alarm, resume(this));
            }
            park();
            asleep = false;
          }
        }
      } catch (Throwable e) {
        checkWhole();
        service.failed(e);
      }
      ended = true;
      end.raise();
    }

    @Override
    public void wake() {
      if (asleep) {
        tell(this::wakeNow);
      }
    }

    private void wakeNow() {
      if (asleep) {
        at(clock.nanos(), resume(this));
      }
    }

    @Override
    public void wakeWithin(long nanos) {
      long wanted = nanos > NEVER - clock.nanos() ? NEVER : clock.nanos() + nanos;
      if (wanted < alarm) {
        alarm = wanted;
        if (asleep) {
          at(alarm, resume(this));
        }
      }
    }

    @Override
    public void stop() {
      stopped = true;
      wakeNow();
      if (current != this) {
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
    idleWorkers.forEach(idle -> at(clock.nanos(), resume(idle)));
    idleWorkers.clear();
    boolean own = current.stepping != null || current instanceof ServiceActor;
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

  // Signals.

  @Override
  public Signal signal(String name) {
    return new VirtualSignal(name);
  }

  private final class VirtualSignal implements Signal {
    private final String name;
    private final List<Runnable> waiting = new ArrayList<>();
    private long raised;

    VirtualSignal(String name) {
      this.name = name;
    }

    @Override
    public void await(BooleanSupplier condition) {
      awaitUntil(condition, NEVER);
    }

    @Override
    public boolean await(BooleanSupplier condition, long nanos) {
      return awaitUntil(condition, nanos > NEVER - clock.nanos() ? NEVER : clock.nanos() + nanos);
    }

    private boolean awaitUntil(BooleanSupplier condition, long deadline) {
      waits.add(this);
      waiters++;
      try {
        while (true) {
          long seen = raised;
          if (condition.getAsBoolean()) {
            return true;
          }
          settle();
          if (raised != seen) {
            continue;
          }
          if (clock.nanos() >= deadline) {
            return false;
          }
          Runnable resume = resume(current);
          waiting.add(resume);
          if (deadline != NEVER) {
            at(deadline, resume);
          }
          park();
          waiting.remove(resume);
        }
      } finally {
        waiters--;
        waits.remove(this);
      }
    }

    private int waiters;

    @Override
    public void raise() {
      if (waiters > 0) {
        tell(this::raiseNow);
      }
    }

    private void raiseNow() {
      raised++;
      waiting.forEach(resume -> at(clock.nanos(), resume));
      waiting.clear();
    }

    @Override
    public String toString() {
      return "signal " + name;
    }
  }
}
