package io.isobardb.lsm.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What edits may say, and what becomes of it. */
class StoreContentsTest {
  private static StoreContents oneTree() {
    return StoreContents.of(
        List.of(
            VersionEdit.create(new TreeDefinition(1, "t", Map.of())),
            VersionEdit.of(1)
                .levels(2)
                .add(Place.level(1), table(1, 5))
                .add(Place.group(1), table(1, 6))
                .deleteRange(range(8))
                .build()));
  }

  private static RangeDelete range(long lsn) {
    return new RangeDelete(null, Tables.bytes("k"), lsn);
  }

  private static SSTableMeta table(int tree, long file) {
    byte[] key = Tables.bytes("k" + file);
    return Tables.table(tree, file, key, key, 99, 5, 1);
  }

  private static String text(StoreContents contents) {
    EditCodec.Output out = new EditCodec.Output();
    contents.snapshot().forEach(edit -> EditCodec.encode(edit, out));
    return HexFormat.of().formatHex(out.bytes(), 0, out.length());
  }

  private static Recovered.Counters counters(StoreContents contents) {
    VersionEdit store = contents.snapshot().get(0);
    return new Recovered.Counters(
        store.nextFileNumber(), store.nextTreeId(), store.checkpointLsn(), store.logStartLsn(), 0);
  }

  private static StoreContents after(VersionEdit edit) {
    StoreContents contents = oneTree();
    contents.apply(List.of(edit));
    return contents;
  }

  /** Edits of all kinds, which fit one after the other. */
  private static final List<VersionEdit> ALL_KINDS =
      List.of(
          VersionEdit.store().nextFileNumber(40).nextTreeId(9).property("a", "b").build(),
          VersionEdit.store().checkpointLsn(16).logStartLsn(8).property("a", "").build(),
          VersionEdit.create(new TreeDefinition(2, "u", Map.of())),
          VersionEdit.rename(2, "v"),
          VersionEdit.of(2).add(Place.level(0), table(2, 50)).flushedLsn(24).build(),
          VersionEdit.of(1).levels(3).add(Place.level(2), table(1, 51)).remove(6).build(),
          VersionEdit.of(1).move(51, Place.level(0)).move(5, Place.level(0)).levels(1).build(),
          VersionEdit.of(1).deleteRange(range(16)).rangesLsn(16).build(),
          VersionEdit.of(1).resetRanges().deleteRange(range(24)).build(),
          VersionEdit.of(1).deleteRange(range(32)).build(),
          VersionEdit.drop(1),
          VersionEdit.create(new TreeDefinition(3, "t", Map.of())));

  @Test
  void editsCanBeTakenBack() {
    StoreContents contents = oneTree();
    String before = text(contents);
    for (int count = 1; count <= ALL_KINDS.size(); count++) {
      List<VersionEdit> edits = ALL_KINDS.subList(0, count);
      StoreContents.Undo undo = contents.apply(edits);
      String after = text(contents);
      undo.run();
      assertEquals(before, text(contents), () -> "without " + edits);
      contents.apply(edits).run();
      contents.apply(edits);
      assertEquals(after, text(contents), () -> "once more: " + edits);
      contents = oneTree();
    }
  }

  @Test
  void ofEditsThatDoNotAllFitNoneIsTaken() {
    StoreContents contents = oneTree();
    String before = text(contents);
    List<VersionEdit> edits = new ArrayList<>(ALL_KINDS);
    edits.add(VersionEdit.drop(7));
    assertThrows(IllegalArgumentException.class, () -> contents.apply(edits));
    assertEquals(before, text(contents));
    contents.apply(ALL_KINDS);
  }

  private static void refused(String why, VersionEdit edit) {
    StoreContents contents = oneTree();
    String before = text(contents);
    String told =
        assertThrows(IllegalArgumentException.class, () -> contents.apply(List.of(edit)))
            .getMessage();
    assertTrue(told.contains(why), told);
    assertEquals(before, text(contents));
  }

  @Test
  void editsThatContradictWhatIsThereAreRefusedWithTheReason() {
    refused("tree ID 1 exists", VersionEdit.create(new TreeDefinition(1, "u", Map.of())));
    refused("tree t exists", VersionEdit.create(new TreeDefinition(2, "t", Map.of())));
    refused("no tree 2", VersionEdit.of(2).levels(1).build());
    refused("no tree 2", VersionEdit.drop(2));
    refused("to remove", VersionEdit.of(1).remove(7).build());
    refused("nothing to move", VersionEdit.of(1).move(7, Place.level(0)).build());
    refused("is of tree 2", VersionEdit.of(1).add(Place.level(0), table(2, 7)).build());
    refused("there already", VersionEdit.of(1).add(Place.level(0), table(1, 5)).build());
    refused("no last-2", VersionEdit.of(1).add(Place.level(2), table(1, 7)).build());
    refused("no last-2", VersionEdit.of(1).move(6, Place.level(2)).build());
    refused("no last-1", VersionEdit.of(1).levels(1).build());
  }

