package io.isobardb.lsm.io;

import io.isobardb.lsm.error.DiskFullException;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Turns what the system says of a file into a message for people: the full path, what failed, why,
 * and what to do. The JDK's own messages are often the path alone.
 */
public final class FileErrors {
  /** What to do about too few descriptors. */
  static final String MORE_DESCRIPTORS =
      "Raise the process's limit (ulimit -n), or lower maxOpenFiles";

  private static final String TOO_MANY_OPEN = "too many open files";
  private static final String LINK = "it is a symbolic link, and none is followed to write";

  /** With a reason, which the JDK's has no constructor for. */
  private static final class NotADirectory extends NotDirectoryException {
    private static final long serialVersionUID = 1L;

    private final String reason;

    NotADirectory(String file, String reason) {
      super(file);
      this.reason = reason;
    }

    @Override
    public String getReason() {
      return reason;
    }
  }

  private FileErrors() {}

  /**
   * The exception to throw for {@code e}, of the same type where callers tell types apart, with
   * {@code e} as its cause. A {@link ClosedChannelException}, and what was explained before, are
   * given back as they are.
   *
   * @param what the call that failed, such as {@code "can't be opened"}
   * @param path of the file or directory
   */
  static IOException explain(String what, Path path, IOException e) {
    if (e instanceof ClosedChannelException || e.getCause() instanceof IOException) {
      return e;
    }
    String reason = reason(e);
    String advice = advice(reason);
    String text = what + ": " + reason + (advice.isEmpty() ? "" : "; " + advice);
    String file = path.toString();
    IOException explained;
    if (e instanceof NoSuchFileException) {
      explained = new NoSuchFileException(file, null, text);
    } else if (e instanceof NotDirectoryException) {
      explained = new NotADirectory(file, text);
    } else if (e instanceof FileAlreadyExistsException) {
      explained = new FileAlreadyExistsException(file, null, text);
    } else if (e instanceof AccessDeniedException) {
      explained = new AccessDeniedException(file, null, text);
    } else if (e instanceof FileSystemException) {
      explained = new FileSystemException(file, null, text);
    } else {
      explained = new IOException(file + ": " + text);
    }
    explained.initCause(e);
    return explained;
  }

  /**
   * As {@link #explain}; a full disk is thrown right here.
   *
   * @param bytesWanted by a write, or by a new file or name; 0 if there was none to be made
   */
  static IOException explainOrFull(String what, Path path, IOException e, long bytesWanted) {
    if (isFull(path, e, bytesWanted)) {
      throw new DiskFullException("the disk is full: " + path + " " + what + "; make room", e);
    }
    return explain(what, path, e);
  }

  /**
   * Whether a call failed because there is no room: the system says so, or there is none.
   *
   * @param bytesWanted as for {@link #explainOrFull}
   */
  static boolean isFull(Path path, IOException e, long bytesWanted) {
    if (saysFull(e)) {
      return true;
    }
    if (bytesWanted == 0 || !isUnclear(e) || !advice(reason(e)).isEmpty()) {
      return false;
    }
    try {
      Path directory = path.getParent();
      FileStore store = Files.getFileStore(directory == null ? path : directory);
      // An image that is mounted to be read has no room, and /sys has none to begin with.
      return !store.isReadOnly()
          && store.getTotalSpace() > 0
          && store.getUsableSpace() < Math.max(bytesWanted, DataFile.BLOCK);
    } catch (IOException unknown) {
      e.addSuppressed(unknown);
      return false;
    }
  }

  /**
   * {@return why a file can't be opened, if that lies with the file; null if somebody can mend it,
   * as what is missing is a permission or a descriptor}
   *
   * @param e what opening it threw
   */
  public static @Nullable String ofFile(IOException e) {
    // What was explained has the system's own words in its cause.
    String reason = reason(e.getCause() instanceof IOException cause ? cause : e);
    return reason.contains("permission denied") || reason.contains(TOO_MANY_OPEN) ? null : reason;
  }

