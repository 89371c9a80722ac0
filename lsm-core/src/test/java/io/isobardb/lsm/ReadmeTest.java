package io.isobardb.lsm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadmeTest {
  @TempDir Path dir;

  private static Path file(String name) {
    Path path = Path.of("..", name);
    return Files.exists(path) ? path : Path.of(name);
  }

  private static String readme() throws IOException {
    return Files.readString(file("README.md"));
  }

  @Test
  void theProgramCompilesAndPrintsWhatIsSaid() throws Exception {
    Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(readme());
    assertTrue(block.find());
    Path source = dir.resolve("Hello.java");
    Files.writeString(source, block.group(1));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    int code =
        compiler.run(
            null,
            messages,
            messages,
            "-Xlint:all",
            "-proc:none",
            "-cp",
            Path.of(Store.class.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString(),
            "-d",
            dir.toString(),
            source.toString());
    assertEquals(0, code, messages.toString(UTF_8));
    PrintStream before = System.out;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {dir.toUri().toURL()})) {
      System.setOut(new PrintStream(out, true, UTF_8));
      String[] args = {dir.resolve("store").toString()};
      loader.loadClass("Hello").getMethod("main", String[].class).invoke(null, (Object) args);
    } finally {
      System.setOut(before);
    }
    assertEquals("1815\n1815/ada\n", out.toString(UTF_8).replace("\r", ""));
  }

  @Test
  void linksLeadSomewhere() throws IOException {
    for (String name :
        new String[] {
          "README.md",
          "ARCHITECTURE.md",
          "CONTRIBUTING.md",
          "SECURITY.md",
          "CHANGELOG.md",
          "docs/options.md",
          "docs/decisions/README.md"
        }) {
      Path from = file(name);
      Matcher link = Pattern.compile("\\]\\(([^)#:]+)\\)").matcher(Files.readString(from));
      while (link.find()) {
        assertTrue(Files.exists(from.resolveSibling(link.group(1))), name + ": " + link.group(1));
      }
    }
  }
}
