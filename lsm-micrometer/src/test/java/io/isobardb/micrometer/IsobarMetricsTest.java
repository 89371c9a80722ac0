package io.isobardb.micrometer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.regex.Pattern.DOTALL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.Figure;
import io.isobardb.memory.stats.Metric;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IsobarMetricsTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] VALUE = "value".getBytes(UTF_8);

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @TempDir Path dir;

  /** Reads all meters; gives what they are. */
  private Set<String> readAll() {
    Set<String> names = new TreeSet<>();
    for (Meter meter : registry.getMeters()) {
      meter.measure().forEach(measurement -> measurement.getValue());
      names.add(meter.getId().getName());
    }
    return names;
  }

  /** Waits, however long it takes: the registry is looked at once a second. */
  private void readUntil(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      Thread.sleep(50);
      readAll();
    }
  }

  @Test
  void eachNumberHasAMeter() {
    try (Store store = Store.open(dir)) {
      Tree tree = store.openTree("t");
      tree.put(KEY, VALUE);
      tree.get(KEY);
      tree.get(VALUE);
      new IsobarMetrics(store).bindTo(registry);
      assertEquals(
          Figure.ofStore().stream()
              .filter(figure -> figure.metric().kind() != Metric.Kind.TEXT)
              .map(figure -> "isobar." + figure.name())
              .collect(Collectors.toCollection(TreeSet::new)),
          readAll());
      assertEquals(1, registry.get("isobar.puts").functionCounter().count());
      assertEquals(2, registry.get("isobar.gets").functionCounter().count());
      assertEquals(8, registry.get("isobar.user.written").functionCounter().count());
      assertEquals(0, registry.get("isobar.failed").gauge().value());
      assertEquals(
          store.metrics().ledger().limitBytes(),
          registry.get("isobar.memory.budget").gauge().value());
      Meter.Id time = registry.get("isobar.get.time").tag("quantile", "0.99").meter().getId();
      assertEquals("seconds", time.getBaseUnit());
      assertEquals(store.path(), time.getTag("store"));
      assertTrue(
          registry.get("isobar.stall.time").tag("reason", "LOG_FULL").functionCounter().count()
              < 1e6);
    }
  }

  private boolean has(String tree) {
    return registry.find("isobar.tree.gets").tags("tree", tree).meter() != null;
  }

  @Test
  void metersOfTreesComeAndGoAndAllGoWithTheStore() throws InterruptedException {
    try (Store store = Store.open(dir)) {
      store.openTree("first").put(KEY, VALUE);
      new IsobarMetrics(store, Tags.of("store", "a")).withTrees().bindTo(registry);
      assertEquals(
          1, registry.get("isobar.tree.puts").tags("tree", "first").functionCounter().count());
      Tree second = store.openTree("second");
      assertTrue(has("second"), "at once");
      assertEquals(
          0, registry.get("isobar.tree.gets").tags("tree", "second").functionCounter().count());
      second.get(KEY);
      readUntil(
          () ->
              registry.get("isobar.tree.gets").tags("tree", "second").functionCounter().count()
                  == 1);
      store.renameTree("second", "third");
      assertFalse(has("second"));
      assertTrue(has("third"));
      store.dropTree("first");
      assertFalse(has("first"));
      assertFalse(readAll().isEmpty());
    }
    readUntil(() -> registry.getMeters().isEmpty());
  }

  @Test
  void withoutTreesTheyGoWithTheStoreToo() throws InterruptedException {
    try (Store store = Store.open(dir)) {
      new IsobarMetrics(store).bindTo(registry);
      assertFalse(readAll().isEmpty());
    }
    readUntil(() -> registry.getMeters().isEmpty());
  }

  /** Nobody read the registry while the store was closed. */
  @Test
  void aStoreThatIsOpenedAgainHasItsMeters() throws InterruptedException {
    for (int puts = 1; puts <= 2; puts++) {
      try (Store store = Store.open(dir)) {
        new IsobarMetrics(store).withTrees().bindTo(registry);
        Tree tree = store.openTree("t");
        for (int i = 0; i < puts; i++) {
          tree.put(KEY, VALUE);
        }
        int expected = puts;
        readUntil(() -> registry.get("isobar.puts").functionCounter().count() == expected);
        readUntil(
            () ->
                registry.get("isobar.tree.puts").tags("tree", "t").functionCounter().count()
                    == expected);
      }
    }
  }

  @Test
  void closedMetricsAreGone() {
    try (Store store = Store.open(dir)) {
      store.openTree("t");
      IsobarMetrics metrics = new IsobarMetrics(store).withTrees();
      metrics.bindTo(registry);
      metrics.close();
      assertTrue(registry.getMeters().isEmpty());
      assertThrows(IllegalStateException.class, () -> metrics.bindTo(registry));
    }
  }

  @Test
  void aRegistryThatRefusesAMeterIsLeftWithout() {
    for (String refused : List.of("isobar.gets", "isobar.tree.gets")) {
      MeterRegistry refusing = new SimpleMeterRegistry();
      refusing
          .config()
          .onMeterAdded(
              meter -> {
                if (meter.getId().getName().equals(refused)) {
                  throw new IllegalArgumentException(refused);
                }
              });
      try (Store store = Store.open(dir.resolve(refused))) {
        store.openTree("t");
        IsobarMetrics metrics = new IsobarMetrics(store).withTrees();
        assertThrows(IllegalArgumentException.class, () -> metrics.bindTo(refusing));
        Set<String> left = new TreeSet<>();
        refusing.getMeters().forEach(meter -> left.add(meter.getId().getName()));
        assertTrue(Set.of(refused).containsAll(left), left::toString);
        metrics.bindTo(registry);
        metrics.close();
        assertTrue(registry.getMeters().isEmpty());
      }
    }
  }

  @Test
  void aStoreThatIsClosedLeavesNoMeters() {
    Store store = Store.open(dir);
    IsobarMetrics metrics = new IsobarMetrics(store);
    store.close();
    assertThrows(StoreClosedException.class, () -> metrics.bindTo(registry));
    assertTrue(registry.getMeters().isEmpty());
  }

  @Test
  void areBoundAsThePageForOperatorsSays() throws Exception {
    String page = Files.readString(Path.of("../docs/operations.md"));
    Matcher snippet = Pattern.compile("```java\n(new IsobarMetrics.*?)```", DOTALL).matcher(page);
    assertTrue(snippet.find());
    String program =
        "import io.isobardb.lsm.*; import io.isobardb.micrometer.*;"
            + " import io.micrometer.core.instrument.*; class Operator {"
            + (" void run(Store store, MeterRegistry registry) { " + snippet.group(1) + "}}");
    Path source = Files.writeString(dir.resolve("Operator.java"), program);
    String classes =
        Stream.of(Store.class, IsobarMetrics.class, MeterRegistry.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation().getPath())
            .collect(Collectors.joining(File.pathSeparator));
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String[] arguments = {"-proc:none", "-cp", classes, "-d", dir.toString(), source.toString()};
    assertEquals(0, compiler.run(null, messages, messages, arguments), messages::toString);
  }
}
