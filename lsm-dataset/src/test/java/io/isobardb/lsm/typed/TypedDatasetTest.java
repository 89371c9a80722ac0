package io.isobardb.lsm.typed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.Maintenance;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TypedDatasetTest {
  record Note(String owner, List<String> tags, int stars) {}

  private record Place(String tag, long id) {}

  private static final TypedIndex<Note, String> BY_TAG =
      TypedIndex.of("tag", KeyCodec.ofString(), Note::tags);
  private static final TypedIndex<Note, Pair<String, Integer>> BY_OWNER =
      TypedIndex.of(
          "owner",
          KeyCodec.pair(KeyCodec.ofString(), KeyCodec.ofInt()),
          note -> List.of(new Pair<>(note.owner(), note.stars())));

  @TempDir Path directory;
  private Store store;

  @BeforeEach
  void open() {
    store = Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build());
  }

  @AfterEach
  void close() {
    store.close();
  }

  private TypedDataset<Long, Note> notes(
      DatasetOptions options, List<TypedIndex<Note, ?>> indexes) {
    return TypedDataset.open(
        store, "notes", KeyCodec.ofLong(), Codec.of(Note.class), indexes, options);
  }

  @SafeVarargs
  @SuppressWarnings("varargs") // The list is a copy.
  private TypedDataset<Long, Note> notes(TypedIndex<Note, ?>... indexes) {
    return notes(DatasetOptions.defaults(), List.of(indexes));
  }

  private static Note note(String owner, int stars, String... tags) {
    return new Note(owner, List.of(tags), stars);
  }

  private static List<Long> ids(Stream<Map.Entry<Long, Note>> entries) {
    try (entries) {
      return entries.map(Map.Entry::getKey).toList();
    }
  }

  @Test
  void recordsAreReadInTheOrderOfTheirKeys() {
    TypedDataset<Long, Note> notes = notes();
    for (long id = 1; id <= 5; id++) {
      notes.put(id, note("ada", 1));
    }
    assertEquals(List.of(2L, 3L), ids(notes.entries(KeyRange.between(2L, 4L))));
    assertEquals(List.of(5L, 4L), ids(notes.entries(KeyRange.from(4L).descending())));
    store.runInTransaction(
        transaction -> {
          notes.delete(transaction, 3L);
          notes.put(transaction, 9L, note("ada", 1));
          assertEquals(List.of(2L, 4L, 5L, 9L), ids(notes.entries(transaction, KeyRange.from(2L))));
        });
  }

  @Test
  void aReportReadsTwoDatasetsAsOfOneMoment() {
    TypedDataset<Long, Note> notes = notes(BY_TAG, BY_OWNER);
    TypedDataset<String, Integer> owners =
        TypedDataset.open(store, "owners", KeyCodec.ofString(), Codec.int32());
    notes.put(1L, note("ada", 3, "x", "y"));
    owners.put("ada", 1);
    try (Snapshot moment = store.snapshot()) {
      notes.put(1L, note("bob", 4, "z"));
      notes.put(2L, note("ada", 5, "x"));
      owners.put("ada", 2);
      assertEquals(1, owners.get("ada", moment));
      assertEquals(note("ada", 3, "x", "y"), notes.get(1L, moment));
      assertNull(notes.get(2L, moment));
      assertEquals(List.of(1L), ids(notes.entries(KeyRange.all(), moment)));
      assertEquals(List.of(1L), ids(notes.find(BY_TAG, "x", moment).stream()));
      assertEquals(List.of(1L, 1L), ids(notes.entries(BY_TAG, KeyRange.all(), moment)));
      try (TypedIndexCursor<Pair<String, Integer>, Long, Note> cursor =
          notes.cursor(BY_OWNER, KeyRange.startingWith("ada"), moment)) {
        assertTrue(cursor.last());
        assertEquals(new Pair<>("ada", 3), cursor.indexKey());
        assertEquals(1L, cursor.key());
        assertEquals(note("ada", 3, "x", "y"), cursor.value());
      }
    }
    assertEquals(List.of(2L), ids(notes.find(BY_TAG, "x").stream()));
    assertEquals(List.of(1L, 2L), ids(notes.entries(BY_TAG, KeyRange.<String>all().descending())));
  }

  @Test
  void anIndexIsReadAsATransactionSeesIt() {
    TypedDataset<Long, Note> notes = notes(BY_TAG);
    notes.put(1L, note("ada", 3, "x"));
    store.runInTransaction(
        transaction -> {
          notes.put(transaction, 2L, note("ada", 3, "w", "x"));
          assertEquals(
              List.of(2L, 1L, 2L), ids(notes.entries(transaction, BY_TAG, KeyRange.all())));
          try (TypedIndexCursor<String, Long, Note> cursor =
              notes.cursor(transaction, BY_TAG, KeyRange.from("x"))) {
            assertTrue(cursor.seekAfter("x", 1L));
            assertEquals(2L, cursor.key());
          }
          assertEquals(1, notes.count(BY_TAG, KeyRange.all()));
        });
    assertEquals(3, notes.count(BY_TAG, KeyRange.all()));
    assertEquals(1, notes.count(BY_TAG, KeyRange.before("x")));
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void pagesFollowEachOtherBothWays(Maintenance maintenance) {
    TypedIndex<Note, String> byTag = BY_TAG.maintained(maintenance);
    TypedDataset<Long, Note> notes = notes(byTag);
    SplittableRandom random = new SplittableRandom(1);
    TreeMap<Long, Note> model = new TreeMap<>();
    for (int i = 0; i < 300; i++) {
      long id = random.nextInt(60);
      Note note = note("ada", i, "t" + random.nextInt(5), "u" + random.nextInt(3));
      notes.put(id, note);
      model.put(id, note);
    }
    List<Place> places = new ArrayList<>();
    model.forEach((id, note) -> note.tags().forEach(tag -> places.add(new Place(tag, id))));
    places.sort(Comparator.comparing(Place::tag).thenComparing(Place::id));
    KeyRange<String> range = KeyRange.between("t1", "u2");
    places.removeIf(place -> place.tag().compareTo("t1") < 0 || place.tag().compareTo("u2") >= 0);
    assertEquals(places, pages(notes, byTag, range, true));
    Collections.reverse(places);
    assertEquals(places, pages(notes, byTag, range, false));
    assertEquals(places.size(), notes.count(byTag, range));
  }

  /** All places of a range, from pages of seven entries, each with a cursor of its own. */
  private static List<Place> pages(
      TypedDataset<Long, Note> notes,
      TypedIndex<Note, String> index,
      KeyRange<String> range,
      boolean forward) {
    List<Place> all = new ArrayList<>();
    Place at = null;
    boolean more = true;
    while (more) {
      try (TypedIndexCursor<String, Long, Note> cursor = notes.cursor(index, range)) {
        if (at == null) {
          more = forward ? cursor.first() : cursor.last();
        } else {
          more =
              forward ? cursor.seekAfter(at.tag(), at.id()) : cursor.seekBefore(at.tag(), at.id());
        }
        for (int i = 0; more && i < 7; i++) {
          at = new Place(cursor.indexKey(), cursor.key());
          all.add(at);
          assertTrue(cursor.value().tags().contains(at.tag()));
          more = forward ? cursor.next() : cursor.previous();
        }
      }
    }
    return all;
  }

  @Test
  void aUniqueIndexIsReadFromAPlaceOn() {
    TypedIndex<Note, Integer> byStars =
        TypedIndex.<Note, Integer>of("stars", KeyCodec.ofInt(), note -> List.of(note.stars()))
            .asUnique();
    TypedDataset<Long, Note> notes = notes(byStars);
    notes.put(7L, note("ada", 10));
    notes.put(5L, note("ada", 20));
    try (TypedIndexCursor<Integer, Long, Note> cursor = notes.cursor(byStars, KeyRange.all())) {
      assertTrue(cursor.seekAfter(10, 7L));
      assertEquals(5L, cursor.key());
      assertTrue(cursor.seekAfter(10, 6L), "the place of another record before it");
      assertEquals(7L, cursor.key());
      assertTrue(cursor.seekBefore(20, 5L));
      assertEquals(7L, cursor.key());
      assertTrue(cursor.seekBefore(20, 6L), "the place of another record behind it");
      assertEquals(5L, cursor.key());
      assertTrue(!cursor.seekAfter(20, 5L) && !cursor.isValid());
      assertTrue(!cursor.seekBefore(10, 7L) && !cursor.isValid());
      assertTrue(cursor.seek(11) && cursor.previous() && cursor.seekBefore(20));
      assertEquals(10, cursor.indexKey());
    }
  }

  @Test
  void indexesOfAnotherVersionAreBuiltIfAsked() {
    notes(BY_TAG, BY_OWNER).put(1L, note("Ada", 1, "X"));
    close();
    open();
    TypedIndex<Note, String> lowerCase =
        TypedIndex.<Note, String>of(
                "tag",
                KeyCodec.ofString(),
                note -> note.tags().stream().map(String::toLowerCase).toList())
            .withVersion(2);
    String told = assertThrows(IllegalArgumentException.class, () -> notes(lowerCase)).getMessage();
    assertTrue(told.contains("updateIndexes"), told);
    TypedDataset<Long, Note> notes =
        notes(DatasetOptions.builder().updateIndexes(true).build(), List.of(lowerCase));
    assertEquals(List.of(1L), ids(notes.find(lowerCase, "x").stream()));
    assertEquals(1, notes.dataset().indexes().size());
  }

  @Test
  void optionsAreThoseOfTheDataset() {
    DatasetOptions unlogged =
        DatasetOptions.builder().primary(TreeOptions.builder().logged(false).build()).build();
    notes(unlogged, List.of(BY_TAG)).put(1L, note("ada", 1, "x"));
    assertTrue(!store.tree("notes").isLogged());
    DatasetOptions withIndex =
        DatasetOptions.builder()
            .index(Index.builder("tag").key((key, value) -> List.of(value)).build())
            .build();
    String told =
        assertThrows(IllegalArgumentException.class, () -> notes(withIndex, List.of()))
            .getMessage();
    assertTrue(told.contains("give typed ones"), told);
  }

  @Test
  void aTreeWithAKeyOrderOfItsOwnIsRefusedAndStaysFree() {
    KeyOrder reversed =
        new KeyOrder() {
          @Override
          public String name() {
            return "reversed";
          }

          @Override
          public int compare(
              byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
            return Arrays.compareUnsigned(
                b, bOffset, bOffset + bLength, a, aOffset, aOffset + aLength);
          }
        };
    store.createTree("notes", TreeOptions.builder().keyOrder(reversed).build());
    String told = assertThrows(IllegalArgumentException.class, () -> notes()).getMessage();
    assertTrue(told.contains("'reversed'"), told);
    store.dropTree("notes");
    notes().put(1L, note("ada", 1));
  }
}
