package io.isobardb.ycsb;

import org.jspecify.annotations.Nullable;
import site.ycsb.DBException;

/**
 * What the client threads of a run share: opened by the first, closed after the last. Thread-safe.
 *
 * @param <T> what is shared
 */
public final class Shared<T> {
  private @Nullable T value;
  private int holders;

  /** Opens what is shared. */
  @FunctionalInterface
  public interface Opener<T> {
    /** Called by the first holder, under the lock. */
    T open() throws DBException;
  }

  /** Closes what is shared. */
  @FunctionalInterface
  public interface Closer<T> {
    /** Called by the last holder, under the lock. */
    void close(T value) throws DBException;
  }

  /** Returns what is shared, opening it if nobody holds it; if opening fails, nobody does. */
  public synchronized T acquire(Opener<T> opener) throws DBException {
    T open = value;
    if (open == null) {
      open = opener.open();
      value = open;
    }
    holders++;
    return open;
  }

  /** Gives up one hold; the last one closes, and even a close that fails leaves nothing behind. */
  public synchronized void release(Closer<T> closer) throws DBException {
    if (holders == 0) {
      throw new IllegalStateException("released more often than acquired");
    }
    T open = value;
    if (--holders == 0 && open != null) {
      value = null;
      closer.close(open);
    }
  }
}
