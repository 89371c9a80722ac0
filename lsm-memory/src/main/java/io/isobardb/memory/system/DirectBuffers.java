package io.isobardb.memory.system;

import io.isobardb.memory.page.Memory;
import io.netty.util.internal.PlatformDependent;
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
  private final @Nullable Arenas arenas;

  DirectBuffers(@Nullable Arenas arenas) {
    this.arenas = arenas;
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

  /** Whether {@link #free} frees at once. Netty does not on Java 24, and if it was told not to. */
  static boolean canFree() {
    return Runtime.version().feature() < 24 && PlatformDependent.canReliabilyFreeDirectBuffers();
  }

  /** Frees a buffer, a mapped one as well, of a JVM without {@link Arenas}. */
  @SuppressWarnings("deprecation") // The replacement frees only what Netty has allocated.
  static void free(ByteBuffer whole) {
    PlatformDependent.freeDirectBuffer(whole);
  }
}
