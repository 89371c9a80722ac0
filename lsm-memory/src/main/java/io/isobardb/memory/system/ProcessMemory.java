package io.isobardb.memory.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sources of memory of this process.
 *
 * <p>Linux: what is held for long is mapped, so that it goes back to the system when it is freed.
 * Small pieces that come and go come from the C library's heap, which is faster. Other systems: all
 * comes from there.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class ProcessMemory {
  /** Blocks from this size on are mapped: they are the log's buffers and tables of large stores. */
  private static final int MAPPED_BLOCK_BYTES = 1 << 20;

  private static final @Nullable Arenas ARENAS = Arenas.SUPPORTED ? new Arenas() : null;
  private static final SystemMemory BUFFERS = new DirectBuffers(ARENAS);
  private static final @Nullable Mappings MAPPINGS =
      canMap()
          ? new Mappings(
              List.of(Path.of(System.getProperty("java.io.tmpdir", "/tmp")), Path.of("/dev/shm")),
              ARENAS,
              BUFFERS)
          : null;

  private ProcessMemory() {}

  private static boolean canMap() {
    return System.getProperty("os.name", "").equals("Linux")
        && (Arenas.SUPPORTED || DirectBuffers.canFree());
  }

  /** The process's number. {@code ProcessHandle} starts threads when it is first used. */
  public static long processId() {
    try {
      Path self = Files.readSymbolicLink(Path.of("/proc/self"));
      return Long.parseLong(self.toString());
    } catch (IOException | RuntimeException noProc) {
      return ProcessHandle.current().pid();
    }
  }

  /** For slabs: many regions of one size, which stay for long. */
  public static SystemMemory slabs() {
    return MAPPINGS == null ? BUFFERS : MAPPINGS;
  }

  /** For single regions of any size, which may come and go often. */
  public static SystemMemory blocks() {
    return bytes -> bytes < MAPPED_BLOCK_BYTES ? BUFFERS.take(bytes) : slabs().take(bytes);
  }

  /**
   * Why freed memory may stay with the process instead of going back to the system; null if there
   * is no reason.
   */
  public static @Nullable String whyNotGivenBack() {
    return MAPPINGS == null
        ? "this system, or this version of Java, maps no memory that can be unmapped"
        : MAPPINGS.failure();
  }
}
