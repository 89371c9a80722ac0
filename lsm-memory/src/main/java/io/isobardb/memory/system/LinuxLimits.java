package io.isobardb.memory.system;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.StringTokenizer;
import org.jspecify.annotations.Nullable;

/**
 * What Linux lets this process have, as its files tell it. The JVM tells the same, but it loads 170
 * classes before it does.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class LinuxLimits {
  /** The answer if the files are missing, as on other systems, or are not as expected. */
  public static final long UNKNOWN = -1;

  private static final String MEMORY = "memory";

  private final Path root;

  /** Of this process. */
  public LinuxLimits() {
    this(Path.of("/"));
  }

  /** As if the file system began at {@code root}. */
  LinuxLimits(Path root) {
    this.root = root;
  }

  /**
   * The memory of the machine in bytes, or less if a control group of the process has less; {@link
   * #UNKNOWN} if that can't be told.
   */
  public long memoryBytes() {
    try {
      StringTokenizer total = new StringTokenizer(line("proc/meminfo", "MemTotal:"));
      long bytes = Long.parseLong(total.nextToken()) << 10;
      if (!total.nextToken().equals("kB")) {
        return UNKNOWN;
      }
      StringTokenizer mounts = new StringTokenizer(read("proc/self/mountinfo"), "\n");
      while (mounts.hasMoreTokens()) {
        bytes = Math.min(bytes, mountedLimit(mounts.nextToken()));
      }
      return bytes;
    } catch (IOException | RuntimeException unexpected) {
      return UNKNOWN;
    }
  }

  /**
   * How many more descriptors the process may take; 0 if not even the one that it takes to count
   * them, and {@link #UNKNOWN} if that can't be told.
   */
  public long spareDescriptors() {
    try {
      StringTokenizer limits = new StringTokenizer(line("proc/self/limits", "Max open files"));
      String most = limits.nextToken();
      if (most.equals("unlimited")) {
        return Integer.MAX_VALUE;
      }
      String[] open = new File(root.toFile(), "proc/self/fd").list();
      // One of them was taken to list them.
      return open == null ? 0 : Math.max(0, Long.parseLong(most) - (open.length - 1));
    } catch (IOException | RuntimeException unexpected) {
      return UNKNOWN;
    }
  }

  /**
   * The value of an option that the JVM was started with, such as {@code -XX:Name=}; empty if it
   * was not given, and null if that can't be told. The last one counts.
   *
   * @param start of the argument, up to the value
   */
  public @Nullable String jvmOption(String start) {
    try {
      if (!Files.readSymbolicLink(root.resolve("proc/self/exe")).endsWith("java")) {
        // The options came from a program that made the JVM.
        return null;
      }
      StringTokenizer environment = new StringTokenizer(read("proc/self/environ"), "\0");
      while (environment.hasMoreTokens()) {
        String variable = environment.nextToken();
        if (isOptions(variable.substring(0, variable.indexOf('=') + 1))) {
          return null;
        }
      }
      return option(new StringTokenizer(read("proc/self/cmdline"), "\0"), start);
    } catch (IOException | RuntimeException unexpected) {
      return null;
    }
  }

  private static boolean isOptions(String variable) {
    return variable.equals("JDK_JAVA_OPTIONS=")
        || variable.equals("JAVA_TOOL_OPTIONS=")
        || variable.equals("_JAVA_OPTIONS=");
  }

  private static @Nullable String option(StringTokenizer arguments, String start) {
    arguments.nextToken();
    String value = "";
    boolean sure = true;
    while (arguments.hasMoreTokens()) {
      String argument = arguments.nextToken();
      // What follows may be the value of an option, or the program's own.
      sure &= argument.startsWith("-X") || argument.startsWith("-D");
      if (argument.startsWith("@")
          || argument.startsWith("-XX:Flags=")
          || argument.startsWith("-XX:VMOptionsFile=")
          || argument.equals("-XX:+ReadVMOptionsFile")
          || !sure && argument.startsWith(start)) {
        return null;
      }
      value = argument.startsWith(start) ? argument.substring(start.length()) : value;
    }
    return value;
  }

  /** The least limit of the control groups of this process in what is mounted there, if any. */
  private long mountedLimit(String mount) throws IOException {
    int separator = mount.indexOf(" - cgroup");
    if (separator < 0) {
      return Long.MAX_VALUE;
    }
    StringTokenizer type = new StringTokenizer(mount.substring(separator + 3));
    boolean unified = type.nextToken().equals("cgroup2");
    type.nextToken();
    if (!unified && !isMemory(type.nextToken())) {
      return Long.MAX_VALUE;
    }
    StringTokenizer fields = new StringTokenizer(mount);
    for (int i = 0; i < 3; i++) {
      fields.nextToken();
    }
    String mountedRoot = fields.nextToken();
    Path point = root.resolve(fields.nextToken().substring(1));
    String group = group(unified);
    // In a container, the path may be as the host sees it.
    Path at = point;
    if (mountedRoot.equals("/")) {
      at = point.resolve("." + group).normalize();
    } else if (group.startsWith(mountedRoot)) {
      at = point.resolve("." + group.substring(mountedRoot.length())).normalize();
    }
    if (!at.startsWith(point)) {
      at = point;
    }
    long least = Long.MAX_VALUE;
    while (at != null && at.startsWith(point)) {
      least = Math.min(least, limit(at.resolve(unified ? "memory.max" : "memory.limit_in_bytes")));
      at = at.getParent();
    }
    return least;
  }

  /** The control group of this process, a path. */
  private String group(boolean unified) throws IOException {
    StringTokenizer groups = new StringTokenizer(read("proc/self/cgroup"), "\n");
    while (groups.hasMoreTokens()) {
      String line = groups.nextToken();
      int controllers = line.indexOf(':') + 1;
      int path = line.indexOf(':', controllers) + 1;
      String listed = line.substring(controllers, path - 1);
      if (unified ? listed.isEmpty() : isMemory(listed)) {
        return line.substring(path);
      }
    }
    return "/";
  }

  private static boolean isMemory(String list) {
    StringTokenizer names = new StringTokenizer(list, ",");
    boolean found = false;
    while (names.hasMoreTokens()) {
      found |= names.nextToken().equals(MEMORY);
    }
    return found;
  }

  private static long limit(Path file) throws IOException {
    String text;
    try {
      text = new String(Files.readAllBytes(file), ISO_8859_1).strip();
    } catch (NoSuchFileException | NotDirectoryException e) {
      // The outermost group has no limit, and groups of the host can't be seen.
      return Long.MAX_VALUE;
    }
    return text.equals("max") ? Long.MAX_VALUE : Long.parseLong(text);
  }

  /** What follows {@code start} in the line that begins with it. */
  private String line(String file, String start) throws IOException {
    String text = read(file);
    int at = text.startsWith(start) ? 0 : text.indexOf("\n" + start) + 1;
    if (!text.startsWith(start, at)) {
      throw new IOException("no line " + start + " in " + file);
    }
    int end = text.indexOf('\n', at);
    return text.substring(at + start.length(), end < 0 ? text.length() : end);
  }

  private String read(String file) throws IOException {
    return new String(Files.readAllBytes(root.resolve(file)), ISO_8859_1);
  }
}
