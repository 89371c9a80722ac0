package io.isobardb.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script that starts the program, with a Java that only tells how it was started. */
class LauncherTest {
  private static final String TELLS =
      """
      #!/bin/sh
      case "$*" in
        *-XshowSettings*) echo "    java.specification.version = 17" >&2 ;;
        *) echo "started: $*" ;;
      esac
      """;

  private static final String DOES_NOT_START =
      """
      #!/bin/sh
      echo "Error: Could not create the Java Virtual Machine." >&2
      exit 1
      """;

  @TempDir Path directory;

  private Path java;

  @BeforeEach
  void makeJava() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")));
    java = directory.resolve("jdk").resolve("bin").resolve("java");
    Files.createDirectories(java.getParent());
    program(java, TELLS);
    program(directory.resolve("tools").resolve("mvn"), "#!/bin/sh\necho built\n");
  }

  private static void program(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** A checkout that was built, as far as the script looks. */
  private Path checkout(String name) throws IOException {
    Path root = Files.exists(Path.of("README.md")) ? Path.of("") : Path.of("..");
    Path home = directory.resolve(name);
    program(home.resolve("isobar"), Files.readString(root.resolve("isobar")));
    Path jar = home.resolve("lsm-bench").resolve("target").resolve("lsm-bench-1.jar");
    Path source = source(home);
    for (Path file : List.of(jar, source, jar.resolveSibling("lsm-bench-1-sources.jar"))) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, "");
    }
    Files.setLastModifiedTime(source, FileTime.from(Instant.EPOCH));
    Path kafka = home.resolve("lsm-kafka-streams").resolve("target");
    Files.createDirectories(kafka);
    for (Path list :
        List.of(jar.resolveSibling("classpath.txt"), kafka.resolve("kafka-classpath.txt"))) {
      Files.writeString(list, jar + "\n");
    }
    return home;
  }

  private static Path source(Path home) {
    return home.resolve("lsm-core").resolve("src").resolve("main").resolve("A.java");
  }

  private record Ended(int code, String told) {}

  private Ended run(String script, Map<String, String> more)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("/bin/bash", script, "check", "some store")
            .directory(directory.toFile())
            .redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().put("PATH", directory.resolve("tools") + ":/usr/bin:/bin");
    builder.environment().put("JAVA_HOME", directory.resolve("jdk").toString());
    builder.environment().putAll(more);
    Process process = builder.start();
    process.getOutputStream().close();
    String told = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Ended(process.waitFor(), told);
  }

  private static void assertStarted(Path home, Ended ended) {
    assertEquals(0, ended.code(), ended.told());
    assertTrue(ended.told().startsWith("started: "), ended.told());
    assertTrue(ended.told().endsWith("Isobar check some store\n"), ended.told());
    assertTrue(ended.told().contains(home + "/lsm-bench/target/lsm-bench-1.jar:"), ended.told());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"plain", "with space", "isobar-sources", "a-javadoc", "release", "target", "a[b]"})
  void itStartsWhereverTheCheckoutLies(String name) throws Exception {
    Path home = checkout(name);
    assertStarted(home, run(home.resolve("isobar").toString(), Map.of()));
    Files.setLastModifiedTime(source(home), FileTime.from(Instant.now().plusSeconds(60)));
    Ended built = run(home.resolve("isobar").toString(), Map.of());
    assertTrue(built.told().startsWith("isobar: building..."), built.told());
  }

  @Test
  void itFindsItselfByARelativePathAndByALink() throws Exception {
    Path home = checkout("plain");
    Map<String, String> elsewhere = Map.of("CDPATH", directory + ":/usr");
    assertStarted(home, run("plain/isobar", elsewhere));
    Files.createSymbolicLink(directory.resolve("link"), home);
    assertStarted(home, run("link/isobar", elsewhere));
    Files.createSymbolicLink(directory.resolve("isobar"), Path.of("link", "isobar"));
    assertStarted(home, run("isobar", Map.of("TMPDIR", "/none", "LC_ALL", "C")));
  }

  /** The first file that Java opens would be taken for it. */
  @Test
  void aClosedStandardInputCanNotBeRead() throws Exception {
    Path home = checkout("plain");
    program(java, TELLS.replace("echo \"started", "test -e /dev/fd/0 && cat; exit; echo \""));
    Path script = directory.resolve("closed");
    Files.writeString(script, home.resolve("isobar") + " \"$@\" <&-\n");
    Ended ended = run(script.toString(), Map.of());
    assertEquals(1, ended.code(), ended.told());
    assertTrue(ended.told().contains("Bad file descriptor"), "it is free: " + ended.told());
  }

  /** 1 would be a finding, such as damage. */
  @Test
  void aJavaThatDoesNotStartIsAFailureWhichIsTold() throws Exception {
    Path home = checkout("plain");
    program(java, DOES_NOT_START);
    Ended ended = run(home.resolve("isobar").toString(), Map.of());
    assertEquals(4, ended.code());
    assertEquals(
        "isobar: " + java + " does not start: Error: Could not create the Java Virtual Machine.\n",
        ended.told());
  }

  @Test
  void whatNoClassPathCanHoldIsTold() throws Exception {
    Path home = checkout("a:b");
    Ended ended = run(home.resolve("isobar").toString(), Map.of());
    assertEquals(4, ended.code());
    assertEquals(
        "isobar: a class path can't hold the colon in " + home + "; move the checkout\n",
        ended.told());
  }
}
