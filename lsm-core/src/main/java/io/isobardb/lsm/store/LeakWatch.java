package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.event.SystemLog;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Remembers where users have taken what they have to close, to name what they forget. Does nothing
 * unless the JVM was started with {@code -Disobar.leaks=true}, for each stack trace costs some
 * microseconds.
 *
 * <p>Told of is what is left when the store is closed, and a store or snapshot as soon as garbage
 * collection finds that nobody can close it any more. What is done about a lost store: {@link
 * Lifetime}.
 *
 * <p>Thread rule: all methods may be called by any thread. Refers to nothing that users hold, so
 * that they can lose it.
 */
public final class LeakWatch {
  /** The system property; looked at when a store is opened. */
  public static final String SWITCH = "isobar.leaks";

  /** What the names of the engine's classes begin with. */
  private static final String ENGINE = "io.isobardb.lsm.";

  /** Where something was taken. */
  public static final class Origin extends Exception {
    private static final long serialVersionUID = 1L;

    private final String what;
    private final long number;
    private final long nanos;

    private Origin(String what, long number, long nanos) {
      super(what + " was taken here, by thread '" + Thread.currentThread().getName() + "'");
      this.what = what;
      this.number = number;
      this.nanos = nanos;
    }
  }

  /** The method that called the store when {@code call} was made. */
  private static String place(Throwable call) {
    for (StackTraceElement frame : call.getStackTrace()) {
      if (!frame.getClassName().startsWith(ENGINE)) {
        return frame.toString();
      }
    }
    return "an unknown place";
  }

  /** The thread and the place that call the store now, in words. */
  static String here() {
    return "by thread '" + Thread.currentThread().getName() + "' at " + place(new Throwable());
  }

  /** See {@link #cleaner}. */
  private static @Nullable Cleaner cleaner;

  private final Engine engine;
  private final boolean on = Boolean.getBoolean(SWITCH);
  private final AtomicLong numbers = new AtomicLong();
  private final Set<Origin> taken = ConcurrentHashMap.newKeySet();

  /**
   * Tells what can't be reached any more. Made when it is first used, as it has a thread. If that
   * can't be started, the next call tries again, which the initializer of a class never does.
   */
  static synchronized Cleaner cleaner() {
    Cleaner made = cleaner;
    if (made == null) {
      made = Cleaner.create();
      cleaner = made;
    }
    return made;
  }

  LeakWatch(Engine engine) {
    this.engine = engine;
  }

  /**
   * Something is being taken.
   *
   * @param what what it is
   * @param of and of what; empty if there is no more to say
   * @return what to give to {@link #onClosed}; null if nobody has asked
   */
  @Nullable Origin taken(String what, String of) {
    if (!on) {
      return null;
    }
    Origin origin = new Origin(what + of, numbers.getAndIncrement(), engine.nanos());
    taken.add(origin);
    return origin;
  }

  /** Tells, once {@code handle} can't be reached any more, if it was not closed by then. */
  void watch(Object handle, @Nullable Origin origin) {
    if (origin != null) {
      cleaner().register(handle, () -> unreachable(origin));
    }
  }

  /** Has been closed. */
  void onClosed(@Nullable Origin origin) {
    if (origin != null) {
      taken.remove(origin);
    }
  }

  private void unreachable(Origin origin) {
    if (taken.remove(origin)) {
      tell(origin, "was lost without being closed");
    }
  }

  /**
   * The store is being closed: tells of what is left.
   *
   * @param counts how much that is, in words
   */
  void tellLeft(String counts) {
    List<Origin> left = left();
    String hint = on ? "" : "; -D" + SWITCH + "=true tells where they come from";
    log(" is closed with " + counts + " open" + hint, null);
    for (Origin origin : left) {
      onClosed(origin);
      tell(origin, "was not closed before the store was");
    }
  }

  private void tell(Origin origin, String how) {
    log(": " + origin.what + " " + how, origin);
    engine.observers().onLeaked(origin.what, origin);
  }

  private void log(String what, @Nullable Throwable origin) {
    SystemLog.tell(
        Level.WARNING, LeakWatch.class, () -> engine.environment().storage().path() + what, origin);
  }

  /** What has not been closed, from the oldest on: what it is, for how long, and from where. */
  List<String> texts() {
    long now = engine.nanos();
    return left().stream()
        .map(
            origin ->
                String.format(
                    Locale.ROOT,
                    "%s, for %d s, by %s",
                    origin.what,
                    TimeUnit.NANOSECONDS.toSeconds(now - origin.nanos),
                    place(origin)))
        .toList();
  }

  private List<Origin> left() {
    return taken.stream().sorted(Comparator.comparingLong(origin -> origin.number)).toList();
  }
}
