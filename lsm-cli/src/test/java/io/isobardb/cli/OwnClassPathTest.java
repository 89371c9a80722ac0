package io.isobardb.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program in a JVM that has this module and what it depends on, and nothing else. */
class OwnClassPathTest {
  private static final Path CLASSES = Path.of("target", "classes").toAbsolutePath();

  @TempDir Path temporary;

  private static List<String> dependencies() throws IOException {
    String file = Files.readString(Path.of("target", "classpath.txt"));
    return List.of(file.strip().split(File.pathSeparator));
  }

  private String run(int code, String... args) throws IOException, InterruptedException {
    return start(code, "-cp", List.of(Main.class.getName()), args);
  }

  private String start(int code, String path, List<String> program, String... args)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:MaxDirectMemorySize=128m", path));
    command.add(CLASSES + File.pathSeparator + String.join(File.pathSeparator, dependencies()));
    command.addAll(program);
    command.addAll(Arrays.asList(args));
    Path errors = temporary.resolve("errors");
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    String all = out + Files.readString(errors);
    assertEquals(code, process.waitFor(), String.join(" ", args) + "\n" + all);
    return all;
  }

  @Test
  void nothingButTheEngineItsCodecsACommandLineAndJsonIsNeeded() throws IOException {
    Set<String> names =
        dependencies().stream()
            .map(path -> path.replaceAll("/target/(classes|[^/]*\\.jar)$", ""))
            .map(path -> Path.of(path).getFileName().toString().replaceAll("-[0-9].*", ""))
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(
        Set.of(
            "lsm-core",
            "lsm-memory",
            "lsm-repair",
            "lsm-tuner",
            "lsm-zstd",
            "hash4j",
            "zstd-jni",
            "picocli",
            "jackson-jr-objects",
            "jackson-core",
            "log4j-api",
            "log4j-core",
            "log4j-jul",
            "log4j-layout-template-json"),
        names);
  }

  @Test
  void storesAreCheckedDumpedShownAndRepaired() throws IOException, InterruptedException {
    Path dir = temporary.resolve("s");
    try (Store store =
        Store.open(dir, StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build())) {
      store.openTree("users").put("ada".getBytes(UTF_8), new byte[10]);
      store.flush();
      store.openTree("users").put("bob".getBytes(UTF_8), new byte[10]);
      assertTrue(run(3, "check", dir.toString()).contains("is open already in process"));
      assertTrue(run(3, "stats", dir.toString()).contains("is open already in process"));
    }
    assertTrue(run(0, "--version").contains(Program.VERSION));
    String check = run(0, "check", dir.toString());
    assertTrue(check.startsWith("1 tree, 1 SSTable (") && check.endsWith("sound\n"), check);
    assertTrue(run(0, "dump", dir.toString(), "--keys").contains("ada"));
    assertTrue(run(0, "stats", dir.toString()).contains("users"));
    assertTrue(run(0, "tune-report", dir.toString()).contains("decided nothing"));
    String repaired = run(0, "repair", dir.toString(), "--to", dir + "-new");
    assertEquals("tree 'users': 2 keys\nnothing lost\n", repaired);
    assertEquals(
        "isobar check: there is no option '--sped' (see 'isobar check --help')\n",
        run(2, "check", dir.toString(), "--sped"));
  }

  @Test
  void theProgramRunsAsAModule() throws IOException, InterruptedException {
    Path dir = temporary.resolve("s");
    try (Store store = Store.open(dir, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      store.openTree("users").put("ada".getBytes(UTF_8), new byte[10]);
    }
    List<String> main = List.of("-m", "io.isobardb.cli/" + Main.class.getName());
    assertTrue(start(0, "-p", main, "check", dir.toString()).contains("sound"));
    assertTrue(start(0, "-p", main, "dump", "--keys", "--json", dir.toString()).contains("ada"));
    assertTrue(start(0, "-p", main, "stats", dir.toString()).contains("users"));
    Files.writeString(dir.resolve("TUNER"), "nonsense\n");
    String[] logged = {"compact", dir.toString(), "--log", "debug", "--log-format", "json"};
    assertTrue(start(0, "-p", main, logged).contains("\"log.level\":\"DEBUG\""));
    start(0, "-p", main, "repair", dir.toString(), "--to", temporary.resolve("new").toString());
    assertTrue(start(0, "-p", main, "--help").contains("tune-report"));
  }
}
