package io.isobardb.bench.process;

import io.isobardb.cli.Program;
import io.isobardb.cli.console.ErrorText;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.Messages;
import java.util.Map;

/** How the processes that this program starts come to their end. */
public final class ChildMain {
  private ChildMain() {}

  /** What a process does. */
  public interface Work {
    /** Does it. */
    void run() throws Exception;
  }

  /** What a process does that is told what by a record, and tells how it goes. */
  public interface Told<T> {
    /** Does it. */
    void run(T spec, Events events) throws Exception;
  }

  /**
   * As {@link #run(Work)}, for a parent that uses {@link ChildJvm#runToEnd}: the first argument is
   * a record, standard output gets events, and the last one is sent once the work is done.
   */
  public static <T> void run(Class<T> spec, String[] args, Told<T> work) {
    run(
        () -> {
          Events events = new Events(System.out);
          work.run(Events.parse(spec, args[0]), events);
          events.send(Events.END, Map.of());
        });
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
    } catch (Throwable e) {
      // An error would end this thread alone, and the process with the code of a finding.
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
