package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file in a task's directory that says that a state store is there, and which tree it has.
 * Kafka wipes a task's state by deleting that directory; the entries lie elsewhere, and are dropped
 * once their marker is gone.
 */
final class Marker {
  private static final Logger LOG = LoggerFactory.getLogger(Marker.class);

  private static final String HEAD = "isobar-state 1 ";
  private static final int IDENTITY_LENGTH = 32;

  /** Names that Kafka gives, and all that it allows where it looks at them. */
  private static final Pattern PLAIN = Pattern.compile("(?!\\.\\.?$)[a-zA-Z0-9._-]{1,250}");

  /** With what {@link #create} adds, a file's name has at most 255 bytes. */
  private static final int LONGEST = 250;

  private static final int LONGEST_HEAD = 200;

  private Marker() {}

  /** Where the marker of a state store lies. */
  static Path path(Path taskDirectory, String name) {
    return taskDirectory.resolve("isobar").resolve(fileName(name)).toAbsolutePath().normalize();
  }

  /** A state store's name if every file system takes it as one; else it is encoded. */
  private static String fileName(String name) {
    if (PLAIN.matcher(name).matches()) {
      return name;
    }
    String encoded = URLEncoder.encode(name, UTF_8).replace("*", "%2A").replace(".", "%2E");
    return encoded.length() <= LONGEST
        ? encoded
        : encoded.substring(0, LONGEST_HEAD) + "%%" + UUID.nameUUIDFromBytes(name.getBytes(UTF_8));
  }

  /** The task's directory in which a marker lies. */
  static Path taskDirectory(Path marker) {
    return marker.resolve("../..").normalize();
  }

  /** The identity in a marker; null if there is none, or what is there is no marker. */
  static @Nullable String read(Path marker) {
    try {
      String text = Files.readString(marker, ISO_8859_1).trim();
      String identity = text.startsWith(HEAD) ? text.substring(HEAD.length()) : "";
      return identity.length() == IDENTITY_LENGTH ? identity : null;
    } catch (NoSuchFileException e) {
      return null;
    } catch (IOException e) {
      throw new ProcessorStateException("can't read the marker of a state store: " + marker, e);
    }
  }

  /** Makes a marker with a new identity. */
  static String create(Path marker) {
    String identity = UUID.randomUUID().toString().replace("-", "");
    // No state store has such a name.
    Path written = marker.resolveSibling(marker.getFileName() + "~");
    try {
      Files.createDirectories(marker.getParent());
      Files.write(written, (HEAD + identity + "\n").getBytes(ISO_8859_1));
      try {
        Files.move(
            written, marker, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(written, marker, StandardCopyOption.REPLACE_EXISTING);
      }
    } catch (IOException e) {
      throw new ProcessorStateException("can't write the marker of a state store: " + marker, e);
    }
    return identity;
  }

  /**
   * Whether a state store was wiped: its marker is gone or names another tree. If the directory of
   * its application is missing, nothing is known: the disk may be. Nor is it if the marker can't be
   * read.
   */
  static boolean isGone(String marker, String identity) {
    try {
      Path path = Path.of(marker);
      return Files.isDirectory(path.resolve("../../..").normalize())
          && !identity.equals(read(path));
    } catch (InvalidPathException | ProcessorStateException e) {
      LOG.debug("its tree is kept", e);
      return false;
    }
  }
}