  @Test
  void aLevelCanGoWhenNothingIsLeftThere() {
    StoreContents shrunk = after(VersionEdit.of(1).move(5, Place.level(0)).levels(1).build());
    assertEquals(1, shrunk.snapshot().get(1).levels());
    assertEquals(
        List.of(5L, 6L), shrunk.fileNumbers().stream().sorted().toList(), "moved, not lost");
    StoreContents grown =
        after(VersionEdit.of(1).levels(3).add(Place.level(2), table(1, 7)).build());
    assertEquals(3, grown.snapshot().get(1).levels());
  }

  @Test
  void theEditsOfASnapshotMakeTheSameContents() {
    StoreContents contents =
        after(
            VersionEdit.store()
                .nextFileNumber(40)
                .nextTreeId(9)
                .checkpointLsn(16)
                .logStartLsn(8)
                .property("a", "b")
                .property("gone", "")
                .build());
    StoreContents again = StoreContents.of(contents.snapshot());
    assertEquals(text(contents), text(again));
    assertEquals(new Recovered.Counters(40, 9, 16, 8, 0), counters(again));
    assertEquals(Map.of("a", "b"), again.snapshot().get(0).properties());
  }

  /** Each of them is a promise that nothing below is used again, or needed. */
  @Test
  void countersNeverGoBack() {
    StoreContents contents = oneTree();
    assertEquals(new Recovered.Counters(7, 2, 0, 0, 0), counters(contents));
    List<Function<Long, VersionEdit>> edits =
        List.of(
            n -> VersionEdit.store().nextFileNumber(n).build(),
            n -> VersionEdit.store().nextTreeId((int) (long) n).build(),
            n -> VersionEdit.store().checkpointLsn(n).build(),
            n -> VersionEdit.store().logStartLsn(n).build(),
            n -> VersionEdit.of(1).flushedLsn(n).build());
    for (Function<Long, VersionEdit> edit : edits) {
      contents.apply(List.of(edit.apply(24L)));
      String high = text(contents);
      for (long lower : new long[] {16, 0}) {
        contents.apply(List.of(edit.apply(lower)));
        assertEquals(high, text(contents));
      }
    }
    assertEquals(new Recovered.Counters(24, 24, 24, 24, 0), counters(contents));
    assertEquals(24, contents.snapshot().get(1).flushedLsn());
  }

  @Test
  void aDroppedTreesNameIsFreeAndItsFilesAreGone() {
    StoreContents dropped = after(VersionEdit.drop(1));
    assertEquals(List.of(), dropped.fileNumbers());
    dropped.apply(List.of(VersionEdit.create(new TreeDefinition(2, "t", Map.of()))));
    assertEquals(2, dropped.snapshot().get(1).treeId());
    assertEquals(new Recovered.Counters(7, 3, 0, 0, 0), counters(dropped));
  }

  @Test
  void editsAreOfATreeOrOfTheStore() {
    VersionEdit.Builder store = VersionEdit.store();
    VersionEdit.Builder tree = VersionEdit.of(1);
    List<Runnable> wrong =
        List.of(
            () -> store.remove(1),
            () -> store.move(1, Place.level(0)),
            () -> store.add(Place.level(0), table(1, 1)),
            () -> store.levels(1),
            () -> store.flushedLsn(1),
            () -> tree.nextFileNumber(1),
            () -> tree.nextTreeId(1),
            () -> tree.checkpointLsn(1),
            () -> tree.logStartLsn(1),
            () -> tree.property("a", "b"));
    wrong.forEach(call -> assertThrows(IllegalStateException.class, call::run));
    List<Runnable> outOfRange =
        List.of(
            () -> VersionEdit.of(0),
            () -> tree.levels(0),
            () -> tree.levels(Place.MAX_LEVELS + 1),
            () -> tree.flushedLsn(-1),
            () -> store.nextFileNumber(-1),
            () -> store.nextTreeId(-1),
            () -> store.checkpointLsn(-1),
            () -> store.logStartLsn(-1),
            () -> Place.group(0),
            () -> Place.level(-1),
            () -> Place.level(Place.MAX_LEVELS));
    outOfRange.forEach(call -> assertThrows(IllegalArgumentException.class, call::run));
    assertEquals(1, tree.levels(1).build().levels());
    assertEquals(Place.MAX_LEVELS, tree.levels(Place.MAX_LEVELS).build().levels());
    assertEquals(31, Place.level(31).height());
    assertThrows(IllegalStateException.class, () -> Place.group(1).height());
    assertEquals("L0/3 last last-2", Place.group(3) + " " + Place.level(0) + " " + Place.level(2));
  }

  @Test
  void onlyWhatLooksLikeAManifestIsOne() {
    assertEquals(12, ManifestLayout.number("MANIFEST-000012"));
    assertEquals(1_234_567, ManifestLayout.number(ManifestLayout.fileName(1_234_567)));
    assertEquals(999_999_999_999_999_999L, ManifestLayout.number("MANIFEST-" + "9".repeat(18)));
    for (String name :
        List.of(
            "MANIFEST-00012",
            "MANIFEST-" + "9".repeat(19),
            "MANIFEST-00001x",
            "MANIFEST-00001/",
            "MANIFEST-00001:",
            "manifest-000012",
            "MANIFEST-",
            "CURRENT")) {
      assertEquals(-1, ManifestLayout.number(name), name);
    }
  }
}
