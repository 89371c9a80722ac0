package io.isobardb.lsm.api;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Names that a store keeps as text. */
class NamesTest {
  private static final StoreOptions SMALL = SimulatedStores.SMALL;
  private static final String LONGEST = "n".repeat(200);

  /** A name that no store may keep, and a part of what is said of it. */
  private record Refused(String name, String reason) {}

  private static final List<Refused> REFUSED =
      List.of(
          new Refused("", "1 to 200 characters, not 0"),
          new Refused(LONGEST + "n", "1 to 200 characters, not 201"),
          new Refused("\uD800x", "half of a surrogate pair: there is \\uD800 at index 0"),
          new Refused("x\uDC00", "half of a surrogate pair: there is \\uDC00 at index 1"),
          new Refused("\uDC00\uD800", "half of a surrogate pair"),
          new Refused("a\nb", "control characters: there is \\u000A at index 1 of 'a\\u000Ab'"),
          new Refused("\0", "control characters"),
          new Refused("\u0085", "control characters"));

  @TempDir Path temp;

  private static void assertRefused(Refused refused, String what, Executable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
    assertTrue(
        e.getMessage().contains(refused.reason) && e.getMessage().contains(what), e::toString);
  }

  private static KeyOrder order(String name) {
    return new KeyOrder() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
        return KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
      }
    };
  }

  @Test
  void aTreeIsNotCreatedUnderANameThatCanNotBeKept() {
    try (Store store = Store.open(temp, SMALL)) {
      for (Refused refused : REFUSED) {
        TreeOptions options = TreeOptions.defaults();
        assertRefused(refused, "a tree", () -> store.openTree(refused.name));
        assertRefused(refused, "a tree", () -> store.createTree(refused.name, options));
      }
      assertEquals(List.of(), store.treeNames());
    }
  }

  @Test
  void norWithSuchAKeyOrder() {
    try (Store store = Store.open(temp, SMALL)) {
      for (Refused refused : REFUSED) {
        TreeOptions options = TreeOptions.builder().keyOrder(order(refused.name)).build();
        assertRefused(refused, "a key order", () -> store.openTree("t", options));
        assertRefused(refused, "a key order", () -> store.createTree("t", options));
      }
      assertEquals(List.of(), store.treeNames());
    }
  }

  @Test
  void allThatUtf8CanSayIsKept() {
    List<String> names = List.of("\uD83D\uDC1F", LONGEST, "?", "a b/c", "\u00e9", "\u4e16");
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    try (Store store = Store.open(temp, options)) {
      names.forEach(name -> store.openTree(name).put(bytes("k"), bytes(name)));
    }
    try (Store store = Store.open(temp, options)) {
      assertEquals(names.stream().sorted().toList(), store.treeNames());
      names.forEach(n -> assertArrayEquals(bytes(n), store.tree(n).get(bytes("k"))));
    }
  }

  /** Trees 1, 2, ..., as the manifest takes them. */
  private void createUnchecked(String... names) throws IOException {
    PagePool pool = new PagePool(1 << 20, 4096);
    try (DirectoryStorage storage = DirectoryStorage.open(temp, false);
        Manifest manifest = Manifest.open(storage, pool, 1 << 20).manifest()) {
      for (int i = 0; i < names.length; i++) {
        TreeDefinition tree = new TreeDefinition(i + 1, names[i], Map.of());
        manifest.append(List.of(VersionEdit.create(tree)));
      }
    } finally {
      pool.close();
    }
  }

  @Test
  void aTreeThatAnEarlierReleaseGaveAStrangeNameCanBeReadAndDropped() throws Exception {
    Store.open(temp, SMALL).close();
    createUnchecked("a\nb", "\uD800x", "\uD801x", "?x");
    List<String> names = List.of("a\nb", "?x", "?x#3", "?x#4");
    for (int round = 0; round < 2; round++) {
      try (Store store = Store.open(temp, SMALL)) {
        assertEquals(names.stream().sorted().toList(), store.treeNames());
        for (String name : names) {
          store.openTree(name).put(bytes("k"), bytes(name));
        }
        // Begins a new manifest, which has the names as they are now.
        store.flush();
      }
    }
    try (Store store = Store.open(temp, SMALL)) {
      for (String name : names) {
        assertArrayEquals(bytes(name), store.tree(name).get(bytes("k")));
        store.dropTree(name);
      }
    }
    try (Store store = Store.open(temp, SMALL)) {
      assertEquals(List.of(), store.treeNames());
    }
  }
}
