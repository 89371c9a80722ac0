package io.isobardb.memory.system;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of shared arenas ({@code java.lang.foreign}), which are freed by closing the arena.
 *
 * <p>Called by reflection, since the code is compiled for Java 17. Used from Java 25 on: before
 * that, {@code CRC32C} refuses such buffers (JDK-8357145).
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Arenas {
  /** Whether this JVM has arenas whose buffers can be used everywhere. */
  static final boolean SUPPORTED = Runtime.version().feature() >= 25;

  private final Method ofShared;
  private final Method allocate;
  private final Method map;
  private final Method asByteBuffer;

  Arenas() {
    try {
      Class<?> arena = Class.forName("java.lang.foreign.Arena");
      Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
      ofShared = arena.getMethod("ofShared");
      allocate = arena.getMethod("allocate", long.class, long.class);
      map = FileChannel.class.getMethod("map", MapMode.class, long.class, long.class, arena);
      asByteBuffer = segment.getMethod("asByteBuffer");
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("java.lang.foreign is not as expected", e);
    }
  }

  /** A buffer, and the arena that frees it. */
  record Buffer(ByteBuffer bytes, AutoCloseable arena) {
    void free() {
      try {
        arena.close();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** A buffer of zeros from the C heap, aligned to {@link Region#ALIGNMENT}. */
  Buffer allocate(int bytes) {
    AutoCloseable arena = newArena();
    try {
      return buffer(allocate.invoke(arena, (long) bytes, (long) Region.ALIGNMENT), arena);
    } catch (ReflectiveOperationException e) {
      throw unchecked(closing(arena, cause(e)));
    }
  }

  /** A part of a file. */
  Buffer map(FileChannel file, MapMode mode, long offset, int bytes) throws IOException {
    AutoCloseable arena = newArena();
    try {
      return buffer(map.invoke(file, mode, offset, (long) bytes, arena), arena);
    } catch (ReflectiveOperationException e) {
      Throwable cause = closing(arena, cause(e));
      if (cause instanceof IOException failed) {
        throw failed;
      }
      throw unchecked(cause);
    }
  }

  private AutoCloseable newArena() {
    try {
      return (AutoCloseable) ofShared.invoke(null);
    } catch (ReflectiveOperationException e) {
      throw unchecked(cause(e));
    }
  }

  private Buffer buffer(Object segment, AutoCloseable arena) throws ReflectiveOperationException {
    return new Buffer((ByteBuffer) asByteBuffer.invoke(segment), arena);
  }

  private static Throwable cause(ReflectiveOperationException e) {
    @Nullable Throwable cause = e instanceof InvocationTargetException ? e.getCause() : null;
    return cause == null ? e : cause;
  }

  private static Throwable closing(AutoCloseable arena, Throwable cause) {
    try {
      arena.close();
    } catch (Exception e) {
      cause.addSuppressed(e);
    }
    return cause;
  }

  private static RuntimeException unchecked(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof RuntimeException e ? e : new IllegalStateException(cause);
  }
}
