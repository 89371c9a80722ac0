package io.isobardb.lsm.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Reads and writes past the system's page cache. */
final class DirectIo {
  /** Opens a channel for it. */
  static final OpenOption OPTION = option();

  private DirectIo() {}

  /**
   * {@code ExtendedOpenOption.DIRECT}, found by its name: newer compilers warn of the type, and
   * nothing suppresses that, though module {@code jdk.unsupported} exports it.
   */
  private static OpenOption option() {
    try {
      for (Object option :
          Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants()) {
        if (option.toString().equals("DIRECT")) {
          return (OpenOption) option;
        }
      }
    } catch (ClassNotFoundException e) {
      throw new ExceptionInInitializerError(e);
    }
    throw new ExceptionInInitializerError("the JDK has no direct I/O");
  }

  /**
   * Whether the file system of a file can do it: writes and reads a block there. An interrupt is
   * kept, and does no harm.
   *
   * @param probe a file to be made, which is deleted again
   */
  static boolean works(Path probe) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return tryOut(probe);
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static boolean tryOut(Path probe) throws IOException {
    Files.deleteIfExists(probe);
    try (FileChannel channel =
        FileChannel.open(
            probe,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            OPTION)) {
      ByteBuffer twice = ByteBuffer.allocateDirect(2 * DataFile.BLOCK);
      ByteBuffer block = twice.alignedSlice(DataFile.BLOCK).limit(DataFile.BLOCK);
      try {
        channel.write(block, 0);
      } catch (IOException e) {
        if (!FileErrors.isFull(probe, e, DataFile.BLOCK)) {
          throw e;
        }
        // A full disk says nothing against it: the file could be opened so, and can be read.
        return channel.read(block.rewind(), 0) < 0;
      }
      return channel.read(block.rewind(), 0) == DataFile.BLOCK;
    } finally {
      Files.deleteIfExists(probe);
    }
  }
}
