package io.isobardb.lsm.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each example in the Javadoc of an exported package compiles. */
class JavadocExamplesTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("<pre>\\{@code\n(.*?)\n *\\* \\}</pre>", Pattern.DOTALL);

  private static final String IMPORTS =
      """
      import static java.nio.charset.StandardCharsets.UTF_8;
      import io.isobardb.lsm.*;
      import io.isobardb.lsm.dataset.*;
      import io.isobardb.lsm.error.*;
      import io.isobardb.lsm.inspect.*;
      import io.isobardb.lsm.observe.*;
      import io.isobardb.lsm.option.*;
      import io.isobardb.lsm.typed.*;
      import io.isobardb.lsm.recipe.*;
      import io.isobardb.lsm.recipe.Queue;
      import io.isobardb.repair.*;
      import io.isobardb.memory.stats.*;
      import java.nio.ByteBuffer;
      import java.nio.file.*;
      import java.time.*;
      import java.util.*;
      import java.util.stream.*;
      import java.util.zip.*;
      """;

  /** What examples take for granted: each is a method of a subclass. */
  private static final String GIVEN =
      """
      abstract class Given {
        Store store;
        Tree tree, orders, customers, byCustomer, carts;
        byte[] key, value, from, order, customer, id, person, ada, record, year1800;
        Dataset people;
        abstract byte[] cityOf(byte[] person);
        abstract byte[] emailOf(byte[] person);
        abstract byte[] year(byte[] person);
        abstract void use(byte[]... read);
      }
      """;

  @TempDir Path dir;

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (Path root : Libraries.SOURCES) {
      try (Stream<Path> files = Files.walk(root)) {
        files.filter(file -> file.toString().endsWith(".java")).sorted().forEach(sources::add);
      }
    }
    return sources;
  }

  @Test
  void eachExampleCompiles() throws Exception {
    StringBuilder program = new StringBuilder(IMPORTS).append(GIVEN);
    int examples = 0;
    for (Path file : sources()) {
      Matcher example = EXAMPLE.matcher(Files.readString(file));
      while (example.find()) {
        examples++;
        program.append("abstract class Example" + examples + " extends Given {\n");
        program.append("  // " + file.getFileName() + "\n  void example() throws Exception {\n");
        program.append(example.group(1).replaceAll("(?m)^ *\\* ?", "")).append("\n  }\n}\n");
      }
    }
    assertTrue(examples > 10, "found " + examples);
    Path source = dir.resolve("Examples.java");
    Files.writeString(source, program);
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-cp", Libraries.classPath()));
    arguments.addAll(List.of("-d", dir.toString(), source.toString()));
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(null, messages, messages, arguments.toArray(String[]::new));
    assertEquals(0, code, messages.toString(UTF_8));
  }
}
