package io.isobardb.lsm.io;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * How long threads have waited for a processor, as Linux tells it. To ask costs some system calls.
 *
 * <p>Thread rule: any thread.
 */
final class ProcessorWaits {
  /** Of the calling thread: nanoseconds on processors, nanoseconds of waiting for one, turns. */
  private static final String FILE = "/proc/thread-self/schedstat";

  private static final int LONGEST = 128;

  private ProcessorWaits() {}

  /** Those of the calling thread so far, in nanoseconds; -1 if the system does not tell. */
  static long ofThread() {
    try (FileInputStream in = new FileInputStream(FILE)) {
      return parse(new String(in.readNBytes(LONGEST), StandardCharsets.US_ASCII));
    } catch (IOException | RuntimeException e) {
      return -1;
    }
  }

  /** The second number of the file's line. */
  static long parse(String line) {
    String[] numbers = line.trim().split(" ");
    return numbers.length == 3 ? Long.parseLong(numbers[1]) : -1;
  }
}
