package io.isobardb.lsm.event;

import java.lang.System.Logger.Level;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The JVM's log, as the store writes to it. Whatever fails there, its caller goes on: handlers of
 * the log are the user's code, and a message takes heap.
 *
 * <p>Thread rule: any thread.
 */
public final class SystemLog {
  private SystemLog() {}

  /** What a message is about. */
  public interface Subject {
    /** For messages, such as {@code "flush users"}. */
    String name();
  }

  /** Tells {@code text}. */
  public static void tell(Level level, Class<?> teller, String text, @Nullable Throwable cause) {
    try {
      System.getLogger(teller.getName()).log(level, text, cause);
    } catch (Throwable e) {
      // The heap is full, a handler has failed, or the log has ended with the JVM.
    }
  }

  /** The same with a text that is made only if somebody hears it. */
  public static void tell(
      Level level, Class<?> teller, Supplier<String> text, @Nullable Throwable cause) {
    try {
      System.getLogger(teller.getName()).log(level, text, cause);
    } catch (Throwable e) {
      // As above; or the text could not be made.
    }
  }

  /**
   * Tells the name of {@code subject} and {@code what}. For callers that the heap must not fail:
   * all that this allocates is allocated here.
   */
  public static void tell(
      Level level, Class<?> teller, Subject subject, String what, @Nullable Throwable cause) {
    try {
      System.getLogger(teller.getName()).log(level, subject.name() + what, cause);
    } catch (Throwable e) {
      // As above.
    }
  }
}
