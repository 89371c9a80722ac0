package io.isobardb.cli.console;

import org.jspecify.annotations.Nullable;

/** Ends a command with a message for people and a certain exit code. */
public final class FailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** How the command ends. */
  private final Exit exit;

  /**
   * @param exit how the command ends
   * @param message what happened, where, and what to do
   */
  public FailedException(Exit exit, String message) {
    this(exit, message, null);
  }

  /**
   * The end of a command that has failed.
   *
   * @param exit the code it ends with
   * @param message for the user, on one line
   * @param cause for whoever asks for stack traces; or null
   */
  public FailedException(Exit exit, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exit = exit;
  }

  /** {@return how the command ends} */
  public Exit exit() {
    return exit;
  }
}
