package io.isobardb.memory.system;

import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Regions that are private mappings of one file of zeros. Freeing one unmaps it, so its memory goes
 * back to the system at once, whatever the C library does.
 *
 * <p>All regions map the first bytes of the same file. A page of a region is the file's until it is
 * first written; then the system copies it, and from there on it is anonymous memory. Nothing is
 * ever written back. So the file only has to be as long as the largest region, and its pages in the
 * page cache are shared by all regions.
 *
 * <p>The file is unlinked as soon as it is open: nothing is left behind, however the process ends.
 * On a disk it is sparse and reading it needs no I/O. In a file system that is memory itself it is
 * filled: there, reading a hole takes memory, and access to a mapping would fail if there is none.
 *
 * <p>Thread rule: all methods may be called by any thread. Interrupts are kept, and do no harm.
 */
final class Mappings implements SystemMemory {
  private static final Set<StandardOpenOption> NEW_FILE =
      Set.of(
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.CREATE_NEW,
          StandardOpenOption.SPARSE,
          StandardOpenOption.DELETE_ON_CLOSE);

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Names that other processes may have left behind are passed over. */
  private static final int NAMES = 100;

  private static final int FILL_BYTES = 64 << 10;

  private final List<Path> directories;
  private final @Nullable Arenas arenas;
  private final SystemMemory otherwise;

  // Guarded by this.
  private @Nullable ZeroFile file;
  private volatile @Nullable String failure;

  /**
   * An open file.
   *
   * @param filled whether what is mapped of it must have been written before
   */
  private record ZeroFile(FileChannel channel, boolean filled) {}

  /**
   * @param directories where the file may be made, the preferred one first
   * @param arenas null for a JVM without them
   * @param otherwise where regions come from that can't be mapped
   */
  Mappings(List<Path> directories, @Nullable Arenas arenas, SystemMemory otherwise) {
    this.directories = directories;
    this.arenas = arenas;
    this.otherwise = otherwise;
  }

  @Override
  public Region take(int bytes) {
    try {
      return map(bytes);
    } catch (IOException | SecurityException e) {
      failure = e.toString();
      return otherwise.take(bytes);
    }
  }

  /** Why the last region that could not be mapped could not; null if all could. */
  @Nullable String failure() {
    return failure;
  }

  private synchronized Region map(int bytes) throws IOException {
    // A channel is closed when an interrupted thread uses it.
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return map(file(bytes), bytes);
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          file = null;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private Region map(FileChannel channel, int bytes) throws IOException {
    if (arenas != null) {
      Arenas.Buffer buffer = arenas.map(channel, MapMode.PRIVATE, 0, bytes);
      return new Region(new Memory(buffer.bytes()), buffer::free);
    }
    ByteBuffer mapped = channel.map(MapMode.PRIVATE, 0, bytes);
    return new Region(new Memory(mapped), () -> DirectBuffers.free(mapped));
  }

  /** A file that can be mapped up to {@code bytes}. */
  private FileChannel file(int bytes) throws IOException {
    if (file == null) {
      file = create();
    }
    if (file.filled()) {
      fill(file.channel(), bytes);
    }
    // A sparse file is extended by the mapping itself, without a block being allocated.
    return file.channel();
  }

  /** Fills a file up to {@code bytes}. Without room for that it stays as it was. */
  private static void fill(FileChannel channel, int bytes) throws IOException {
    long before = channel.size();
    ByteBuffer zeros = ByteBuffer.allocate(FILL_BYTES);
    try {
      for (long size = before; size < bytes; size = channel.size()) {
        channel.write(zeros.clear(), size);
      }
    } catch (ClosedChannelException e) {
      throw e; // Another one takes its place.
    } catch (IOException e) {
      channel.truncate(before);
      throw e;
    }
  }

  private ZeroFile create() throws IOException {
    IOException failed = null;
    for (Path directory : directories) {
      try {
        String type = Files.getFileStore(directory).type();
        return new ZeroFile(create(directory), type.equals("tmpfs") || type.equals("ramfs"));
      } catch (ClosedChannelException e) {
        throw e;
      } catch (IOException | UnsupportedOperationException e) {
        IOException told = new IOException("no file to map memory from in " + directory, e);
        if (failed != null) {
          told.addSuppressed(failed);
        }
        failed = told;
      }
    }
    throw failed == null ? new IOException("no directory for a file to map memory from") : failed;
  }

  private static FileChannel create(Path directory) throws IOException {
    for (int i = 0; ; i++) {
      String name = ".isobar-memory-" + ProcessMemory.processId() + "-" + i;
      try {
        return FileChannel.open(directory.resolve(name), NEW_FILE, OWNER_ONLY);
      } catch (FileAlreadyExistsException e) {
        if (i == NAMES) {
          throw e;
        }
      }
    }
  }
}
