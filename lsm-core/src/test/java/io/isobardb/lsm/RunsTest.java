package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.store.OpenTree;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The options {@code runs} and {@code maxSpace} of a tree. */
class RunsTest {
  @TempDir Path directory;

  private static String text(String runs) {
    return Runs.parse(runs).toString();
  }

  private static String refused(String runs) {
    return assertThrows(IllegalArgumentException.class, () -> text(runs)).getMessage();
  }

  @Test
  void numbersThatSayNothingAreLeftOut() {
    assertEquals("LEVELED", text("leveled"));
    assertEquals("LEVELED", text("1,1,1"));
    assertEquals("LAZY(8)", text("LAZY"));
    assertEquals("LAZY(4)", text("4, 4, 1"));
    assertEquals("TIERED(3)", text("3,3"));
    assertEquals("8,4,1", text("8,4,1"));
    assertEquals("4,1,1", text("4,1,1"));
    assertEquals(Runs.of(4, 1), Runs.lazy(4));
    assertEquals(Runs.of(4), Runs.tiered(4));
  }

  @Test
  void badNumbersAreTold() {
    for (String bad : List.of("1,4", "33", "0", "LAZY(1)", "LAZZY", "4,x", "")) {
      assertTrue(refused(bad).matches(".*(run|LAZY).*"), bad + ": " + refused(bad));
    }
    assertTrue(refused("4,8,1").contains("8 can't follow 4"), refused("4,8,1"));
    assertTrue(refused("40,1").contains("1 to 32 runs, not 40"), refused("40,1"));
  }

  @Test
  void bothAreStored() {
    try (Store store = Store.open(directory)) {
      Tree tree =
          store.createTree("t", TreeOptions.builder().runs(Runs.tiered(4)).maxSpace(3).build());
      assertEquals(Runs.tiered(4), tree.runs());
      assertEquals(3, tree.maxSpace());
    }
    try (Store store = Store.open(directory)) {
      Tree tree = store.tree("t");
      assertEquals("TIERED(4), 3.0", tree.runs() + ", " + tree.maxSpace());
      assertEquals(Runs.tiered(4), tree.options().runs());
      tree.setRuns(Runs.lazy(4));
      tree.setMaxSpace(0);
      assertEquals(1.25, tree.maxSpace());
      store.openTree("t", TreeOptions.builder().runs(Runs.of(8, 4, 1)).build());
      assertEquals("8,4,1", tree.runs().toString());
      store.dropTree("t");
      assertEquals(Runs.leveled(), store.openTree("t").runs());
    }
  }

  @Test
  void runsThatAreRefusedLeaveTheChoiceToTheStore() {
    try (Store store = Store.open(directory)) {
      Tree tree = store.openTree("t");
      TreeHandle handle = ((OpenTree) tree).handle();
      assertThrows(IllegalArgumentException.class, () -> tree.setRuns(Runs.tiered(4)));
      TreeOptions tiered = TreeOptions.builder().runs(Runs.tiered(4)).build();
      assertThrows(IllegalArgumentException.class, () -> store.openTree("t", tiered));
      assertTrue(handle.isAdaptable());
      tree.setRuns(Runs.leveled());
      assertFalse(handle.isAdaptable());
    }
  }

  @Test
  void whatCanNotBeKeptIsRefused() {
    try (Store store = Store.open(directory)) {
      TreeOptions tiered = TreeOptions.builder().runs(Runs.tiered(4)).build();
      String message =
          assertThrows(IllegalArgumentException.class, () -> store.createTree("t", tiered))
              .getMessage();
      assertTrue(message.contains("set maxSpace to 2.0 or more"), message);
      assertEquals(List.of(), store.treeNames());
      assertThrows(IllegalArgumentException.class, () -> store.openTree("t", tiered));
      assertEquals(List.of(), store.treeNames());
      Tree tree = store.openTree("t");
      assertThrows(IllegalArgumentException.class, () -> tree.setRuns(Runs.tiered(4)));
      tree.setMaxSpace(2);
      tree.setRuns(Runs.tiered(4));
      assertThrows(IllegalArgumentException.class, () -> tree.setMaxSpace(1.5));
      assertThrows(IllegalArgumentException.class, () -> tree.setMaxSpace(0.5));
      assertEquals("TIERED(4), 2.0", tree.runs() + ", " + tree.maxSpace());
    }
    // An opening refuses nothing: merges keep the bound.
    try (Store store = Store.open(directory, StoreOptions.builder().maxSpace(1.1).build())) {
      assertEquals(2, store.tree("t").maxSpace());
    }
  }
}
