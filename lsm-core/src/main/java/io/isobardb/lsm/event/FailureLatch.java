package io.isobardb.lsm.event;

import io.isobardb.lsm.error.ReadOnlyException;
import io.isobardb.lsm.error.StoreFailedException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the first failure that stops a store from writing. Later ones are attached to it.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class FailureLatch {
  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();
  private final Listener listener;
  private volatile boolean told;
  private volatile @Nullable String readOnly;

  /** Is told of the first failure. */
  public interface Listener {
    /** The store takes no more writes: wakes those that wait. */
    void onStopped(Throwable cause);
  }

  public FailureLatch(Listener listener) {
    this.listener = listener;
  }

  /** Stops the store from writing. */
  public void fail(Throwable cause) {
    if (first.compareAndSet(null, cause)) {
      listener.onStopped(cause);
      return;
    }
    Throwable known = first.get();
    if (known != null && known != cause) {
      known.addSuppressed(cause);
    }
  }

  /** What stopped the store, or null. */
  public @Nullable Throwable cause() {
    return first.get();
  }

  /** Has {@link #check} refuse all writes from now on, though nothing has failed. */
  public void setReadOnly(String path) {
    readOnly = path;
  }

  /** Whether {@link #setReadOnly} was called. */
  public boolean isReadOnly() {
    return readOnly != null;
  }

  /** A caller has been told of the failure otherwise than by {@link #check}. */
  public void markTold() {
    told = true;
  }

  /** Whether some call has thrown what stopped the store. */
  public boolean told() {
    return told;
  }

  /**
   * Passes if the store may write.
   *
   * @throws StoreFailedException if it may not; its cause is the first failure
   * @throws ReadOnlyException if it was opened to be read only
   */
  public void check() {
    Throwable cause = first.get();
    if (cause != null) {
      told = true;
      throw new StoreFailedException(
          "the store takes no more writes since "
              + cause
              + "; reads go on. Close it, mend the"
              + " cause, and open it again",
          cause);
    }
    String path = readOnly;
    if (path != null) {
      throw new ReadOnlyException(
          "the store in " + path + " was opened to be read only; open it with Store.open to write");
    }
  }
}
