package io.isobardb.lsm.merge;

import static io.isobardb.lsm.version.Tables.bytes;
import static io.isobardb.lsm.version.Tables.table;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Entries of 10 bytes with the keys 000 to 999 go into outputs of about 1,000 bytes. */
class OutputCutsTest {
  private final List<VersionEdit.Added> tables = new ArrayList<>();

  @Test
  void withNothingBelowTheSizeDecides() {
    assertEquals(List.of(100, 200, 300), starts(OutputCuts.at(KeyOrder.BYTES, 1000, null), 0, 350));
    assertEquals(List.of(100, 200, 300), starts(OutputCuts.inL0(version(1), 1000), 0, 350));
    level(0, 0, 500);
    assertEquals(List.of(100, 200), starts(OutputCuts.inLevel(version(1), 0, 1000), 0, 250));
  }

  @Test
  void noOutputHasKeysOnBothSidesOfABorder() {
    KeyOrder order = KeyOrder.BYTES;
    assertEquals(
        List.of(100, 131, 231, 331), starts(OutputCuts.at(order, 1000, bytes("130")), 0, 350));
    assertEquals(List.of(100, 200, 300), starts(OutputCuts.at(order, 1000, bytes("199")), 0, 350));
    assertEquals(List.of(250), starts(OutputCuts.at(order, 1000, bytes("149")), 150, 350));
    assertEquals(List.of(100), starts(OutputCuts.at(order, 1000, bytes("900")), 0, 150));
  }

  @Test
  void theNearestKeyBelowDecides() {
    level(0, 0, 30, 60, 90, 120, 150, 180, 210, 240, 270);
    assertEquals(List.of(90, 180, 270), starts(OutputCuts.inLevel(version(2), 1, 1000), 0, 300));
    assertEquals(List.of(150, 240), starts(OutputCuts.inLevel(version(2), 1, 1000), 55, 300));
  }

  @Test
  void oneFarOffDoesNot() {
    level(0, 0, 50, 400, 420);
    assertEquals(
        List.of(150, 250, 350, 450), starts(OutputCuts.inLevel(version(2), 1, 1000), 0, 500));
  }

  @Test
  void emptyLevelsAreLookedThrough() {
    level(0, 0, 110, 220);
    assertEquals(List.of(110, 220), starts(OutputCuts.inLevel(version(3), 2, 1000), 0, 300));
    assertEquals(List.of(110, 220), starts(OutputCuts.inL0(version(3), 1000), 0, 300));
  }

  @Test
  void groupsOfL0GoBeforeTheLevelBelow() {
    level(0, 0, 40, 80, 100, 140, 190, 240, 300, 390);
    group(1, 0, 95, 180);
    // Up to 250, where the group ends, its SSTables are what to go by; then those below.
    assertEquals(List.of(95, 180, 300, 390), starts(OutputCuts.inL0(version(1), 1000), 0, 450));
  }

  private void level(int height, int... starts) {
    add(Place.level(height), starts, 999);
  }

  private void group(int number, int... starts) {
    add(Place.group(number), starts, 250);
  }

  private void add(Place place, int[] starts, int last) {
    for (int i = 0; i < starts.length; i++) {
      int end = i + 1 < starts.length ? starts[i + 1] - 1 : last;
      tables.add(
          new VersionEdit.Added(place, table(tables.size() + 1, text(starts[i]), text(end), 1000)));
    }
  }

  private Version version(int levels) {
    return Version.of(KeyOrder.BYTES, levels, tables);
  }

  /** The first keys of all outputs but the first, of entries with keys in a range. */
  private static List<Integer> starts(OutputCuts cuts, int from, int to) {
    List<Integer> starts = new ArrayList<>();
    cuts.begin(bytes(text(from)), 3);
    long size = 10;
    for (int key = from + 1; key < to; key++) {
      if (cuts.before(bytes(text(key)), 3, size)) {
        starts.add(key);
        cuts.begin(bytes(text(key)), 3);
        size = 0;
      }
      size += 10;
    }
    return starts;
  }

  private static String text(int key) {
    return String.format("%03d", key);
  }
}
