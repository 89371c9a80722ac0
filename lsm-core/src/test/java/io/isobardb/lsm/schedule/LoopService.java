package io.isobardb.lsm.schedule;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A service that catches up with a counter. */
final class LoopService implements Service {
  final AtomicLong wanted = new AtomicLong();
  volatile long done;
  volatile long runs;
  volatile boolean broken;
  volatile @Nullable Throwable failure;
  @Nullable Signal progress;

  @Override
  public String name() {
    return "loop";
  }

  @Override
  public boolean ready() {
    return wanted.get() > done;
  }

  @Override
  public void run() {
    if (broken) {
      throw new IllegalStateException("broken");
    }
    runs = runs + 1;
    done = wanted.get();
    if (progress != null) {
      progress.raise();
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    failure = cause;
    if (progress != null) {
      progress.raise();
    }
  }
}
