package io.isobardb.memory.pool;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An object of each thread, to be used again: what a thread reads or writes with costs no
 * allocation then.
 *
 * <p>A thread that lives on keeps nothing of a store that was closed, nor of a class loader that is
 * not used any more, and a store nothing of threads that have ended. Such an object may lead to all
 * of a store, and its class to the class loader: so a thread's own reference to it is a weak one.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class PerThread<T extends PerThread.Reusable> {
  /** What a thread can use again, once it is done with it. */
  public interface Reusable {
    /** Takes it for a use; false if it is in use, by a call that has called this thread. */
    boolean tryTake();
  }

  private final Supplier<T> maker;
  private final ThreadLocal<@Nullable WeakReference<T>> own = new ThreadLocal<>();

  /** What keeps the objects. Guarded by itself. */
  private final Map<Thread, T> kept = new WeakHashMap<>();

  /**
   * @param maker makes a thread's object when it is first asked for; it must not refer to the
   *     thread
   */
  public PerThread(Supplier<T> maker) {
    this.maker = maker;
  }

  /**
   * Takes the calling thread's own, or a new one if that is in use: an order, an operator or a
   * listener may be called within a use, and begin another one.
   */
  public T take() {
    WeakReference<T> reference = own.get();
    T object = reference == null ? null : reference.get();
    if (object == null) {
      object = make();
    }
    if (object.tryTake()) {
      return object;
    }
    T another = maker.get();
    another.tryTake();
    return another;
  }

  private T make() {
    T made = maker.get();
    synchronized (kept) {
      kept.put(Thread.currentThread(), made);
    }
    own.set(new WeakReference<>(made));
    return made;
  }
}
