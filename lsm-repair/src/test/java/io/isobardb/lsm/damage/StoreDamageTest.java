package io.isobardb.lsm.damage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever happens to the bytes of a store's files, it is told of, or changes no answer.
 *
 * <p>After a kill nobody has noted how far the log reaches: then what is lost of it must be its
 * end.
 *
 * <p>{@code -Disobar.damage.perFile=N} changes about N bytes of each file; from the size of the
 * files on (1000000) that is all of them. {@code -Disobar.seed} chooses others.
 */
@Tag("any-jdk")
class StoreDamageTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);
  private static final int PER_FILE = Integer.getInteger("isobar.damage.perFile", 4);

  private final List<String> wrong = new ArrayList<>();

  @Test
  void everyDamageIsToldOfOrHarmless() throws IOException {
    DamagedStore store = new DamagedStore(SEED);
    DamagedStore other = new DamagedStore(SEED + 1);
    assertNull(read(store, store.disk(new Damage("", "none", files -> {}))));
    for (Damage damage : Damages.of(store, other, SEED, PER_FILE)) {
      judge(store, damage);
    }
    if (!wrong.isEmpty()) {
      List<String> some = wrong.subList(0, Math.min(20, wrong.size()));
      fail("seed " + SEED + ", " + wrong.size() + " wrong:\n" + String.join("\n", some));
    }
  }

  /** Nobody has said how far the log of a store reaches that was not closed. */
  @Test
  void theDamagedLogOfAKilledStoreHoldsAPrefixOfItsWritesOrIsRefused() throws IOException {
    SimulatedWorld world = new SimulatedWorld(SEED);
    SimulatedStorage killed;
    int writes = 40;
    try (Store store = world.open(SimulatedStores.SMALL)) {
      Tree tree = store.createTree("t", TreeOptions.defaults());
      for (int i = 0; i < writes; i++) {
        tree.put(SimulatedStores.key(i), SimulatedStores.value(i, i * 7), Durability.SYNC);
      }
      killed = world.storage().copy();
    }
    String log = killed.list().stream().filter(n -> n.endsWith(".log")).findFirst().orElseThrow();
    TreeMap<String, byte[]> files = new TreeMap<>(Map.of(log, DamagedStore.read(killed, log)));
    int refused = 0;
    int cut = 0;
    for (Damage damage : Damages.of(files, SEED, 4 * PER_FILE)) {
      TreeMap<String, byte[]> damaged = new TreeMap<>(files);
      damage.apply(damaged);
      try (Store store =
          new SimulatedWorld(DamagedStore.disk(killed, files, damaged), SEED)
              .open(DamagedStore.OPTIONS)) {
        int found = 0;
        try (Cursor cursor = store.tree("t").cursor()) {
          for (boolean more = cursor.first(); more; more = cursor.next()) {
            assertArrayEquals(SimulatedStores.key(found), cursor.key(), damage.toString());
            assertArrayEquals(SimulatedStores.value(found, found * 7), cursor.value());
            found++;
          }
        }
        cut += found < writes ? 1 : 0;
      } catch (IsobarException e) {
        assertTrue(e.getMessage().contains(log), () -> damage + ": " + e);
        refused++;
      }
    }
    assertTrue(refused > cut, refused + " refused, " + cut + " cut");
  }

  @Test
  void damageInAnSSTableNamesItsTree() throws IOException {
    DamagedStore store = new DamagedStore(SEED);
    Map<String, String> trees = store.treesByFile();
    for (String name : store.trees()) {
      Damage firstPages =
          new Damage(
              "",
              "a byte of each data page that is a file's first",
              files ->
                  trees.forEach(
                      (file, tree) -> {
                        if (tree.equals(name)) {
                          int other = files.get(file)[4096 + 40] ^ 1;
                          Damage.set(file, 4096 + 40, other).apply(files);
                        }
                      }));
      try (Store opened =
          new SimulatedWorld(store.disk(firstPages), SEED).open(DamagedStore.OPTIONS)) {
        CorruptionException told =
            assertThrows(CorruptionException.class, () -> read(opened.tree(name)));
        assertEquals(name, told.tree(), told.toString());
        assertEquals(name, trees.get(told.file()), told.toString());
        assertTrue(told.getMessage().contains("of tree '" + name + "'"), told.toString());
      }
      try (OfflineStore inspector = DamagedStore.inspect(store.disk(firstPages))) {
        List<Finding> findings = inspector.check(CheckProgress.NONE).findings();
        assertFalse(findings.isEmpty());
        for (Finding finding : findings) {
          assertTrue(finding.what().contains("tree '" + name + "'"), finding.toString());
        }
      }
    }
  }

  @Test
  void aMissingSSTableIsToldOfWithItsTree() throws IOException {
    DamagedStore store = new DamagedStore(SEED);
    Map.Entry<String, String> lost = store.treesByFile().entrySet().iterator().next();
    SimulatedStorage disk = store.disk(Damage.missing(lost.getKey()));
    CorruptionException told =
        assertThrows(
            CorruptionException.class,
            () -> new SimulatedWorld(disk, SEED).open(DamagedStore.OPTIONS));
    assertEquals(lost.getKey(), told.file());
    assertEquals(lost.getValue(), told.tree());
  }

  private void judge(DamagedStore store, Damage damage) throws IOException {
    String step = "checking";
    try {
      boolean sound = checks(store.disk(damage));
      step = "reading";
      SimulatedStorage disk = store.disk(damage);
      String told = read(store, disk);
      if (told != null && sound) {
        wrong.add(damage + ": the check finds nothing, reading: " + told);
      }
      if (told != null && !names(damage, told, store)) {
        wrong.add(damage + ": does not name the file: " + told);
      }
      if (sound && mustBeFound(damage, store)) {
        wrong.add(damage + ": the check finds nothing");
      }
      assertEquals(0, disk.openFiles(), "files left open");
    } catch (RuntimeException | Error e) {
      wrong.add(damage + ": " + step + ": " + e);
    }
  }

  /** Every byte of an SSTable and of CURRENT counts, whether it is read or not. */
  private static boolean mustBeFound(Damage damage, DamagedStore store) {
    TreeMap<String, byte[]> files = new TreeMap<>(store.files());
    damage.apply(files);
    return store.files().entrySet().stream()
        .filter(file -> file.getKey().endsWith(".sst") || file.getKey().equals("CURRENT"))
        .anyMatch(file -> !Arrays.equals(file.getValue(), files.get(file.getKey())));
  }

  /** Whether what was told names one of the files that were harmed. */
  private static boolean names(Damage damage, String told, DamagedStore store) {
    return store.files().keySet().stream()
        .anyMatch(name -> told.contains(name) && damage.toString().contains(name));
  }

  private static boolean checks(SimulatedStorage disk) throws IOException {
    try (OfflineStore inspector = DamagedStore.inspect(disk)) {
      CheckReport report = inspector.check(CheckProgress.NONE);
      return report.isSound();
    } catch (IsobarException e) {
      return false;
    }
  }

  /** Opens and reads everything; gives what the store tells of damage, or null. */
  private static @Nullable String read(DamagedStore store, SimulatedStorage disk) {
    SimulatedWorld world = new SimulatedWorld(disk, SEED);
    try {
      Store opened = world.open(DamagedStore.OPTIONS);
      String told = null;
      try {
        assertEquals(List.copyOf(store.trees()), opened.treeNames());
        for (int round = 0; round < 2; round++) {
          for (String name : store.trees()) {
            told = first(told, scan(opened.tree(name), store.model(name)));
            told = first(told, gets(opened.tree(name), store.model(name)));
          }
          world.background(20);
        }
      } finally {
        opened.close();
      }
      return told;
    } catch (IsobarException e) {
      return e.toString();
    }
  }

  private static @Nullable String first(@Nullable String a, @Nullable String b) {
    return a != null ? a : b;
  }

  private static @Nullable String scan(Tree tree, TreeMap<byte[], byte[]> model) {
    List<Map.Entry<byte[], byte[]>> expected = new ArrayList<>(model.entrySet());
    if (tree.name().equals("backwards")) {
      expected = new ArrayList<>(model.descendingMap().entrySet());
    }
    int at = 0;
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        assertTrue(at < expected.size(), tree + ": more entries than there were");
        same(tree, expected.get(at).getKey(), cursor.key());
        same(tree, expected.get(at).getValue(), cursor.value());
        at++;
      }
    } catch (IsobarException e) {
      return e.toString();
    }
    assertEquals(expected.size(), at, tree + ": entries");
    return null;
  }

  private static void read(Tree tree) {
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        cursor.value();
      }
    }
  }

  private static @Nullable String gets(Tree tree, TreeMap<byte[], byte[]> model) {
    String told = null;
    for (int k = 0; k < 90; k++) {
      byte[] key = SimulatedStores.bytes("key" + k + "-".repeat(k % 11));
      try {
        byte[] value = tree.get(key);
        same(tree, model.get(key), value);
      } catch (IsobarException e) {
        told = e.toString();
      }
    }
    return told;
  }

  private static void same(Tree tree, byte @Nullable [] expected, byte @Nullable [] found) {
    if (!Arrays.equals(expected, found)) {
      fail(tree + ": " + text(found) + " instead of " + text(expected));
    }
  }

  private static String text(byte @Nullable [] bytes) {
    return bytes == null ? "nothing" : SimulatedWorld.text(bytes);
  }
}
