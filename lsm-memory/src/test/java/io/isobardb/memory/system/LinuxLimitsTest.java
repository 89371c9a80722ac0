package io.isobardb.memory.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class LinuxLimitsTest {
  private static final long MB = 1 << 20;
  private static final String OPTION = "-XX:MaxDirectMemorySize=";

  @TempDir Path root;

  @BeforeEach
  void aMachineWithoutControlGroups() throws IOException {
    write("proc/meminfo", "MemTotal:        1024000 kB\nMemFree:          1000 kB\n");
    write("proc/self/mountinfo", "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n");
    write("proc/self/cgroup", "0::/\n");
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private void mount(String line) throws IOException {
    Path file = root.resolve("proc/self/mountinfo");
    Files.writeString(file, Files.readString(file) + line + "\n");
  }

  private long memory() {
    return new LinuxLimits(root).memoryBytes();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void theJvmSaysTheSame() {
    var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long told = new LinuxLimits().memoryBytes();
    assertTrue(told > 0 && told <= system.getTotalMemorySize(), () -> "it is " + told);
    long most = system.getMaxFileDescriptorCount();
    long spare = new LinuxLimits().spareDescriptors();
    assertTrue(spare > 0 && spare < most, () -> spare + " of " + most);
  }

  @Test
  void withoutALimitItIsTheMachines() throws IOException {
    assertEquals(1000 * MB, memory());
    mount("31 22 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    assertEquals(1000 * MB, memory());
    write("sys/fs/cgroup/memory.max", "max\n");
    assertEquals(1000 * MB, memory());
  }

  /** In a container with control groups of its own, and in a service of the host. */
  @Test
  void theLeastLimitOfTheGroupAndThoseAboveItCounts() throws IOException {
    mount("31 22 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    write("sys/fs/cgroup/memory.max", (500 * MB) + "\n");
    assertEquals(500 * MB, memory());
    write("proc/self/cgroup", "0::/a.slice/b.service\n");
    assertEquals(500 * MB, memory());
    write("sys/fs/cgroup/a.slice/memory.max", (200 * MB) + "\n");
    write("sys/fs/cgroup/a.slice/b.service/memory.max", "max\n");
    assertEquals(200 * MB, memory());
    write("sys/fs/cgroup/a.slice/b.service/memory.max", (100 * MB) + "\n");
    write("sys/fs/cgroup/a.slice/c.service/memory.max", "4096\n");
    assertEquals(100 * MB, memory());
  }

  @Test
  void theFirstVersionOfControlGroupsCounts() throws IOException {
    mount("32 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu");
    mount("35 31 0:31 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory");
    write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/docker/abc\n3:cpu:/docker\n0::/\n");
    write("sys/fs/cgroup/cpu/memory.limit_in_bytes", "4096\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertEquals(1000 * MB, memory());
    write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", (300 * MB) + "\n");
    assertEquals(300 * MB, memory());
  }

  /** A part of the host's groups is mounted, and the path is as the host sees it. */
  @Test
  void aContainersOwnGroupMayBeMountedAsTheRoot() throws IOException {
    mount("35 31 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory");
    write("proc/self/cgroup", "4:memory:/docker/abc\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", (300 * MB) + "\n");
    assertEquals(300 * MB, memory());
    write("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
    write("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", (200 * MB) + "\n");
    assertEquals(200 * MB, memory());
    write("proc/self/cgroup", "4:memory:/docker/abc/../../other\n");
    assertEquals(300 * MB, memory());
    write("proc/self/cgroup", "4:memory:/elsewhere\n");
    assertEquals(300 * MB, memory());
  }

  @Test
  void whatIsNotAsExpectedIsUnknown() throws IOException {
    mount("31 22 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    write("sys/fs/cgroup/memory.max", "much\n");
    assertEquals(LinuxLimits.UNKNOWN, memory());
    write("sys/fs/cgroup/memory.max", "max\n");
    write("proc/meminfo", "MemTotal:        1024000 pages\n");
    assertEquals(LinuxLimits.UNKNOWN, memory());
    write("proc/meminfo", "MemFree:          1000 kB\n");
    assertEquals(LinuxLimits.UNKNOWN, memory());
    Files.delete(root.resolve("proc/meminfo"));
    assertEquals(LinuxLimits.UNKNOWN, memory());
    assertEquals(LinuxLimits.UNKNOWN, new LinuxLimits(root).spareDescriptors());
  }

  @Test
  void descriptorsAreCounted() throws IOException {
    String head = "Limit                     Soft Limit           Hard Limit           Units\n";
    write(
        "proc/self/limits", head + "Max open files            100                  2000  files\n");
    LinuxLimits limits = new LinuxLimits(root);
    assertEquals(0, limits.spareDescriptors(), "no descriptor is left to count them");
    for (int i = 0; i < 7; i++) {
      write("proc/self/fd/" + i, "");
    }
    // One was taken to count them.
    assertEquals(94, limits.spareDescriptors());
    write("proc/self/limits", head + "Max open files            unlimited   unlimited   files\n");
    assertEquals(Integer.MAX_VALUE, limits.spareDescriptors());
    write("proc/self/limits", head);
    assertEquals(LinuxLimits.UNKNOWN, limits.spareDescriptors());
  }

  private void start(String environment, String... arguments) throws IOException {
    Path exe = root.resolve("proc/self/exe");
    Files.deleteIfExists(exe);
    Files.createSymbolicLink(exe, Path.of("/opt/jdk/bin/java"));
    write("proc/self/environ", environment);
    write("proc/self/cmdline", "java\0" + String.join("\0", arguments) + "\0");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void anOptionOfTheJvmIsToldIfItIsSure() throws IOException {
    LinuxLimits limits = new LinuxLimits(root);
    start("PATH=/bin\0", "-Xmx1g", "-cp", "a.jar", "Main");
    assertEquals("", limits.jvmOption(OPTION));
    start("PATH=/bin\0", "-Xmx1g", OPTION + "1g", "-Da=b", OPTION + "2g", "-cp", "a.jar", "Main");
    assertEquals("2g", limits.jvmOption(OPTION), "the last one counts");
    start("PATH=/bin\0", OPTION + "1g", "-cp", "a.jar", OPTION + "2g", "Main");
    assertNull(limits.jvmOption(OPTION), "what follows -cp a.jar may be the program's own");
    start("PATH=/bin\0", "-jar", "a.jar", OPTION + "2g");
    assertNull(limits.jvmOption(OPTION));
    start("PATH=/bin\0", "@more", "Main");
    assertNull(limits.jvmOption(OPTION), "a file of arguments");
    start("PATH=/bin\0", "-XX:Flags=more", "Main");
    assertNull(limits.jvmOption(OPTION));
    start("PATH=/bin\0", "-XX:VMOptionsFile=more", "Main");
    assertNull(limits.jvmOption(OPTION));
    for (String variable :
        new String[] {"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"}) {
      start("PATH=/bin\0" + variable + "=-Xmx1g\0", "Main");
      assertNull(limits.jvmOption(OPTION), variable);
    }
    Files.delete(root.resolve("proc/self/exe"));
    assertNull(limits.jvmOption(OPTION));
    Files.createSymbolicLink(root.resolve("proc/self/exe"), Path.of("/opt/embeds/a-jvm"));
    assertNull(limits.jvmOption(OPTION), "options come from a program");
  }
}
