package io.isobardb.lsm.recovery;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The steps of closing something, taken in order. A failure of one does not keep the others from
 * being taken; the first failure is thrown at the end.
 *
 * <p>A step is of one of two kinds. Most are begun once: what one has half freed must not be freed
 * again. A {@linkplain #addRepeatable repeatable} step is one that the following steps rely on,
 * such as a wait for readers before their memory is freed. If it throws, {@link #takeAll} ends
 * there, and the next call begins with that step.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class ClosingSteps {
  private record Step(Closeable work, boolean repeatable) {}

  private final List<Step> steps = new ArrayList<>();

  /** Steps before this one are not begun any more. */
  private int next;

  private @Nullable Throwable first;

  /** Adds a step that is begun once. */
  public void add(Closeable step) {
    steps.add(new Step(step, false));
  }

  /** Adds a step that must have ended before the following ones are begun. */
  public void addRepeatable(Closeable step) {
    steps.add(new Step(step, true));
  }

  /** Notes a failure, which is thrown at the end. */
  public void noteFailure(Throwable failure) {
    if (first == null) {
      first = failure;
    } else if (first != failure) {
      first.addSuppressed(failure);
    }
  }

  /** Whether all steps have been taken. */
  public boolean isDone() {
    return next == steps.size();
  }

  /**
   * Takes the steps that are left.
   *
   * @throws IOException or what else was the first failure; or what ended a repeatable step
   */
  public void takeAll() throws IOException {
    // An error may come at any place, here too, if the stack or the heap is exhausted.
    while (!isDone()) {
      Step step = steps.get(next);
      if (step.repeatable) {
        step.work.close();
        next++;
      } else {
        next++;
        try {
          step.work.close();
        } catch (IOException | RuntimeException | Error e) {
          noteFailure(e);
        }
      }
    }
    Throwable failure = first;
    first = null;
    if (failure instanceof IOException e) {
      throw e;
    } else if (failure instanceof RuntimeException e) {
      throw e;
    } else if (failure instanceof Error e) {
      throw e;
    }
  }
}
