package io.isobardb.lsm.error;

/**
 * What code that users give to a store may throw, here and above: operators, filters, extractors,
 * orders, listeners, actions.
 *
 * <p>Whatever it throws is its own failure, and touches only the key, record or event that it was
 * asked about. That includes each {@link Error} and exceptions that are not declared, which other
 * languages throw: a stack overflow, a class that can't be loaded, and an array too large for the
 * heap come from what the code did for this key, and come again with the key. Only what says that
 * the JVM itself is broken, a {@link VirtualMachineError} of another kind, is nobody's failure and
 * passes.
 *
 * <p>A caller of such code catches {@link Throwable} and asks {@link #failure}.
 */
public final class UserCode {
  private UserCode() {}

  /**
   * {@return what user code threw, to be told as its failure}
   *
   * @param thrown by a user's code
   * @throws VirtualMachineError what was thrown, if it says that the JVM is broken
   */
  public static Throwable failure(Throwable thrown) {
    if (thrown instanceof VirtualMachineError broken
        && !(thrown instanceof StackOverflowError)
        && !(thrown instanceof OutOfMemoryError)) {
      throw broken;
    }
    return thrown;
  }

  /**
   * {@return the failure as a message shows it: its class, and its message if that can be had}
   * {@code toString} and {@code getMessage} may be the user's code, too.
   *
   * @param thrown by a user's code
   */
  public static String shown(Throwable thrown) {
    try {
      return String.valueOf(thrown);
    } catch (Throwable e) {
      failure(e);
      return thrown.getClass().getName();
    }
  }
}
