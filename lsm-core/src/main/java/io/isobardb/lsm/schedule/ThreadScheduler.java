package io.isobardb.lsm.schedule;

import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.Clock;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Runs jobs on a fixed number of threads, each service on one of its own, and errands on a few that
 * are started when they are needed. All are daemon threads of the platform.
 *
 * <p>{@link JobQueue} says which job is next. Between two steps a worker gives way to a more urgent
 * job that waits.
 *
 * <p>Thread rule: any thread. One lock guards the queue; it is taken per job, and per step while
 * jobs are limited. No code of a job runs under it.
 */
public final class ThreadScheduler implements Scheduler {
  /** One or two milliseconds of work. */
  private static final int STEP_BYTES = 1 << 20;

  /** How often it is looked at whether a thread that is waited for never ends. */
  private static final long LOOK_AGAIN_MILLIS = 20;

  private final String storeName;

  /** Written under the lock. */
  private final List<Thread> workers = new ArrayList<>();

  private final List<ServiceThread> services = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Signal jobEnded = new ThreadSignal("the end of a job");
  private final JobQueue queue;

  /**
   * What the workers do. Each is in it from its making on, so that a change takes no heap. Guarded
   * by the lock.
   */
  private final Map<Thread, @Nullable Job> running = new HashMap<>();

  private final WorkerTimes times = new WorkerTimes();

  private final HelperThreads helpers;

  /** Apart from the helpers, which may wait for what these read. */
  private final HelperThreads readers;

  /** Whether steps have to be paid for. */
  private volatile boolean limited;

  // Written under the lock.
  private boolean ioLimited;
  private volatile int stepBytes = STEP_BYTES;
  private boolean shares;
  private boolean processorsLimited;

  /** {@link JobQueue#urgency}. Written under the lock. */
  private volatile int urgency = Integer.MAX_VALUE;

  /** Written under the lock. */
  private volatile boolean closed;

  /**
   * Starts the workers, or none: those that were started end if another one can't be.
   *
   * @param storeName goes into the threads' names, {@code isobar-NAME-worker-1}
   * @param workers how many jobs can run at once; at least 1
   */
  public ThreadScheduler(String storeName, int workers) {
    this(storeName, workers, Thread::start);
  }

  /**
   * @param starter starts a worker
   */
  ThreadScheduler(String storeName, int workers, Consumer<Thread> starter) {
    this.storeName = storeName;
    this.queue = new JobQueue(workers);
    this.helpers = new HelperThreads("isobar-" + storeName + "-helper-");
    this.readers = new HelperThreads("isobar-" + storeName + "-reader-");
    for (int i = 1; i <= workers; i++) {
      this.workers.add(worker(i));
    }
    boolean started = false;
    try {
      this.workers.forEach(starter);
      started = true;
    } finally {
      if (!started) {
        close(); // The process may have no more threads.
      }
    }
  }

  private Thread worker(int number) {
    return worker(number, this::work);
  }

  private Thread worker(int number, Runnable work) {
    Thread thread = new Thread(work, "isobar-" + storeName + "-worker-" + number);
    thread.setDaemon(true);
    running.put(thread, null);
    return thread;
  }

  /** Queues a job. If the scheduler is closed, the job fails on the calling thread. */
  @Override
  public void submit(Job job) {
    lock.lock();
    try {
      if (!closed) {
        queue.add(job);
        urgency = queue.urgency();
        changed.signal();
        return;
      }
    } finally {
      lock.unlock();
    }
    cancel(job);
  }

  /**
   * {@inheritDoc}
   *
   * @throws StoreClosedException if the scheduler is closed
   */
  @Override
  public Service.Handle start(Service service) {
    ServiceThread thread = new ServiceThread(service, "isobar-" + storeName + "-" + service.name());
    lock.lock();
    try {
      if (closed) {
        throw new StoreClosedException("the scheduler of " + storeName + " is closed");
      }
      services.add(thread);
      boolean started = false;
      try {
        thread.start();
        started = true;
      } finally {
        if (!started) {
          services.remove(thread);
        }
      }
    } finally {
      lock.unlock();
    }
    return thread;
  }

  @Override
  public boolean help(Errand errand) {
    return helpers.add(errand);
  }

  @Override
  public boolean read(Errand errand) {
    return readers.add(errand);
  }

