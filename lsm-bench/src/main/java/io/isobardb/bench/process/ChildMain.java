package io.isobardb.bench.process;

import io.isobardb.cli.console.ErrorText;
import io.isobardb.cli.console.Messages;
import io.isobardb.lsm.error.IsobarException;
import java.io.IOException;
import java.io.UncheckedIOException;

/** How the processes that this program starts come to their end. */
public final class ChildMain {
  private ChildMain() {}

  /** What a process does. */
  public interface Work {
    /** Does it. */
    void run() throws Exception;
  }

  /**
   * Does the work and ends the JVM, with 0 if all went well, 2 if what it was told made no sense,
   * else 1. What went wrong is told in a line; with its stack trace, too, if it should not happen,
   * or if the property {@code isobar.trace} is set.
   */
  public static void run(Work work) {
    Messages.configure();
    int code = 0;
    try {
      work.run();
    } catch (Exception e) {
      System.err.println(ErrorText.of(e));
      if (Boolean.getBoolean("isobar.trace") || !isForPeople(e)) {
        e.printStackTrace();
      }
      code = e instanceof IllegalArgumentException ? 2 : 1;
    }
    // Peers may leave threads behind.
    System.exit(code);
  }

  private static boolean isForPeople(Exception e) {
    return e instanceof IllegalArgumentException
        || e instanceof IllegalStateException
        || e instanceof IsobarException
        || e instanceof IOException
        || e instanceof UncheckedIOException;
  }
}
