package io.isobardb.bench.process;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What the system has counted for this process so far. Counters that the system does not have are
 * -1 (outside Linux all but the processor time).
 *
 * @param cpuNanos processor time of all threads, ended ones too
 * @param readBytes bytes fetched from devices
 * @param writtenBytes bytes sent to devices, or made dirty in the page cache
 * @param peakResidentBytes the largest resident set
 * @param residentBytes the resident set now
 */
public record ProcessCounters(
    long cpuNanos, long readBytes, long writtenBytes, long peakResidentBytes, long residentBytes) {

  /** Reads the counters: some ten microseconds. */
  public static ProcessCounters now() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    List<String> io = lines(Path.of("/proc/self/io"));
    List<String> status = lines(Path.of("/proc/self/status"));
    return new ProcessCounters(
        system.getProcessCpuTime(),
        field(io, "read_bytes:"),
        field(io, "write_bytes:"),
        bytes(status, "VmHWM:"),
        bytes(status, "VmRSS:"));
  }

  /** A field in kilobytes. */
  private static long bytes(List<String> lines, String name) {
    long kilobytes = field(lines, name);
    return kilobytes < 0 ? -1 : kilobytes << 10;
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  static long field(List<String> lines, String name) {
    for (String line : lines) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.substring(name.length()).replace("kB", "").strip());
      }
    }
    return -1;
  }
}
