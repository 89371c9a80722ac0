package io.isobardb.bench.process;

import io.isobardb.cli.Program;
import io.isobardb.cli.console.ErrorText;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.Messages;

/** How the processes that this program starts come to their end. */
public final class ChildMain {
  private ChildMain() {}

  /** What a process does. */
  public interface Work {
    /** Does it. */
    void run() throws Exception;
  }

  /**
   * Does the work and ends the JVM with the code that a command would have. What went wrong is told
   * in a line; with its stack trace, too, if that is asked for.
   */
  public static void run(Work work) {
    Messages.configure();
    Exit exit = Exit.SUCCESS;
    try {
      work.run();
    } catch (Exception e) {
      System.err.println(ErrorText.of(e));
      if (Program.traces()) {
        e.printStackTrace();
      }
      exit = Exit.of(e);
    }
    // Peers may leave threads behind.
    System.exit(exit.code());
  }
}
