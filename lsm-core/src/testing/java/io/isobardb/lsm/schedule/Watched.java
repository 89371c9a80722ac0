package io.isobardb.lsm.schedule;

import io.isobardb.lsm.simulation.Watchdog;
import java.util.Base64;

/** Calls of tests on their own thread, under a watchdog that halts the process if one hangs. */
public final class Watched {
  private static final Watchdog WATCHDOG = new Watchdog("a test", Watchdog.BOUND, Watchdog::halt);

  private Watched() {}

  /** What is called. */
  @FunctionalInterface
  public interface Call<X extends Exception> {
    void run() throws X;
  }

  /** A fuzzer's input, as text only if it is asked for. */
  private record Input(String target, byte[] bytes) {
    @Override
    public String toString() {
      return target + ", input in Base64: " + Base64.getEncoder().encodeToString(bytes);
    }
  }

  /**
   * Makes a call.
   *
   * @param what names it in the report; with the seed, if there is one
   */
  public static <X extends Exception> void call(Object what, Call<X> call) throws X {
    Watchdog.Watch watch = WATCHDOG.watch();
    try {
      Watchdog.mark(what);
      call.run();
    } finally {
      watch.close();
    }
  }

  /** Looks at a fuzzer's input. */
  public static <X extends Exception> void input(String target, byte[] input, Call<X> call)
      throws X {
    call(new Input(target, input), call);
  }
}
