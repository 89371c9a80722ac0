package io.isobardb.lsm.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.typed.Pair;
import io.isobardb.lsm.typed.TypedDataset;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs in the documents compile, and the recipes do what they say. */
@Tag("any-jdk")
class DocsTest {
  private static final String IMPORTS =
      """
      import io.isobardb.lsm.*;
      import io.isobardb.lsm.dataset.*;
      import io.isobardb.lsm.error.*;
      import io.isobardb.lsm.option.*;
      import io.isobardb.lsm.recipe.*;
      import io.isobardb.lsm.recipe.Queue;
      import io.isobardb.lsm.typed.*;
      import java.nio.*;
      import java.nio.charset.*;
      import java.nio.file.*;
      import java.time.*;
      import java.util.*;
      """;

  @TempDir Path dir;

  /** All snippets of a page as members of one class, which has a field {@code store}. */
  private Class<?> compiled(String page, String name) throws Exception {
    Path file = Path.of("..", "docs", page);
    String text = Files.readString(Files.exists(file) ? file : Path.of("docs", page));
    Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(text);
    StringBuilder members = new StringBuilder();
    while (block.find()) {
      if (block.group(1).matches("(?s).*(IsobarMetrics|JacksonCodec).*")) {
        continue; // the tests of lsm-micrometer and lsm-jackson have them
      }
      members.append(block.group(1));
    }
    Path source = dir.resolve(name + ".java");
    Files.writeString(
        source,
        IMPORTS
            + ("public class " + name + " {\n  public Store store;\n")
            + members.toString().replaceAll("(?m)^(\\w[^\n]*\\) \\{)$", "public $1")
            + "}\n");
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-cp", Libraries.classPath()));
    arguments.addAll(List.of("-d", dir.toString(), source.toString()));
    int code = compiler.run(null, messages, messages, arguments.toArray(String[]::new));
    assertEquals(0, code, messages.toString(UTF_8));
    URLClassLoader loader = new URLClassLoader(new URL[] {dir.toUri().toURL()});
    return loader.loadClass(name);
  }

  private static Object call(Object recipes, String name, Object... arguments) throws Exception {
    for (Method method : recipes.getClass().getMethods()) {
      if (method.getName().equals(name)) {
        return method.invoke(recipes, arguments);
      }
    }
    throw new AssertionError("no recipe has a method " + name);
  }

  private static Object recipes(Class<?> type, Store store) throws Exception {
    Constructor<?> constructor = type.getConstructor();
    Object recipes = constructor.newInstance();
    type.getField("store").set(recipes, store);
    return recipes;
  }

  @Test
  void theSnippetsOfAllPagesCompile() throws Exception {
    List<Path> pages;
    try (Stream<Path> files = Files.list(Path.of("..", "docs"))) {
      pages = files.filter(page -> page.toString().endsWith(".md")).sorted().toList();
    }
    assertTrue(pages.size() > 10, pages.toString());
    for (Path page : pages) {
      compiled(page.getFileName().toString(), "Page" + pages.indexOf(page));
    }
  }

