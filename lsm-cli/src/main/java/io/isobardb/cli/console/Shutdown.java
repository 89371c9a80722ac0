package io.isobardb.cli.console;

/** Whether the process is being ended: by Ctrl-C, or another signal. */
public final class Shutdown {
  private Shutdown() {}

  /**
   * {@return whether hooks run already} What fails from then on is no news: all is being taken
   * away.
   */
  public static boolean isUnderWay() {
    Thread probe = new Thread(() -> {}, "shutdown-probe");
    try {
      Runtime.getRuntime().addShutdownHook(probe);
      Runtime.getRuntime().removeShutdownHook(probe);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }
}
