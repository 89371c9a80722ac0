package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.damage.DamagedStore;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A tree's options are stored when it is created; what is asked for otherwise is refused. */
class TreeOptionsTest {
  private static final StoreOptions OPTIONS =
      SimulatedStores.SMALL.toBuilder().keyOrder(DamagedStore.BACKWARDS).build();

  private static final TreeOptions UNUSUAL =
      TreeOptions.builder()
          .keyOrder(DamagedStore.BACKWARDS)
          .logged(false)
          .compression(Compression.LZ4)
          .filterBitsPerKey(0)
          .build();

  @TempDir Path temp;

  private static String refused(Store store, TreeOptions options) {
    return assertThrows(IllegalArgumentException.class, () -> store.openTree("t", options))
        .getMessage();
  }

  private static TreeOptions with(String option) {
    TreeOptions.Builder builder = TreeOptions.builder();
    switch (option) {
      case "keyOrder=bytes" -> builder.keyOrder(KeyOrder.BYTES);
      case "logged=true" -> builder.logged(true);
      case "filterBitsPerKey=10" -> builder.filterBitsPerKey(10);
      default -> throw new AssertionError(option);
    }
    return builder.build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"keyOrder=bytes", "logged=true", "filterBitsPerKey=10"})
  void oneThatWasSetAndIsStoredOtherwiseIsRefusedWithBothValues(String asked) {
    String name = asked.substring(0, asked.indexOf('='));
    for (boolean reopened : new boolean[] {false, true}) {
      try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
        if (!reopened) {
          store.createTree("t", UNUSUAL);
        }
        String message = refused(store, with(asked));
        assertTrue(message.contains("tree 't' was created with " + name + "="), message);
        assertTrue(message.contains(", not " + asked + ";"), message);
        assertTrue(message.contains("a tree made with " + name + " as you want"), message);
      }
    }
  }

  @Test
  void allThatDifferAreNamedAndNoOthers() {
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      store.createTree("t", UNUSUAL);
      String message =
          refused(store, UNUSUAL.toBuilder().logged(true).filterBitsPerKey(24).build());
      assertTrue(message.contains("with logged=false filterBitsPerKey=0, not"), message);
      assertTrue(message.contains("not logged=true filterBitsPerKey=24;"), message);
    }
  }

  @Test
  void whatWasNotSetTakesWhatIsStored() {
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      store.createTree("t", UNUSUAL).put(bytes("k"), bytes("v"));
      store.checkpoint();
    }
    try (Store store = Store.open(temp.resolve("store"), OPTIONS)) {
      Tree tree = store.openTree("t");
      assertEquals(UNUSUAL, tree.options());
      assertArrayEquals(bytes("v"), tree.get(bytes("k")));
      assertEquals(UNUSUAL, store.openTree("t", TreeOptions.defaults()).options());
      assertEquals(
          UNUSUAL, store.openTree("t", TreeOptions.builder().logged(false).build()).options());
      assertEquals(UNUSUAL, store.openTree("t", tree.options()).options());
      assertEquals(TreeOptions.defaults(), store.openTree("new").options());
    }
  }

  @Test
  void aTimeToLiveBeyondAllMillisecondsIsRefusedLikeAnyOther() {
    for (long seconds : new long[] {Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
      Duration duration = Duration.ofSeconds(seconds);
      String message =
          assertThrows(
                  IllegalArgumentException.class,
                  () -> TreeOptions.builder().timeToLive(duration).build())
              .getMessage();
      assertTrue(message.contains("timeToLive"), message);
    }
  }

  @Test
  void optionsAreEqualIfTheirValuesAreSetOrNot() {
    TreeOptions set = TreeOptions.builder().logged(true).build();
    assertEquals(TreeOptions.defaults(), set);
    assertEquals(TreeOptions.defaults().hashCode(), set.hashCode());
    assertNotEquals(TreeOptions.defaults(), UNUSUAL);
    assertEquals(
        "keyOrder=bytes mergeOperator=none timeToLive=0s runs=LEVELED maxSpace=0.0"
            + " logged=true compression=NONE"
            + " filterBitsPerKey=10",
        set.toString());
  }
}