  @Test
  void recipesDoWhatTheySay() throws Exception {
    Class<?> type = compiled("recipes.md", "Recipes");
    try (Store store =
        Store.open(dir.resolve("store"), StoreOptions.builder().memoryBudget(16 << 20).build())) {
      Object recipes = recipes(type, store);
      byte[] early = (byte[]) call(recipes, "key", "ada", -5L);
      byte[] late = (byte[]) call(recipes, "key", "ada", 7L);
      assertTrue(Arrays.compareUnsigned(early, late) < 0);

      Tree counters = store.openTree("counters");
      assertEquals(3L, call(recipes, "count", "/"));
      assertEquals(6L, call(recipes, "count", "/"));
      inThreads(() -> call(recipes, "increment", counters, new byte[] {1}));
      assertEquals(201L, call(recipes, "increment", counters, new byte[] {1}));
      assertEquals(201L, call(recipes, "total", List.of(counters), new byte[] {1}));

      assertEquals(true, call(recipes, "send", "welcome"));
      assertTrue(store.tree("sent").contains("welcome".getBytes(UTF_8)));
      assertEquals("ada", call(recipes, "user", "new"));
      assertNull(call(recipes, "user", "none"));
      assertEquals(1L, call(recipes, "measure", Instant.EPOCH));
      assertEquals(2L, call(recipes, "measure", Instant.EPOCH.plusSeconds(60)));
      assertEquals(
          "Ada", call(recipes, "customer", 5L).toString().replaceAll(".*name=(\\w+).*", "$1"));

      store.openTree("events-2026-01-01");
      store.openTree("events-2026-01-31");
      call(recipes, "keep", java.time.LocalDate.of(2026, 2, 1), 7);
      assertTrue(store.treeNames().contains("events-2026-01-31"));
      assertTrue(!store.treeNames().contains("events-2026-01-01"));

      assertEquals(2L, call(recipes, "visits", "ada"));
      assertNotNull(call(recipes, "people"));
      pagesAreRead(recipes, store);
      Tree byTime = store.openTree("by-time");
      byTime.put(ByteBuffer.allocate(Long.BYTES).putLong(3).array(), early);
      Tree byUser = store.openTree("by-user");
      byUser.put((byte[]) call(recipes, "key", "ada", 3L), early);
      byUser.put((byte[]) call(recipes, "key", "bob", 3L), early);
      call(recipes, "forget", byTime, byUser, 4L);
      assertFalse(byTime.contains(ByteBuffer.allocate(Long.BYTES).putLong(3).array()));
      assertFalse(byUser.contains((byte[]) call(recipes, "key", "ada", 3L)));
      assertTrue(byUser.contains((byte[]) call(recipes, "key", "bob", 3L)));
      call(recipes, "protect", counters);
      Tree orders = store.openTree("orders");
      byte[] id = {9};
      call(recipes, "save", orders, store.openTree("by-customer"), id, id, id);
      assertArrayEquals(id, orders.get(id));
    }
  }

  /** Five members in pages of two. */
  @SuppressWarnings("unchecked")
  private static void pagesAreRead(Object recipes, Store store) throws Exception {
    var members = (TypedDataset<Long, Object>) call(recipes, "members");
    ClassLoader loader = recipes.getClass().getClassLoader();
    Constructor<?> member =
        loader.loadClass("Recipes$Member").getDeclaredConstructor(String.class, String.class);
    member.setAccessible(true);
    for (long id = 1; id <= 5; id++) {
      members.put(id, member.newInstance("m" + id, id < 4 ? "London" : "Bath"));
    }
    assertEquals(3, ((List<?>) call(recipes, "londoners", members)).size());
    List<String> seen = new ArrayList<>();
    Pair<String, Long> last = null;
    for (int page = 0; page < 4; page++) {
      String text = call(recipes, "page", members, last).toString();
      Matcher parts = Pattern.compile("name=(m\\d)|first=(\\w+), second=(\\d)").matcher(text);
      while (parts.find()) {
        if (parts.group(1) != null) {
          seen.add(parts.group(1));
        } else {
          last = new Pair<>(parts.group(2), Long.valueOf(parts.group(3)));
        }
      }
    }
    assertEquals(List.of("m4", "m5", "m1", "m2", "m3"), seen);
    try (Snapshot now = store.snapshot()) {
      assertEquals(List.of(5L, 4L, 3L, 2L, 1L), call(recipes, "newest", members, now));
    }
  }

  private interface Step {
    void run() throws Exception;
  }

  /** Runs a step a hundred times in each of two threads. */
  private static void inThreads(Step step) throws Exception {
    List<Throwable> failures = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 2; t++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 100; i++) {
                    step.run();
                  }
                } catch (Throwable e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new AssertionError(failures.get(0));
    }
  }
}
