package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.WaitNotes;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches threads that test a store: no call may take longer than a bound, in real time.
 *
 * <p>A watched thread says by {@link #mark} which call it begins. If a call is still under way
 * after the bound, the watchdog writes a report, once: how to repeat the run, which call it was,
 * and of all threads the stack and the signal they wait for.
 *
 * <p>Thread rule: all methods may be called by any thread. A watchdog has a thread of its own until
 * it is closed.
 */
public final class Watchdog implements AutoCloseable {
  /** The bound if there is no reason for another one: {@code -Disobar.watchdog.seconds=60}. */
  public static final Duration BOUND =
      Duration.ofSeconds(Long.getLong("isobar.watchdog.seconds", 60));

  /** The exit code of a process that was halted because a call did not end. */
  public static final int EXIT_CODE = 86;

  /** Whether watched threads are virtual ones, which JDK 21 and later have. */
  private static final boolean VIRTUAL = Boolean.getBoolean("isobar.threads.virtual");

  private static final ThreadLocal<@Nullable Watched> CURRENT = new ThreadLocal<>();

  /** A call did not end. The message is the report. */
  public static final class HangError extends AssertionError {
    private static final long serialVersionUID = 1L;

    HangError(String report) {
      super(report);
    }
  }

  /** That a thread is watched. */
  @FunctionalInterface
  public interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  /** A thread, and the call it is in. */
  private static final class Watched {
    final Thread thread = Thread.currentThread();
    volatile @Nullable Object call;

    /** When the call began. Written before {@link #call}. */
    volatile long since;
  }

  private final String context;
  private final Duration bound;
  private final Consumer<String> onHang;
  private final Set<Watched> watched = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();
  private final AtomicBoolean told = new AtomicBoolean();

  /**
   * @param context how to repeat the run: its seed, or the command
   * @param bound how long a call may take
   * @param onHang is given the report, once, on the watchdog's thread
   */
  public Watchdog(String context, Duration bound, Consumer<String> onHang) {
    this.context = context;
    this.bound = bound;
    this.onHang = onHang;
    WaitNotes.start();
    Thread thread = new Thread(this::look, "watchdog");
    thread.setDaemon(true);
    thread.start();
  }

  /** Logs a report and ends the process at once, with {@link #EXIT_CODE}. */
  public static void halt(String report) {
    System.getLogger(Watchdog.class.getName()).log(Level.ERROR, report);
    Runtime.getRuntime().halt(EXIT_CODE);
  }

  /**
   * As {@link #run(String, Duration, Consumer)}, with {@link #BOUND}.
   *
   * @throws HangError if a call takes longer
   */
  public static void run(String context, Consumer<Watchdog> body) {
    run(context, BOUND, body);
  }

  /**
   * Runs {@code body} on a watched thread of its own, and waits for it. A thread that hangs is left
   * behind, as a daemon.
   *
   * @param context as for the constructor
   * @param bound how long a call may take
   * @throws HangError if a call takes longer; other exceptions are those of {@code body}
   */
  public static void run(String context, Duration bound, Consumer<Watchdog> body) {
    CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
    Consumer<String> onHang = report -> end.completeExceptionally(new HangError(report));
    try (Watchdog watchdog = new Watchdog(context, bound, onHang)) {
      Thread thread =
          watchdog.start(
              Thread.currentThread().getName() + ", watched",
              () -> {
                try {
                  body.accept(watchdog);
                  end.complete(null);
                } catch (Throwable e) {
                  end.completeExceptionally(e);
                }
              });
      try {
        end.get();
      } catch (InterruptedException e) {
        thread.interrupt();
        Thread.currentThread().interrupt();
        throw new CompletionException(context + " was interrupted", e);
      } catch (ExecutionException e) {
        rethrow(e.getCause());
      }
    }
  }

  private static void rethrow(@Nullable Throwable cause) {
    if (cause instanceof RuntimeException e) {
      throw e;
    } else if (cause instanceof Error e) {
      throw e;
    }
    throw new CompletionException(cause);
  }

  private static Thread thread(Runnable body, String name) {
    if (!VIRTUAL) {
      return new Thread(body, name);
    }
    try {
      Class<?> builder = Class.forName("java.lang.Thread$Builder");
      Object named =
          builder
              .getMethod("name", String.class)
              .invoke(Thread.class.getMethod("ofVirtual").invoke(null), name);
      return (Thread) builder.getMethod("unstarted", Runnable.class).invoke(named, body);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JDK has no virtual threads", e);
    }
  }

  /** Starts a daemon thread that is watched as long as it runs. */
  public Thread start(String name, Runnable body) {
    Thread thread = thread(() -> watch(body), name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Runs {@code body} on the current thread, watched. */
  public void watch(Runnable body) {
    Watch watch = watch();
    try {
      body.run();
    } finally {
      watch.close();
    }
  }

  /** Watches the current thread until what this returns is closed, by the same thread. */
  public Watch watch() {
    Watched before = CURRENT.get();
    Watched fresh = new Watched();
    fresh.since = Clock.SYSTEM.nanos();
    fresh.call = "its beginning";
    CURRENT.set(fresh);
    watched.add(fresh);
    return () -> {
      watched.remove(fresh);
      CURRENT.set(before);
    };
  }

  /** The current thread begins a call, if it is watched. Ends the one before. */
  public static void mark(Object call) {
    Watched current = CURRENT.get();
    if (current != null) {
      current.since = Clock.SYSTEM.nanos();
      current.call = call;
    }
  }

  /** The current thread is in no call, until the next {@link #mark}. */
  public static void unmark() {
    Watched current = CURRENT.get();
    if (current != null) {
      current.call = null;
    }
  }

  private void look() {
    long pollMillis = Math.max(10, Math.min(1000, bound.toMillis() / 10));
    while (!told.get()) {
      try {
        closed.get(pollMillis, TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException e) {
        lookOnce();
      } catch (InterruptedException | ExecutionException e) {
        return;
      }
    }
  }

  private void lookOnce() {
    long now = Clock.SYSTEM.nanos();
    for (Watched each : watched) {
      Object call = each.call;
      long nanos = now - each.since;
      if (call != null && nanos > bound.toNanos() && told.compareAndSet(false, true)) {
        onHang.accept(report(each, call, nanos));
        return;
      }
    }
  }

  private String report(Watched hanging, Object call, long nanos) {
    StringBuilder text =
        new StringBuilder(context)
            .append(": thread '")
            .append(hanging.thread.getName())
            .append("' has been in '")
            .append(call)
            .append("' for ")
            .append(TimeUnit.NANOSECONDS.toSeconds(nanos))
            .append(" s");
    describe(text, hanging.thread, hanging.thread.getStackTrace());
    Thread.getAllStackTraces().entrySet().stream()
        .filter(entry -> entry.getKey() != hanging.thread && entry.getValue().length > 0)
        .sorted(Comparator.comparing(entry -> entry.getKey().getName()))
        .forEach(entry -> describe(text, entry.getKey(), entry.getValue()));
    return text.toString();
  }

  private void describe(StringBuilder text, Thread thread, StackTraceElement[] stack) {
    text.append("\n\nthread '").append(thread.getName()).append("', ").append(thread.getState());
    String what = WaitNotes.of(thread);
    if (what != null) {
      text.append(", waits for ").append(what);
    }
    for (Watched each : watched) {
      Object call = each.call;
      if (each.thread == thread && call != null) {
        text.append(", in '").append(call).append('\'');
      }
    }
    for (StackTraceElement frame : stack) {
      text.append("\n    at ").append(frame);
    }
  }

  /** Watches nobody any more. */
  @Override
  public void close() {
    if (closed.complete(null)) {
      WaitNotes.stop();
    }
  }
}
