package io.isobardb.lsm.schedule;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/** Tells virtual threads, which JDK 21 and later have, from others. */
public final class VirtualThreads {
  private static final @Nullable MethodHandle IS_VIRTUAL = find();

  private VirtualThreads() {}

  private static @Nullable MethodHandle find() {
    try {
      MethodType type = MethodType.methodType(boolean.class);
      return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", type);
    } catch (ReflectiveOperationException e) {
      return null; // An earlier JDK.
    }
  }

  /** Whether the calling thread is a virtual one: a call that blocks keeps its carrier busy. */
  public static boolean isCurrent() {
    MethodHandle isVirtual = IS_VIRTUAL;
    if (isVirtual == null) {
      return false;
    }
    try {
      return (boolean) isVirtual.invokeExact(Thread.currentThread());
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("Thread.isVirtual throws nothing", e);
    }
  }
}
