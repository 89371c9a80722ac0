package io.isobardb.memory.system;

import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import org.jspecify.annotations.Nullable;

/**
 * A part of a file as memory. The system owns the bytes: they outlive the process, and are durable
 * after {@link #force}.
 *
 * <p>Thread rule: as with {@link Region}. {@link #force} may be called by any thread until {@link
 * #free}.
 */
public final class FileMapping {
  private static final @Nullable Arenas ARENAS = Arenas.SUPPORTED ? new Arenas() : null;

  private final ByteBuffer bytes;
  private final Region region;

  private FileMapping(ByteBuffer bytes, Runnable free) {
    this.bytes = bytes;
    this.region = new Region(new Memory(bytes), free);
  }

  /**
   * Maps a part of a file, which stays mapped if the channel is closed.
   *
   * @throws IOException if the file system can't
   */
  public static FileMapping of(FileChannel file, long offset, int bytes) throws IOException {
    if (ARENAS != null) {
      Arenas.Buffer buffer = ARENAS.map(file, MapMode.READ_WRITE, offset, bytes);
      return new FileMapping(buffer.bytes(), buffer::free);
    }
    MappedByteBuffer mapped = file.map(MapMode.READ_WRITE, offset, bytes);
    return new FileMapping(mapped, () -> DirectBuffers.free(mapped));
  }

  public Memory memory() {
    return region.memory();
  }

  /** Makes durable what was stored before the call. */
  public void force() throws IOException {
    try {
      ((MappedByteBuffer) bytes).force();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Unmaps the memory. The file keeps what was stored. */
  public void free() {
    region.free();
  }
}
