package io.isobardb.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs on top of the engine need nothing of it that is not exported. They are no modules, since
 * other engines and YCSB are none, so their sources are compiled here against the engine's modules.
 */
@Tag("any-jdk")
class ExportsTest {
  /** The engine and what it depends on. */
  private static final Predicate<String> MODULES =
      Pattern.compile(
              ".*(lsm-(core|dataset|memory|tuner)/target/(classes|lsm-[^/]*(?<!-tests)\\.jar)"
                  + "|/(hash4j-|jspecify-)[^/]*)")
          .asMatchPredicate();

  private static final Predicate<String> OWN =
      Pattern.compile(".*/(lsm-[a-z]+|tpcc|ycsb-adapter)/target/.*").asMatchPredicate();

  @TempDir Path dir;

  private static String path(Predicate<String> which) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(which)
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** What the compiler says of these files; empty if it takes them. */
  private String compile(List<Path> files) {
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn"));
    arguments.addAll(List.of("--module-path", path(MODULES)));
    arguments.addAll(List.of("--add-modules", "io.isobardb.dataset,org.jspecify"));
    arguments.addAll(List.of("--class-path", path(MODULES.or(OWN).negate())));
    arguments.addAll(List.of("-d", dir.resolve("classes").toString()));
    files.forEach(file -> arguments.add(file.toString()));
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(null, messages, messages, arguments.toArray(String[]::new));
    return code == 0 ? "" : messages.toString(UTF_8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tpcc", "ycsb-adapter"})
  void programsCompileAgainstExportsAlone(String module) throws IOException {
    Path sources = Path.of("..", module, "src", "main", "java");
    try (Stream<Path> files = Files.walk(sources)) {
      List<Path> found =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> !file.endsWith("module-info.java"))
              .toList();
      assertFalse(found.isEmpty());
      assertEquals("", compile(found));
    }
  }

  @Test
  void whatIsNotExportedIsRefused() throws IOException {
    Path nosy = dir.resolve("Nosy.java");
    Files.writeString(nosy, "class Nosy { io.isobardb.lsm.wal.Log log; }");
    String said = compile(List.of(nosy));
    assertTrue(said.contains("io.isobardb.lsm.wal is not visible"), said);
  }
}
