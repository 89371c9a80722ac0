package io.isobardb.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.inspect.CheckProgress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Null is refused by the name of the parameter, and nothing is done. */
@Tag("any-jdk")
@SuppressWarnings("NullAway")
class NullArgumentsTest {
  private static final StoreOptions OPTIONS = StoreOptions.builder().memoryBudget(8 << 20).build();

  @TempDir Path temp;

  private static void assertNamed(String parameter, Executable call) {
    assertEquals(parameter, assertThrows(NullPointerException.class, call).getMessage());
  }

  @Test
  void ofARepair() {
    Path from = temp.resolve("store");
    Path to = temp.resolve("made");
    CheckProgress none = CheckProgress.NONE;
    Store.open(from, OPTIONS).close();
    assertNamed("directory", () -> StoreRepair.run(null, to, OPTIONS, none));
    assertNamed("target", () -> StoreRepair.run(from, null, OPTIONS, none));
    assertNamed("options", () -> StoreRepair.run(from, to, null, none));
    assertNamed("progress", () -> StoreRepair.run(from, to, OPTIONS, null));
    assertFalse(Files.exists(to), "nothing was made");
  }

  @Test
  void ofAnInspector() throws IOException {
    try (Store store = Store.open(temp, OPTIONS)) {
      store.openTree("t");
    }
    assertNamed("directory", () -> StoreInspector.open(null, OPTIONS));
    assertNamed("options", () -> StoreInspector.open(temp, null));
    try (StoreInspector inspector = StoreInspector.open(temp, OPTIONS)) {
      var tree = inspector.trees().get(0);
      assertNamed("progress", () -> inspector.check(null));
      assertNamed("tree", () -> inspector.entries(null, null, null, entry -> true));
      assertNamed("visitor", () -> inspector.entries(tree, null, null, null));
      assertNamed("tree", () -> inspector.rangeDeletes(null));
      assertNamed("tree", () -> inspector.log(null, null, null, entry -> true));
      assertNamed("visitor", () -> inspector.log(tree, null, null, null));
    }
    Store.open(temp, OPTIONS).close();
  }
}
