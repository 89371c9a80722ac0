package io.isobardb.bench.process;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The processor time that this JVM's compilers have taken so far. A run of a few seconds pays for
 * it once, and one of hours does not notice: so it is told beside the time of the process.
 */
public final class CompilerTime {
  private static final Path TASKS = Path.of("/proc/self/task");

  private CompilerTime() {}

  /** In nanoseconds; -1 where the system does not tell, which is outside Linux. */
  public static long nanos() {
    long nanos = 0;
    boolean found = false;
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        try {
          if (isCompiler(Files.readString(task.resolve("comm")))) {
            String[] fields = Files.readString(task.resolve("schedstat")).split(" ");
            nanos += Long.parseLong(fields[0]);
            found = true;
          }
        } catch (IOException e) {
          // The thread has ended meanwhile.
        }
      }
    } catch (IOException e) {
      return -1;
    }
    return found ? nanos : -1;
  }

  /** The system cuts names of threads off. */
  static boolean isCompiler(String name) {
    return name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler");
  }
}
