package io.isobardb.zstd;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Supplier;

/**
 * Native contexts that nobody uses at the moment, a few at most.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Contexts<C extends AutoCloseable> {
  private static final int MOST = 2 * Runtime.getRuntime().availableProcessors();

  private final ArrayBlockingQueue<C> idle = new ArrayBlockingQueue<>(MOST);
  private final Supplier<C> make;

  Contexts(Supplier<C> make) {
    this.make = make;
  }

  C take() {
    C context = idle.poll();
    return context == null ? make.get() : context;
  }

  void give(C context) {
    if (!idle.offer(context)) {
      try {
        context.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
