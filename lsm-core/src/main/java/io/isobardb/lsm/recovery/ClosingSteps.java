package io.isobardb.lsm.recovery;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/** Steps of which each is to be taken, whatever becomes of the others. */
final class ClosingSteps {
  private ClosingSteps() {}

  /** Takes all steps, in order; the first failure is thrown then. */
  static void takeAll(List<Closeable> steps) throws IOException {
    Throwable first = null;
    for (Closeable step : steps) {
      try {
        step.close();
      } catch (IOException | RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first instanceof IOException e) {
      throw e;
    } else if (first instanceof RuntimeException e) {
      throw e;
    } else if (first instanceof Error e) {
      throw e;
    }
  }
}