  private static String reason(IOException e) {
    if (e instanceof FileNotFoundException) {
      // Of RandomAccessFile: the path, and then the reason in brackets.
      String said = String.valueOf(e.getMessage());
      int bracket = said.lastIndexOf('(');
      return bracket < 0 ? said : lowerCase(said.substring(bracket + 1).replace(")", ""));
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    } else if (e instanceof NoSuchFileException) {
      return "no such file or directory";
    } else if (e instanceof NotDirectoryException) {
      return "not a directory";
    } else if (e instanceof FileAlreadyExistsException) {
      return "it exists already";
    }
    String said = e instanceof FileSystemException system ? system.getReason() : e.getMessage();
    if (said != null && said.contains("NOFOLLOW_LINKS")) {
      return LINK;
    }
    return said == null || said.isEmpty() ? e.getClass().getSimpleName() : lowerCase(said);
  }

  private static String lowerCase(String text) {
    return text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1);
  }

  private static String advice(String reason) {
    if (reason.equals("permission denied")) {
      return "run as a user who has the right to, or change owner or mode; new files are for their"
          + " owner alone, unless the option fileAccess says otherwise";
    } else if (reason.equals(LINK)) {
      return "move the file itself here; a whole directory may be a link";
    } else if (reason.contains("read-only file system")) {
      return "mount it for writing; reading is enough for Store.openReadOnly, and to check a store";
    } else if (reason.contains(TOO_MANY_OPEN)) {
      return lowerCase(MORE_DESCRIPTORS);
    } else if (reason.equals("operation not permitted")) {
      return "the system holds the file or its directory as it is: look for the sticky bit, and with"
          + " lsattr for the attributes i and a";
    } else if (reason.equals("file too large")) {
      return "raise the process's limit of a file's size (ulimit -f), or use a file system that has"
          + " larger files";
    } else if (reason.equals("no locks available")) {
      return "use a file system of this machine that has locks";
    } else if (reason.contains("input/output error")) {
      return "see the system's log for what is wrong with the device";
    }
    return "";
  }

  /**
   * Whether an error is of no kind that is told apart by its type. Then the reason stands in the
   * system's message alone, which may be in any language.
   */
  static boolean isUnclear(IOException e) {
    Class<?> type = e.getClass();
    return type == IOException.class
        || type == FileSystemException.class
        || type == FileNotFoundException.class;
  }

  /** The exception to throw for {@code e} if the process has no descriptor left. */
  static IOException tooManyOpen(String of, IOException e) {
    if (saysTooManyOpen(e) && e.getCause() instanceof IOException) {
      return e; // It was explained before.
    }
    String text = "the process has no file descriptor left; " + lowerCase(MORE_DESCRIPTORS);
    FileSystemException explained = new FileSystemException(of, null, text);
    explained.initCause(e);
    return explained;
  }

  /** Whether the system says, in English, that it refuses one more descriptor. */
  static boolean saysTooManyOpen(IOException e) {
    return String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT).contains(TOO_MANY_OPEN);
  }

  /**
   * Whether the system says that there is no room. Of a quota it can only be understood in English.
   */
  private static boolean saysFull(IOException e) {
    String text = String.valueOf(e.getMessage());
    return text.contains("No space left on device")
        || text.contains("Disk quota exceeded")
        || (isUnclear(e) && ofFullDevice().map(text::contains).orElse(false));
  }

  /**
   * What the system says of a full device, in whatever language it does. Neither blocks nor inodes
   * may be left, and of inodes nobody else tells.
   */
  private static Optional<String> ofFullDevice() {
    Path device = Path.of("/dev/full");
    if (!Files.isWritable(device) || Files.isRegularFile(device)) {
      return Optional.empty();
    }
    try (OutputStream full = new FileOutputStream(device.toFile())) {
      full.write(0);
      return Optional.empty();
    } catch (FileNotFoundException e) {
      return Optional.empty(); // There may be no descriptor left.
    } catch (IOException e) {
      return Optional.ofNullable(e.getMessage());
    }
  }
}
