package io.isobardb.lsm.schedule;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Short work that another thread may do meanwhile, such as reading pages of a file. Whoever comes
 * first does it: a helper of the {@link Scheduler}, or the owner.
 *
 * <p>So an owner never waits for work that nobody has begun, and it is done even if there are no
 * helpers. What the work uses may be given back once {@link #finish} or {@link #cancel} has
 * returned: nobody is within it then, and nobody begins it any more.
 *
 * <p>Thread rule: {@link #run} may be called by any thread, the rest by the owner.
 */
public final class Errand {
  private enum Stage {
    OPEN,
    BEGUN,
    ENDED
  }

  private final Runnable work;
  private final Signal ended;
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.OPEN);

  /**
   * @param work takes no lock that the owner may hold while it waits
   * @param ended raised when the work ends; errands of one owner may share it
   */
  public Errand(Runnable work, Signal ended) {
    this.work = work;
    this.ended = ended;
  }

  /** Whether nobody has begun it or called it off. */
  public boolean isOpen() {
    return stage.get() == Stage.OPEN;
  }

  /**
   * Does the work, unless it is no longer open.
   *
   * @return whether it did
   */
  public boolean run() {
    if (!stage.compareAndSet(Stage.OPEN, Stage.BEGUN)) {
      return false;
    }
    try {
      work.run();
    } finally {
      stage.set(Stage.ENDED);
      ended.raise();
    }
    return true;
  }

  /** Does the work if nobody has begun it, and otherwise waits until it has ended. */
  public void finish() {
    if (!run()) {
      await();
    }
  }

  /** Calls the work off if nobody has begun it, and otherwise waits until it has ended. */
  public void cancel() {
    if (!stage.compareAndSet(Stage.OPEN, Stage.ENDED)) {
      await();
    }
  }

  /** Waits until a helper has done the work; it uses what is given back then, full heap or not. */
  public void await() {
    while (stage.get() != Stage.ENDED) {
      try {
        ended.await(() -> stage.get() == Stage.ENDED);
      } catch (OutOfMemoryError e) {
        FullHeap.pause();
      }
    }
  }
}
