package io.isobardb.lsm.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** Lets one thread at a time in, and that one again within a call of its own. */
public final class OneThread {
  private static final VarHandle BUSY;

  static {
    try {
      BUSY = MethodHandles.lookup().findVarHandle(OneThread.class, "busy", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private int busy;

  /**
   * The thread that is in a call. Written by that thread, and read by others only to compare it
   * with them.
   */
  private @Nullable Thread holder;

  /** How many calls of the holder are under way within its first one. */
  private int depth;

  /** Begins a call; false if another thread is in one. */
  public boolean tryEnter() {
    Thread current = Thread.currentThread();
    if (BUSY.compareAndSet(this, 0, 1)) {
      holder = current;
    } else if (holder == current) {
      depth++;
    } else {
      return false;
    }
    return true;
  }

  /** Whether the caller, which is in a call, is in its first one. */
  public boolean isOutermost() {
    return depth == 0;
  }

  /** Ends a call. */
  public void exit() {
    if (depth > 0) {
      depth--;
    } else {
      holder = null;
      BUSY.setRelease(this, 0);
    }
  }
}
