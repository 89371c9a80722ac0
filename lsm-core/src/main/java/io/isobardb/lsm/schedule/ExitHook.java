package io.isobardb.lsm.schedule;

import io.isobardb.lsm.io.Clock;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes what is open when the JVM ends in an orderly way: after {@code main}, by {@code
 * System.exit}, by SIGTERM. There is one for all stores of a class loader; the JVM knows it while
 * there is something to close, so that it does not keep the class loader alive.
 *
 * <p>Each is closed on a thread of its own, so that one that can't be closed holds up no other. The
 * end of the JVM is held up for {@link #MOST_NANOS} at most.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class ExitHook {
  /** How long the JVM's end is held up, in nanoseconds. */
  public static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final ExitHook OF_JVM = new ExitHook(MOST_NANOS);

  /** Something to close. */
  public interface Closer {
    /** What it is, for messages. */
    String name();

    /** Closes it. Does nothing if that was done; waits for its end if it is being done. */
    void close();

    /**
     * As {@link #close}, but waits for nothing that {@code exiting} would have to do.
     *
     * @param exiting the thread that ends the JVM; it never comes back to what it was doing
     */
    void closeAtExit(Thread exiting);

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
  private final List<Closer> closers = new ArrayList<>();
  private @Nullable Thread hook;
  private boolean ending;

  ExitHook(long mostNanos) {
    this.mostNanos = mostNanos;
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
                System.getLogger(ExitHook.class.getName())
                    .log(Level.ERROR, closer.name() + " was not closed in order", e);
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
   * @param exiting the thread that ends the JVM
   */
  void closeAll(Thread exiting) {
    List<Closer> left;
    synchronized (this) {
      ending = true;
      left = List.copyOf(closers);
    }
    long end = Clock.SYSTEM.nanos() + mostNanos;
    List<Thread> threads = new ArrayList<>();
    for (Closer closer : left) {
      System.getLogger(ExitHook.class.getName())
          .log(Level.INFO, "the JVM ends: closing " + closer.name());
      Runnable closing = () -> closer.closeAtExit(exiting);
      threads.add(start(closer, closing, "isobar-exit-" + closer.name()));
    }
    for (int i = 0; i < threads.size(); i++) {
      await(threads.get(i), end);
      if (threads.get(i).isAlive()) {
        System.getLogger(ExitHook.class.getName())
            .log(
                Level.WARNING,
                left.get(i).name()
                    + " was not closed within "
                    + TimeUnit.NANOSECONDS.toSeconds(mostNanos)
                    + " s, and the JVM ends: "
                    + left.get(i).atRisk()
                    + ". Close it before");
      }
    }
  }

  private static void await(Thread thread, long end) {
    while (thread.isAlive()) {
      long millis = TimeUnit.NANOSECONDS.toMillis(end - Clock.SYSTEM.nanos());
      if (millis <= 0) {
        return;
      }
      try {
        thread.join(millis);
      } catch (InterruptedException e) {
        // Nobody has a reason to; the time is bounded anyway.
        continue;
      }
    }
  }
}
