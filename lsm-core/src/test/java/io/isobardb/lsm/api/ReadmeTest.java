package io.isobardb.lsm.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    for (Path page : Sections.pages()) {
      Matcher link =
          Pattern.compile("\\]\\(([^)#:]*)(?:#([^)]*))?\\)").matcher(Files.readString(page));
      while (link.find()) {
        Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
        assertTrue(Files.exists(target), page + ": " + link.group());
        if (link.group(2) != null) {
          assertTrue(Sections.anchors(target).contains(link.group(2)), page + ": " + link.group());
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"README.md, 140", "ARCHITECTURE.md, 350"})
  void canBeReadInOneSitting(String page, int mostLines) throws IOException {
    int lines = Files.readAllLines(file(page)).size();
    assertTrue(lines <= mostLines, page + " has " + lines + " lines; the rest has pages in docs");
  }

  /** A search for the words of a question leads to one heading, and what follows answers it. */
  @ParameterizedTest
  @CsvSource({
    "put durable, ARCHITECTURE.md",
    "wakes stalled writer, ARCHITECTURE.md",
    "how much flush takes, ARCHITECTURE.md",
    "torn log damaged, ARCHITECTURE.md",
    "cursor holds, ARCHITECTURE.md",
    "add option, CONTRIBUTING.md",
    "add merge policy, CONTRIBUTING.md",
    "memory counted, ARCHITECTURE.md",
    "happens full disk, ARCHITECTURE.md",
    "which thread does what, ARCHITECTURE.md",
  })
  void questionsHaveOneShortAnswer(String words, String page) throws IOException {
    List<Sections.Section> found = new ArrayList<>();
    for (Path each : Sections.pages()) {
      Sections.of(each).stream().filter(section -> section.has(words)).forEach(found::add);
    }
    assertEquals(1, found.size(), found.toString());
    assertEquals(page, found.get(0).page().getFileName().toString());
    int length = found.get(0).words();
    assertTrue(length > 20 && length < 150, found.get(0) + " has " + length + " words");
  }
}