  @Override
  public Signal signal(String name) {
    return new ThreadSignal(name);
  }

  @Override
  public Signal briefSignal(String name) {
    return ThreadSignal.ofBriefWaits(name);
  }

  @Override
  public int stepBytes() {
    return stepBytes;
  }

  @Override
  public void hold(Job.Priority priority, boolean hold) {
    lock.lock();
    try {
      if (queue.hold(priority, hold)) {
        urgency = queue.urgency();
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void limit(IoLimits limits) {
    lock.lock();
    try {
      queue.limit(limits, Clock.SYSTEM.nanos());
      ioLimited = limits.limits();
      stepBytes = limits.stepBytes(STEP_BYTES);
      limited = shares || ioLimited || processorsLimited;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void limit(ProcessorLimits limits) {
    lock.lock();
    try {
      queue.limit(limits, Clock.SYSTEM.nanos());
      processorsLimited = !limits.isSame(ProcessorLimits.NONE);
      limited = shares || ioLimited || processorsLimited;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void share(SharedIo.Share share) {
    lock.lock();
    try {
      queue.share(share);
      shares = true;
      limited = true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public ProcessorTimes processorTimes() {
    return times.now();
  }

  @Override
  public Interruptions interruptions() {
    lock.lock();
    try {
      return queue.interruptions();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int pending() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Signal jobEnded() {
    return jobEnded;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A job that was in code of a user under a lock of the store may not get through failing.
   */
  @Override
  public void goOnWithout(Predicate<Thread> gone) {
    lock.lock();
    try {
      services.forEach(service -> service.goOnWithout(gone));
      for (int i = 0; i < workers.size(); i++) {
        if (gone.test(workers.get(i))) {
          Job left = running.remove(workers.get(i));
          Thread another = worker(i + 1, () -> workAfter(left));
          workers.set(i, another);
          another.start();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** The work of a thread that takes the place of one that left a job behind. */
  private void workAfter(@Nullable Job left) {
    if (left != null) {
      fail(left, new LostThreadException(left.name()));
      onEnded(left);
    }
    work();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Jobs end before services do, since their last steps may need one. A call from one of the
   * scheduler's own threads waits for none of them.
   */
  @Override
  public void close() {
    List<Job> left;
    List<ServiceThread> toStop;
    lock.lock();
    try {
      closed = true;
      toStop = new ArrayList<>(services);
      left = queue.clear();
      urgency = queue.urgency();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    for (Job job : left) {
      cancel(job);
    }
    jobEnded.raise();
    Thread caller = Thread.currentThread();
    boolean own = isWorker(caller) || toStop.stream().anyMatch(s -> s.runsOn(caller));
    if (own) {
      toStop.forEach(ServiceThread::askToStop);
    } else {
      awaitWorkers();
      toStop.forEach(ServiceThread::stop);
    }
    helpers.close();
    readers.close();
  }

  private boolean isWorker(Thread thread) {
    lock.lock();
    try {
      return workers.contains(thread);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the end of the workers, and of those that take the place of others meanwhile. */
  private void awaitWorkers() {
    for (int i = 0; i < workers.size(); i++) {
      Thread worker;
      do {
        worker = workerNow(i);
        Thread awaited = worker;
        int place = i;
        join(awaited, () -> workerNow(place) != awaited);
      } while (worker != workerNow(i));
    }
  }

  private Thread workerNow(int index) {
    lock.lock();
    try {
      return workers.get(index);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a thread's end, or until it is given up; an interrupt is kept for later. */
  static void join(Thread thread, BooleanSupplier givenUp) {
    boolean interrupted = false;
    while (thread != Thread.currentThread() && thread.isAlive() && !givenUp.getAsBoolean()) {
      try {
        thread.join(LOOK_AGAIN_MILLIS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void work() {
    Job job = takeWhateverHappens();
    while (job != null) {
      job = runUntilDoneOrPreempted(job);
      Thread.interrupted();
      if (job == null) {
        job = takeWhateverHappens();
      }
    }
  }

  /** As {@link #take}, also if the heap is full: without a worker, those that wait would hang. */
  private @Nullable Job takeWhateverHappens() {
    while (true) {
      try {
        return take();
      } catch (OutOfMemoryError e) {
        FullHeap.pause();
      }
    }
  }

  /** Waits for a job that may run. Returns null when the scheduler is closed. */
  private @Nullable Job take() {
    lock.lock();
    try {
      while (!closed) {
        long now = Clock.SYSTEM.nanos();
        Job job = queue.next(now);
        if (job != null) {
          urgency = queue.urgency();
          running.put(Thread.currentThread(), job);
          return job;
        }
        Job tired = queue.nextToRest();
        if (tired != null) {
          restUnlocked(tired);
        } else {
          await(queue.waitNanos(now));
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a change, and so long at most; an interrupt ends it as any change does. */
  private void await(long nanos) {
    if (nanos == Long.MAX_VALUE) {
      changed.awaitUninterruptibly();
      return;
    }
    try {
      changed.awaitNanos(nanos);
    } catch (InterruptedException e) {
      // Waiting threads look again; workers have no other use for interrupts.
    }
  }

  /** The lock is held before and after, not meanwhile. */
  private void restUnlocked(Job job) {
    Throwable failure = null;
    lock.unlock();
    try {
      Stepping.rest(job);
    } catch (Throwable e) {
      failure = e;
    }
    FullHeap.lock(lock);
    if (failure == null && !closed) {
      try {
        queue.onRested(job);
        changed.signal();
        return;
      } catch (OutOfMemoryError e) {
        failure = e; // The queue has no room for it.
      }
    }
    queue.onEnded(job);
    lock.unlock();
    try {
      fail(job, failure == null ? closedBefore(job) : failure);
    } finally {
      jobEnded.raise();
      FullHeap.lock(lock);
    }
  }

  /** Returns the job to go on with, if a more urgent one came and the job gave way to it. */
  private @Nullable Job runUntilDoneOrPreempted(Job job) {
    int priority = job.priority().ordinal() + (job.givesWay() ? 1 : 0);
    try {
      while (true) {
        long began = times.ofThread();
        Stepping.Step step = Stepping.step(job);
        long used = times.step(began);
        if (!step.more()) {
          pay(job, step, used);
          break;
        }
        if (closed) {
          cancel(job);
          break;
        }
        if (urgency < priority || limited) {
          Job next = exchange(job, step, used);
          if (next != job) {
            return next;
          }
        }
        // Clients that wait for this processor go first: a writer that was interrupted between
        // taking its place in the log and publishing holds up all others.
        Thread.yield();
      }
    } catch (Throwable e) {
      fail(job, e);
      if (e instanceof Error) {
        log(job, ": the job failed", e);
      }
    }
    onEnded(job);
    return null;
  }

  /** Charges the last step of a job. The job is done, and does not fail if that fails. */
  private void pay(Job job, Stepping.Step step, long used) {
    if (!limited) {
      return;
    }
    try {
      lock.lock();
      try {
        queue.charge(job, step, used, Clock.SYSTEM.nanos());
      } finally {
        lock.unlock();
      }
    } catch (Throwable e) {
      log(job, "is done, but what it has used is not counted", e);
    }
  }

  /**
   * Charges a step. Then puts {@code job} back and takes another one, or none, if {@link
   * JobQueue#nextAfter} says so.
   */
  private @Nullable Job exchange(Job job, Stepping.Step step, long used) {
    lock.lock();
    try {
      if (closed) {
        return job;
      }
      long now = Clock.SYSTEM.nanos();
      queue.charge(job, step, used, now);
      Job next = queue.nextAfter(job, now);
      urgency = queue.urgency();
      if (next != job) {
        changed.signal();
        running.put(Thread.currentThread(), next);
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  private void onEnded(Job job) {
    FullHeap.lock(lock);
    try {
      running.put(Thread.currentThread(), null);
      queue.onEnded(job);
      urgency = queue.urgency();
      changed.signal();
    } finally {
      lock.unlock();
    }
    jobEnded.raise();
  }

  private void cancel(Job job) {
    fail(job, closedBefore(job));
  }

  private static StoreClosedException closedBefore(Job job) {
    return new StoreClosedException("closed before it was done: " + job.name());
  }

  private static void fail(Job job, Throwable cause) {
    try {
      job.onFailed(cause);
    } catch (Throwable e) {
      log(job, ": the job failed, and failed to say so", e);
    }
  }

  private static void log(Job job, String what, Throwable cause) {
    SystemLog.tell(Level.ERROR, ThreadScheduler.class, job, what, cause);
  }
}
