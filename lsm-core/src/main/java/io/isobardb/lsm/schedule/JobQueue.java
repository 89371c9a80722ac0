package io.isobardb.lsm.schedule;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which job a worker does next. Knows no thread: {@link ThreadScheduler} asks it for its threads,
 * and a simulation for workers in virtual time.
 *
 * <p>Order: the most urgent priority first, first come first served within one. Between two steps a
 * job gives way to a more urgent one, and goes back to the head of its priority. One that {@link
 * Job#givesWay} does so to others of its priority, too, and goes behind them.
 *
 * <p>With two workers or more, slots are kept free:
 *
 * <ul>
 *   <li>{@link Job.Priority#MERGE_DEEP} and {@link Job.Priority#IDLE}, whose steps may wait long
 *       for the disk, never have all workers. So no flush waits for the end of such a step.
 *   <li>{@link Job.Priority#FLUSH} never has all workers while a merge of L0 wants one. So a merge
 *       of L0 goes on beside flushes, however many there are.
 *   <li>{@link Job.Priority#GATHER} has none that leaves merges of L0 all workers. So a merge in
 *       memory, for which a flush may wait, goes on beside them: with two workers a larger merge of
 *       L0 stands still meanwhile.
 * </ul>
 *
 * <p>A priority can be held back: its jobs stay in the queue, or go back there after their step. A
 * worker with nothing else to do has those rest that have begun, each once. A priority in debt for
 * what its jobs have read and written ({@link IoDebts}, {@link SharedIo}), or for processor time
 * ({@link ProcessorDebts}), waits likewise, until that is paid.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class JobQueue {
  private static final Job.Priority[] PRIORITIES = Job.Priority.values();
  private static final int FLUSH = Job.Priority.FLUSH.ordinal();
  private static final int GATHER = Job.Priority.GATHER.ordinal();
  private static final int MERGE_L0 = Job.Priority.MERGE_L0.ordinal();
  private static final int FIRST_SLOW = Job.Priority.MERGE_DEEP.ordinal();

  private final int workers;
  private final List<ArrayDeque<Job>> queues = new ArrayList<>();
  private final int[] running = new int[PRIORITIES.length];
  private final boolean[] held = new boolean[PRIORITIES.length];

  /** Queued jobs that were put aside; they stand at the heads of their queues. */
  private final int[] aside = new int[PRIORITIES.length];

  /** Those of them that have not rested since their last step. */
  private final Set<Job> awake = Collections.newSetFromMap(new IdentityHashMap<>());

  private final IoDebts debts = new IoDebts();

  /** Whether jobs may read as much as they may write. */
  private boolean eachWay;

  /** What the store has of a budget that it shares with others; null if it shares none. */
  private SharedIo.@Nullable Share share;

  private final ProcessorDebts processorDebts = new ProcessorDebts();
  private long pauses;
  private long preemptions;
  private long throttled;
  private long processorWaits;

  /**
   * An empty queue.
   *
   * @param workers how many jobs can run at once; at least 1
   */
  public JobQueue(int workers) {
    if (workers < 1) {
      throw new IllegalArgumentException("workers: " + workers);
    }
    this.workers = workers;
    for (int i = 0; i < PRIORITIES.length; i++) {
      queues.add(new ArrayDeque<>());
    }
  }

  /** Holds jobs of a priority back, or lets them go on. Returns whether that is a change. */
  public boolean hold(Job.Priority priority, boolean hold) {
    int index = priority.ordinal();
    boolean changes = held[index] != hold;
    held[index] = hold;
    pauses += changes && hold ? aside[index] : 0;
    return changes;
  }

  /** Queues a job behind those of its priority. */
  public void add(Job job) {
    queues.get(job.priority().ordinal()).addLast(job);
  }

  /** Changes what jobs may read and write from now on. */
  public void limit(IoLimits limits, long nanos) {
    eachWay = limits.eachWay();
    debts.limit(limits, nanos);
  }

  /** From now on jobs keep to this, too. */
  public void share(SharedIo.Share ofStore) {
    share = ofStore;
  }

  /** Changes what processor time jobs may use from now on. */
  public void limit(ProcessorLimits limits, long nanos) {
    processorDebts.limit(limits, nanos);
  }

  /**
   * What a step of a job has used; before {@link #nextAfter}.
   *
   * @param step what it has read and written
   * @param used processor time
   */
  public void charge(Job job, Stepping.Step step, long used, long nanos) {
    debts.charge(job.priority(), eachWay ? step.largerBytes() : step.bytes(), nanos);
    if (share != null) {
      share.charge(job.priority(), step.bytes(), nanos);
    }
    processorDebts.charge(job.priority(), used, nanos);
  }

  /**
   * How long until a queued job is no longer in debt; {@link Long#MAX_VALUE} if none is. Others may
   * run earlier.
   */
  public long waitNanos(long nanos) {
    long least = Long.MAX_VALUE;
    for (Job.Priority priority : PRIORITIES) {
      int index = priority.ordinal();
      if (!held[index] && !queues.get(index).isEmpty()) {
        long wait = waitNanos(priority, nanos);
        least = wait > 0 ? Math.min(least, wait) : least;
      }
    }
    return least;
  }

  private long waitNanos(Job.Priority priority, long nanos) {
    return Math.max(ioWaitNanos(priority, nanos), processorDebts.waitNanos(priority, nanos));
  }

  private long ioWaitNanos(Job.Priority priority, long nanos) {
    long own = debts.waitNanos(priority, nanos);
    return share == null ? own : Math.max(own, share.waitNanos(priority, nanos));
  }

  /** The job for a worker that has none; null if none may run now. It runs from now on. */
  public @Nullable Job next(long nanos) {
    return poll(PRIORITIES.length, nanos);
  }

  /**
   * The job for a worker that is between two steps of one.
   *
   * @return {@code mine}, or a job to which it gives way: then that runs, and {@code mine} is
   *     queued; null if {@code mine} is held back or in debt, and queued, and no other may run now
   */
  public @Nullable Job nextAfter(Job mine, long nanos) {
    int priority = mine.priority().ordinal();
    boolean chosen = false;
    running[priority]--;
    try {
      // Queued while others are looked at: a merge of L0 asks for its own slot, too.
      awake.add(mine);
      putAside(mine);
      Job next = nextBeside(mine, nanos);
      chosen = true;
      return next;
    } finally {
      if (!chosen) {
        // There may be no heap to choose with: the worker has it still, and fails it.
        takeBack(mine);
      }
    }
  }

  private void takeBack(Job mine) {
    int priority = mine.priority().ordinal();
    awake.remove(mine);
    if (queues.get(priority).remove(mine)) {
      aside[priority]--;
    }
    running[priority]++;
  }

  /** The job after one that was put aside, which may be that. */
  private @Nullable Job nextBeside(Job mine, long nanos) {
    int priority = mine.priority().ordinal();
    if (held[priority]) {
      pauses++;
      return poll(PRIORITIES.length, nanos);
    }
    if (ioWaitNanos(mine.priority(), nanos) > 0) {
      throttled++;
      return poll(PRIORITIES.length, nanos);
    }
    if (processorDebts.waitNanos(mine.priority(), nanos) > 0) {
      processorWaits++;
      return poll(PRIORITIES.length, nanos);
    }
    Job next = poll(priority, nanos);
    if (next == null && priority == FLUSH && !mayRun(FLUSH)) {
      next = takeOfL0(nanos);
    }
    if (next == null) {
      if (mine.givesWay()) {
        putBehind(mine);
      }
      return take(priority);
    }
    preemptions++;
    return next;
  }

  /** A job that is put aside goes behind all others of its priority. */
  private void putBehind(Job job) {
    int priority = job.priority().ordinal();
    queues.get(priority).remove(job);
    queues.get(priority).addLast(job);
    aside[priority]--;
    awake.remove(job);
  }

  private @Nullable Job takeOfL0(long nanos) {
    for (int i = GATHER; i <= MERGE_L0; i++) {
      if (!queues.get(i).isEmpty() && mayRun(i) && !inDebt(i, nanos)) {
        return take(i);
      }
    }
    return null;
  }

  /** Whether a merge of L0 waits for a worker. */
  private boolean awaitsL0() {
    return !queues.get(GATHER).isEmpty() || !queues.get(MERGE_L0).isEmpty();
  }

  /** A job that is held back and is to rest now, not to be stepped; null if there is none. */
  public @Nullable Job nextToRest() {
    for (Job job : awake) {
      int priority = job.priority().ordinal();
      if (held[priority]) {
        awake.remove(job);
        queues.get(priority).remove(job);
        aside[priority]--;
        running[priority]++;
        return job;
      }
    }
    return null;
  }

  /** A job has rested, and waits to be stepped again. */
  public void onRested(Job job) {
    putAside(job);
    running[job.priority().ordinal()]--;
  }

  private void putAside(Job job) {
    int priority = job.priority().ordinal();
    queues.get(priority).addFirst(job);
    aside[priority]++;
  }

  /** A job that ran, or rested, has ended. */
  public void onEnded(Job job) {
    running[job.priority().ordinal()]--;
  }

  /**
   * Jobs of higher ordinals than this may have to give way between two steps, and so may those of
   * this one that {@link Job#givesWay}: to be read without a lock, so that {@link #nextAfter} is
   * called only when it matters.
   */
  public int urgency() {
    if (awaitsL0() && !mayRun(FLUSH)) {
      return -1;
    }
    for (int i = 0; i < PRIORITIES.length; i++) {
      if (held[i] && running[i] > 0) {
        return -1;
      }
    }
    int urgent = 0;
    while (urgent < PRIORITIES.length && (held[urgent] || queues.get(urgent).isEmpty())) {
      urgent++;
    }
    return urgent;
  }

  /** How often jobs were put aside. */
  public Scheduler.Interruptions interruptions() {
    return new Scheduler.Interruptions(pauses, preemptions, throttled, processorWaits);
  }

  /** Jobs that are queued, held back or running. */
  public int size() {
    int size = 0;
    for (int i = 0; i < PRIORITIES.length; i++) {
      size += queues.get(i).size() + running[i];
    }
    return size;
  }

  /** Takes all queued jobs out, the most urgent first. */
  public List<Job> clear() {
    List<Job> left = new ArrayList<>();
    queues.forEach(left::addAll);
    queues.forEach(ArrayDeque::clear);
    Arrays.fill(aside, 0);
    awake.clear();
    return left;
  }

  /** Takes the most urgent job that may run now, if its priority is below {@code limit}. */
  private @Nullable Job poll(int limit, long nanos) {
    for (int i = 0; i < limit; i++) {
      if (!held[i] && !queues.get(i).isEmpty() && mayRun(i) && !inDebt(i, nanos)) {
        return take(i);
      }
    }
    return null;
  }

  private boolean inDebt(int priority, long nanos) {
    return waitNanos(PRIORITIES[priority], nanos) > 0;
  }

  private Job take(int priority) {
    running[priority]++;
    aside[priority] = Math.max(0, aside[priority] - 1);
    Job job = queues.get(priority).removeFirst();
    awake.remove(job);
    return job;
  }

  /** Whether there is a slot for one more of this priority. */
  private boolean mayRun(int priority) {
    int most = Math.max(1, workers - 1);
    if (priority == FLUSH && awaitsL0()) {
      return running[FLUSH] < most;
    }
    if (priority == GATHER || priority == MERGE_L0 && running[GATHER] > 0) {
      return running[GATHER] + running[MERGE_L0] < most;
    }
    if (priority >= FIRST_SLOW) {
      int slow = 0;
      for (int i = FIRST_SLOW; i < PRIORITIES.length; i++) {
        slow += running[i];
      }
      return slow < most;
    }
    return true;
  }
}
