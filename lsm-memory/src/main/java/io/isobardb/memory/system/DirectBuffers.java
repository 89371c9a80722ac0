package io.isobardb.memory.system;

import io.isobardb.memory.page.Memory;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Regions that the JVM takes from the C library's heap.
 *
 * <p>Cheap to take and to free, but the C library may keep what is freed: glibc does so for sizes
 * up to 32 MB once a piece of that size has been freed. On Java 24 no way of freeing a direct
 * buffer is both complete and free of warnings, so there the garbage collector frees regions.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class DirectBuffers implements SystemMemory {
  private static final @Nullable Cleaner CLEANER = Cleaner.find();

  private final @Nullable Arenas arenas;

  DirectBuffers(@Nullable Arenas arenas) {
    this.arenas = arenas;
  }

  /** {@code sun.misc.Unsafe.invokeCleaner}, which later JDKs warn of. */
  private record Cleaner(Object unsafe, Method invoke) {
    static @Nullable Cleaner find() {
      if (Runtime.version().feature() >= 24) {
        return null;
      }
      try {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field instance = type.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        return new Cleaner(instance.get(null), type.getMethod("invokeCleaner", ByteBuffer.class));
      } catch (ReflectiveOperationException | RuntimeException e) {
        // A JVM without it: the garbage collector frees buffers.
        return null;
      }
    }
  }

  @Override
  public Region take(int bytes) {
    if (arenas != null) {
      Arenas.Buffer buffer = arenas.allocate(bytes);
      return new Region(new Memory(buffer.bytes()), buffer::free);
    }
    ByteBuffer whole = ByteBuffer.allocateDirect(Math.addExact(bytes, Region.ALIGNMENT));
    int past = whole.alignmentOffset(0, Region.ALIGNMENT);
    ByteBuffer aligned = whole.slice(past == 0 ? 0 : Region.ALIGNMENT - past, bytes);
    return new Region(new Memory(aligned), () -> free(whole));
  }

  /** Whether {@link #free} frees at once. */
  static boolean canFree() {
    return CLEANER != null;
  }

  /** Frees a buffer, a mapped one as well, if there is a way. It is no slice, nor a duplicate. */
  static void free(ByteBuffer whole) {
    if (CLEANER == null) {
      return;
    }
    try {
      CLEANER.invoke.invoke(CLEANER.unsafe, whole);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a buffer can't be freed", e);
    }
  }
}
