package io.isobardb.lsm.flush;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.state.TreeHandle;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Flushes, at the end of a store, what the next opening would take long to replay. Memory is on
 * disk several times sooner than its writes are applied again, and a flush leaves out what was
 * overwritten. Trees that hold little are left to the log: an SSTable each would take longer.
 *
 * <p>Nothing depends on it: what is not flushed is in the log.
 */
public final class ClosingFlush {
  /** A log of this length is replayed in a quarter of a second, about. */
  private static final long SHORT_LOG_BYTES = 64L << 20;

  /** What a tree holds at least, if it is worth an SSTable. */
  private static final long LEAST_BYTES = 2L << 20;

  /** Whoever ends a process waits no longer than some seconds, and kills it then. */
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Engine engine;
  private final Flusher flusher;

  public ClosingFlush(Engine engine, Flusher flusher) {
    this.engine = engine;
    this.flusher = flusher;
  }

  /** Whether it pays to flush a tree that holds so much, with so much of the log needed. */
  private static boolean pays(long neededLogBytes, long memoryBytes) {
    return neededLogBytes > SHORT_LOG_BYTES && memoryBytes >= LEAST_BYTES;
  }

  /** Flushes for a few seconds at most. Nobody writes any more, and no flush fails the caller. */
  public void run() {
    if (engine.environment().storage().discardsChanges()) {
      return;
    }
    long end = engine.log().end();
    long needed = end - engine.catalog().neededLsn();
    List<TreeHandle> trees =
        engine.catalog().holders().stream()
            .filter(tree -> pays(needed, tree.states().current().memoryBytes()))
            .toList();
    long until = engine.nanos() + MOST_NANOS;
    // All are begun before the first one is waited for: threads share them.
    trees.stream().takeWhile(tree -> goesOn()).forEach(flusher::flushAll);
    for (TreeHandle tree : trees) {
      while (isHeld(tree, end) && goesOn()) {
        flusher.flushAll(tree);
        if (!tree.memory().await(until - engine.nanos())) {
          return;
        }
      }
    }
  }

  private boolean goesOn() {
    return engine.failure().cause() == null && !engine.space().isFull();
  }

  private boolean isHeld(TreeHandle tree, long end) {
    return tree.states().current().minMemoryLsn(engine.log().durable()) < end;
  }
}
