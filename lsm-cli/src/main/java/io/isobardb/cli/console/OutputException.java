package io.isobardb.cli.console;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Something that a command printed is lost; the command ends with {@link Exit#FAILURE}. */
public final class OutputException extends UncheckedIOException {
  private static final long serialVersionUID = 1L;

  /** Whether nobody reads the output any more. */
  private final boolean readerGone;

  /**
   * @param cause what the write failed with
   * @param readerGone whether nobody reads the output any more, as after {@code | head -1}
   */
  public OutputException(IOException cause, boolean readerGone) {
    super("standard output can't be written, so what was printed is incomplete", cause);
    this.readerGone = readerGone;
  }

  /** {@return whether there is no need to tell: whoever read the output has seen enough} */
  public boolean isReaderGone() {
    return readerGone;
  }
}
