package io.isobardb.lsm.simulation;

import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Time that passes when all wait. <em>Actors</em> have a thread each, but only one of them runs at
 * a time: it runs until it waits, and hands over to the next in virtual time. What it did costs
 * time only then: the processor time and the I/O that it <em>owes</em> pass piece by piece. What it
 * told others meanwhile reaches them when all that it owed before has passed.
 *
 * <p>Thread rule: the thread that makes it is an actor, too; no thread but actors' may call.
 */
final class VirtualTime {
  static final long NEVER = Long.MAX_VALUE;

  /** A processor is given to the next one after this. */
  private static final long SLICE_NANOS = 100_000;

  /** No actor computes for so long in real time, if all is well. */
  private static final long STUCK_SECONDS = 120;

  private record Event(long nanos, long number, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return nanos != other.nanos
          ? Long.compare(nanos, other.nanos)
          : Long.compare(number, other.number);
    }
  }

  /**
   * Something owed: processor time, I/O, or a message that leaves when the rest has passed.
   *
   * @param fromNanos when the device lets I/O pass
   */
  private record Debt(
      @Nullable Kind kind,
      long amount,
      @Nullable Runnable message,
      @Nullable Pace pace,
      long fromNanos) {
    Debt(@Nullable Kind kind, long amount, @Nullable Runnable message) {
      this(kind, amount, message, null, 0);
    }
  }

  /** Lets so many bytes in a second through to the device, of those that are told of it. */
  static final class Pace {
    private final long bytesPerSecond;
    private long freeNanos;

    Pace(long bytesPerSecond) {
      this.bytesPerSecond = bytesPerSecond;
    }

    /** When bytes that come at {@code now} may go on. */
    long pass(long now, long bytes) {
      long at = Math.max(now, freeNanos);
      freeNanos = at + (long) (bytes * 1e9 / bytesPerSecond);
      return at;
    }
  }

  private final SimulatedClock clock;
  private final VirtualDevice device;

  /** When the device lets pass what came last, by kind. */
  private final long[] admittedNanos = new long[Kind.values().length];

  private final long[] processorsFree;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final List<Actor> actors = new ArrayList<>();
  private final List<Signal> waits = new ArrayList<>();
  private Actor current;
  private @Nullable Actor resumed;
  private long eventNumber;
  private long computedNanos;
  private volatile long eventsDone;
  private volatile @Nullable Throwable broken;

  /** The calling thread becomes the first actor. */
  VirtualTime(SimulatedClock clock, int processors, VirtualDevice device) {
    this.clock = clock;
    this.device = device;
    this.processorsFree = new long[processors];
    this.current = new Actor("main");
    actors.add(current);
  }

  long nanos() {
    return clock.nanos();
  }

  /** The actor that runs: the caller. */
  Actor current() {
    return current;
  }

  /** Signals that actors wait for; told if nothing will happen any more. */
  List<Signal> waits() {
    return waits;
  }

  /** The calling actor owes so much processor time. */
  void compute(long nanos) {
    current.owed.add(new Debt(null, nanos, null));
  }

  /** Lets what the calling actor owes pass. */
  void settle() {
    Actor me = current;
    if (!me.owed.isEmpty()) {
      Runnable resume = resume(me);
      pay(me, () -> at(clock.nanos(), resume));
      park();
    }
  }

  /**
   * The calling actor owes this I/O, at a pace if there is one. Returns how long the device works
   * for it, and how much longer than for what came before it lets nothing pass.
   */
  long transfer(Kind kind, long bytes, @Nullable Pace pace) {
    long left = bytes;
    long nanos = 0;
    do {
      long piece = Math.min(left, VirtualDevice.PIECE_BYTES);
      long admitted = device.admit(clock.nanos(), kind, piece);
      current.owed.add(new Debt(kind, piece, null, pace, admitted));
      left -= piece;
      nanos += device.nanos(kind, piece);
      long before = Math.max(clock.nanos(), admittedNanos[kind.ordinal()]);
      nanos += Math.max(0, admitted - before);
      admittedNanos[kind.ordinal()] = admitted;
    } while (left > 0);
    return nanos;
  }

  /** The processor time that all actors were given so far. */
  long computedNanos() {
    return computedNanos;
  }

  /** Has something done at a time. */
  void at(long nanos, Runnable action) {
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
      Pace pace = debt.pace();
      Runnable serve =
          () -> at(device.serve(clock.nanos(), kind, debt.amount()), () -> pay(actor, then));
      long from = pace == null ? clock.nanos() : pace.pass(clock.nanos(), debt.amount());
      from = Math.max(from, debt.fromNanos());
      if (pace == null && from == clock.nanos()) {
        serve.run();
      } else {
        at(from, serve);
      }
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
    computedNanos += nanos;
    processorsFree[first] = Math.max(clock.nanos(), processorsFree[first]) + nanos;
    return processorsFree[first];
  }

  /** Runs now, or when what the calling actor owes has passed. */
  void tell(Runnable message) {
    if (current.owed.isEmpty()) {
      message.run();
    } else {
      current.owed.add(new Debt(null, 0, message));
    }
  }

  static class Actor {
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

  void start(Actor actor, Runnable body) {
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
  Runnable resume(Actor actor) {
    long wait = actor.waits;
    return () -> resumed = actor.waits == wait ? actor : null;
  }

  /** The calling actor waits until what {@link #resume} gave has run. */
  void park() {
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

  void checkWhole() {
    Throwable cause = broken;
    if (cause != null) {
      throw new IllegalStateException("the simulation broke off: " + cause, cause);
    }
  }
}
