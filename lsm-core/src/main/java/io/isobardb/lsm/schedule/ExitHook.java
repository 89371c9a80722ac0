package io.isobardb.lsm.schedule;

import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.Clock;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Closes what is open when the JVM ends in an orderly way: after {@code main}, by {@code
 * System.exit}, by SIGTERM. There is one for all stores of a class loader; the JVM knows it while
 * there is something to close, so that it does not keep the class loader alive.
 *
 * <p>Each is closed on a thread of its own, so that one that can't be closed holds up no other. The
 * end of the JVM is held up for {@link #MOST_NANOS} at most, and shorter if what is left waits for
 * a lock of a thread that has called {@code System.exit}.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class ExitHook {
  /** How long the JVM's end is held up, in nanoseconds. */
  public static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The time after which the hook looks whether closing has an end. */
  private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long LOOK_MILLIS = 20;

  private static final ExitHook OF_JVM = new ExitHook(MOST_NANOS, ExitHook::isExiting);

  /** Something to close. */
  public interface Closer extends SystemLog.Subject {
    /** Closes it. Does nothing if that was done; waits for its end if it is being done. */
    void close();

    /**
     * Lets others do what these threads would have to do, and takes the locks from them that
     * closing takes. They have called {@code System.exit}, and never come back to what they were
     * doing. Called again while it is being closed; waits for nothing.
     */
    void goOnWithout(Predicate<Thread> exiting);

    /** As {@link #close}, but waits for no call that has begun longer than for a moment. */
    void closeAtExit();

    /** What the end of the JVM takes if it is not closed, in words. */
    String atRisk();
  }

  /** The JVM starts it on the thread that has called {@code System.exit}, or ends otherwise. */
  private final class Hook extends Thread {
    private Thread exiting = this;

    Hook() {
      super("isobar-exit");
    }

    @Override
    public void start() {
      exiting = Thread.currentThread();
      super.start();
    }

    @Override
    public void run() {
      closeAll(exiting);
    }
  }

  private final long mostNanos;
  private final Predicate<Thread> exiting;
  private final List<Closer> closers = new ArrayList<>();
  private @Nullable Thread hook;
  private boolean ending;

  /**
   * @param exiting tells threads that have called {@code System.exit}, besides the one that came
   *     first
   */
  ExitHook(long mostNanos, Predicate<Thread> exiting) {
    this.mostNanos = mostNanos;
    this.exiting = exiting;
  }

  /** Whether a thread is in {@code System.exit}, where all but the first wait for the end. */
  private static boolean isExiting(Thread thread) {
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getMethodName().equals("exit")
          && frame.getClassName().equals(Runtime.class.getName())) {
        return true;
      }
    }
    return false;
  }

  /** The one that the JVM runs. */
  public static ExitHook ofJvm() {
    return OF_JVM;
  }

  /**
   * Passes unless the JVM is ending.
   *
   * @throws IllegalStateException if it is
   */
  public synchronized void checkRunning() {
    if (ending) {
      throw ending();
    }
  }

  private static IllegalStateException ending() {
    return new IllegalStateException(
        "the JVM is ending: no store is opened any more that would be closed at its end; with"
            + " closeOnExit(false) you can open one, and close it yourself");
  }

  /**
   * From now on {@code closer} is closed when the JVM ends.
   *
   * @throws IllegalStateException if it is ending already
   */
  public synchronized void add(Closer closer) {
    checkRunning();
    if (hook == null) {
      Thread thread = new Hook();
      // The creator's may belong to an application that is unloaded before.
      thread.setContextClassLoader(ExitHook.class.getClassLoader());
      try {
        Runtime.getRuntime().addShutdownHook(thread);
      } catch (IllegalStateException e) {
        ending = true;
        throw ending();
      }
      hook = thread;
    }
    closers.add(closer);
  }

  /** {@code closer} was closed. */
  public synchronized void remove(Closer closer) {
    closers.remove(closer);
    Thread thread = hook;
    if (closers.isEmpty() && thread != null && !ending) {
      hook = null;
      try {
        Runtime.getRuntime().removeShutdownHook(thread);
      } catch (IllegalStateException e) {
        ending = true;
      }
    }
  }

  /** What there is to close. */
  synchronized List<Closer> closers() {
    return List.copyOf(closers);
  }

  /** Closes something on a thread that nobody waits for. */
  public static void closeInBackground(Closer closer) {
    start(closer, closer::close, "isobar-close-" + closer.name());
  }

  private static Thread start(Closer closer, Runnable closing, String threadName) {
    Thread thread =
        new Thread(
            () -> {
              try {
                closing.run();
              } catch (Throwable e) {
                log(Level.ERROR, closer, " was not closed in order", e);
              }
            },
            threadName);
    thread.setDaemon(true);
    thread.setContextClassLoader(ExitHook.class.getClassLoader());
    thread.start();
    return thread;
  }

  /**
   * Closes all, in the time there is.
   *
   * @param first the thread that ends the JVM
   */
  void closeAll(Thread first) {
    List<Closer> left;
    synchronized (this) {
      ending = true;
      left = List.copyOf(closers);
    }
    Predicate<Thread> gone = thread -> thread == first || exiting.test(thread);
    List<Thread> threads = new ArrayList<>();
    for (Closer closer : left) {
      log(Level.INFO, closer, " is closed, as the JVM ends", null);
      closer.goOnWithout(gone);
      threads.add(closeAtExit(closer));
    }
    long began = Clock.SYSTEM.nanos();
    StuckThreads stuck = new StuckThreads(gone);
    String why = null;
    while (threads.stream().anyMatch(Thread::isAlive) && why == null) {
      for (int i = 0; i < threads.size(); i++) {
        if (threads.get(i).isAlive()) {
          left.get(i).goOnWithout(gone);
          if (gone.test(threads.get(i))) {
            // It has called a listener that exits. Another one goes on with what is left.
            threads.set(i, closeAtExit(left.get(i)));
          }
          await(threads.get(i));
        }
      }
      long nanos = Clock.SYSTEM.nanos() - began;
      if (nanos >= mostNanos) {
        why = "was not closed within " + TimeUnit.NANOSECONDS.toSeconds(mostNanos) + " s";
      } else if (nanos >= STUCK_NANOS && stuck.look()) {
        why = "can't be closed, as a thread that called System.exit holds a lock";
      }
    }
    for (int i = 0; i < threads.size(); i++) {
      if (threads.get(i).isAlive()) {
        tellNotClosed(left.get(i), why);
      }
    }
  }

  private static Thread closeAtExit(Closer closer) {
    return start(closer, closer::closeAtExit, "isobar-exit-" + closer.name());
  }

  private static void tellNotClosed(Closer closer, @Nullable String why) {
    String what = " " + why + ", and the JVM ends: " + closer.atRisk() + ". Close it before";
    log(Level.WARNING, closer, what, null);
  }

  private static void log(Level level, Closer closer, String what, @Nullable Throwable cause) {
    SystemLog.tell(level, ExitHook.class, closer, what, cause);
  }

  private static void await(Thread thread) {
    try {
      thread.join(LOOK_MILLIS);
    } catch (InterruptedException e) {
      // Nobody has a reason to; the waiting thread looks again.
    }
  }
}
