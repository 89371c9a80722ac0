package io.isobardb.lsm.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.memory.stats.Ledger;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine as modules: what they export, and a program that has them on its module path. */
class ModulePathTest {
  @TempDir Path dir;

  private static ModuleDescriptor descriptor(Class<?> type) throws Exception {
    Path classes = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    return ModuleFinder.of(classes).findAll().iterator().next().descriptor();
  }

  private static Set<String> exports(ModuleDescriptor module) {
    return module.exports().stream()
        .filter(export -> !export.isQualified())
        .map(ModuleDescriptor.Exports::source)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> toOwnModules(ModuleDescriptor module) {
    return module.exports().stream()
        .filter(ModuleDescriptor.Exports::isQualified)
        .map(export -> export.source() + " to " + new TreeSet<>(export.targets()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void theCoreExportsTheApi() throws Exception {
    ModuleDescriptor core = descriptor(Store.class);
    assertEquals(new TreeSet<>(ApiTest.EXPORTED), exports(core));
    Set<String> toOwn = toOwnModules(core);
    assertTrue(toOwn.remove("io.isobardb.lsm.tuning to [io.isobardb.cli]"));
    assertTrue(toOwn.remove("io.isobardb.lsm.setting to [io.isobardb.cli]"));
    assertTrue(toOwn.stream().allMatch(export -> export.endsWith("to [io.isobardb.repair]")));
    assertEquals(Set.of(), core.opens());
  }

  @Test
  void theMemoryModuleExportsItsStatistics() throws Exception {
    ModuleDescriptor memory = descriptor(Ledger.class);
    assertEquals(new TreeSet<>(ApiTest.EXPORTED_BELOW), exports(memory));
    assertTrue(
        toOwnModules(memory).stream()
            .allMatch(export -> export.matches(".* to \\[io.isobardb.lsm(, io.isobardb.repair)?]")),
        memory::toString);
  }

  /** Compiles sources as a module that reads the engine, and tells what the compiler says. */
  private String compile(String requires, String name, String source) throws IOException {
    Path sources = Files.createDirectories(dir.resolve("src").resolve("app"));
    Path info = sources.resolveSibling("module-info.java");
    Files.writeString(info, "module app { requires " + requires + "; }");
    Path program = sources.resolve(name + ".java");
    Files.writeString(program, "package app;\n" + source);
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-Xlint:all", "-Werror"));
    arguments.addAll(List.of("-p", UserProgram.inherited()));
    arguments.addAll(List.of("-d", dir.resolve("app").toString()));
    arguments.addAll(List.of(info.toString(), program.toString()));
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(null, messages, messages, arguments.toArray(String[]::new));
    String said = messages.toString(UTF_8);
    assertEquals(code == 0, said.isEmpty(), said);
    return said;
  }

  private static String readmeProgram() throws IOException {
    Path readme = Path.of("..", "README.md");
    String page = Files.readString(Files.exists(readme) ? readme : Path.of("README.md"));
    Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(page);
    assertTrue(block.find());
    return block.group(1);
  }

  @Test
  void theReadmesProgramRunsAsAModule() throws Exception {
    assertEquals("", compile("io.isobardb.lsm", "Hello", readmeProgram()));
    UserProgram.Printed printed =
        new UserProgram(dir)
            .java(
                List.of(
                    "-p",
                    dir.resolve("app") + File.pathSeparator + UserProgram.inherited(),
                    "-m",
                    "app/app.Hello",
                    dir.resolve("store").toString()));
    assertEquals("1815\n1815/ada\n", printed.out().replace("\r", ""));
    assertEquals("", printed.err());
  }

  /** An image has real modules alone: one of those that the engine needs is enough to fail. */
  @Test
  void theReadmesProgramRunsInAnImageOfItsOwn() throws Exception {
    assertEquals("", compile("io.isobardb.lsm", "Hello", readmeProgram()));
    String modules = dir.resolve("app") + File.pathSeparator + UserProgram.inherited();
    Path image = dir.resolve("image");
    StringWriter messages = new StringWriter();
    PrintWriter said = new PrintWriter(messages);
    int code =
        java.util.spi.ToolProvider.findFirst("jlink")
            .orElseThrow()
            .run(
                said,
                said,
                "-p",
                modules,
                "--add-modules",
                "app",
                "--strip-debug",
                "--no-header-files",
                "--no-man-pages",
                "--output",
                image.toString());
    assertEquals(0, code, messages.toString());
    UserProgram.Printed printed =
        new UserProgram(dir)
            .java(
                image.resolve("bin").resolve("java"),
                List.of("-m", "app/app.Hello", dir.resolve("store").toString()));
    assertEquals("1815\n1815/ada\n", printed.out().replace("\r", ""));
    assertEquals("", printed.err());
  }

  /** Statistics, JMX, Flight Recorder, direct I/O, and the end of the JVM need other modules. */
  private static final String ALL_PARTS =
      """
      import io.isobardb.lsm.*;
      import io.isobardb.lsm.option.IoMode;
      import io.isobardb.memory.stats.Purpose;
      import java.lang.management.ManagementFactory;
      import java.nio.file.Path;

      public class Parts {
        public static void main(String[] args) throws Exception {
          StoreOptions options =
              StoreOptions.builder().memoryBudget(16 << 20).ioMode(IoMode.DIRECT).build();
          try (jdk.jfr.Recording recording = new jdk.jfr.Recording()) {
            recording.enable("isobar.Flush").withoutThreshold();
            recording.start();
            Store store = Store.open(Path.of(args[0]), options);
            Tree tree = store.createTree(
                "t", TreeOptions.builder().compression(Compression.LZ4).build());
            tree.put(new byte[1], new byte[1000]);
            store.flush();
            System.out.println(store.stats().ledger().bytes(Purpose.LOG) > 0);
            System.out.println(
                ManagementFactory.getPlatformMBeanServer()
                    .getAttribute(store.registerMXBean(), "Trees"));
            recording.stop();
            Path file = Path.of(args[0], "recording.jfr");
            recording.dump(file);
            System.out.println(jdk.jfr.consumer.RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("isobar.Flush"))
                .count());
          }
          System.out.println(
              ModuleLayer.boot().findModule("jdk.unsupported").isPresent());
        }
      }
      """;

  @Test
  void allPartsOfTheEngineFindWhatTheyNeed() throws Exception {
    assertEquals("", compile("io.isobardb.lsm; requires jdk.jfr", "Parts", ALL_PARTS));
    UserProgram.Printed printed =
        new UserProgram(dir)
            .java(
                List.of(
                    "-XX:MaxDirectMemorySize=64m",
                    "-p",
                    dir.resolve("app") + File.pathSeparator + UserProgram.inherited(),
                    "-m",
                    "app/app.Parts",
                    dir.resolve("store").toString()));
    assertEquals("true\n1\n1\ntrue\n", printed.out().replace("\r", ""), printed.err());
  }

  @Test
  void theEngineItselfIsOutOfReach() throws IOException {
    String said = compile("io.isobardb.lsm", "Nosy", "class Nosy { io.isobardb.lsm.wal.Log log; }");
    assertTrue(said.contains("io.isobardb.lsm.wal is not visible"), said);
    said = compile("io.isobardb.lsm", "Nosy", "class Nosy { io.isobardb.memory.pool.Block b; }");
    assertNotEquals("", said);
  }
}
