package io.isobardb.lsm.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.option.Runs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD) // which the simulation belongs to
class DatasetTest {
  private final SimulatedDatasets world = new SimulatedDatasets(1);
  private Store store;

  @BeforeEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  void openStore() {
    store = world.open();
  }

  @AfterEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  void closeStore() {
    store.close();
  }

  private void reopen() {
    store.close();
    store = world.open();
  }

  /** The words of a record are its index keys. */
  private static Index words(String name, Maintenance maintenance, boolean unique) {
    return Index.builder(name)
        .key((key, value) -> splitWords(value))
        .maintenance(maintenance)
        .unique(unique)
        .build();
  }

  private static List<byte[]> splitWords(byte[] value) {
    return Arrays.stream(text(value).split(" "))
        .filter(w -> !w.isEmpty())
        .map(DatasetTest::bytes)
        .toList();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, UTF_8);
  }

  @Test
  void aNameThatCanNotBeKeptIsRefused() {
    for (String name : List.of("", "n".repeat(201), "\uD800x", "x\uDC00", "a\nb", "\u0085")) {
      DatasetOptions options = DatasetOptions.defaults();
      assertThrows(IllegalArgumentException.class, () -> Dataset.open(store, name, options));
      assertThrows(IllegalArgumentException.class, () -> Index.builder(name));
    }
    assertEquals(List.of(), store.treeNames());
  }

  @Test
  void aTreeWithAnOperatorIsRefused() {
    TreeOptions merging = TreeOptions.builder().mergeOperator(MergeOperator.APPEND).build();
    DatasetOptions options = DatasetOptions.builder().primary(merging).build();
    String message =
        message(IllegalArgumentException.class, () -> Dataset.open(store, "d", options));
    assertTrue(message.contains("merge operator"), message);
    assertEquals(List.of(), store.treeNames());
    store.createTree("t", merging);
    assertThrows(
        IllegalArgumentException.class, () -> Dataset.open(store, "t", DatasetOptions.defaults()));
  }

  private Dataset open(Index... indexes) {
    DatasetOptions.Builder options = DatasetOptions.builder().changeTimeout(Duration.ofMillis(20));
    Arrays.stream(indexes).forEach(options::index);
    return Dataset.open(store, "d", options.build());
  }

  private static void put(Dataset dataset, String key, String value) {
    dataset.put(bytes(key), bytes(value));
  }

  private static String keys(List<IndexEntry> entries) {
    List<String> keys = new ArrayList<>();
    entries.forEach(entry -> keys.add(text(entry.key())));
    return String.join(" ", keys);
  }

  private static String find(Dataset dataset, String word) {
    return keys(dataset.find("words", bytes(word)));
  }

  private static String find(Dataset dataset, Transaction transaction, String word) {
    return keys(dataset.find(transaction, "words", bytes(word)));
  }

  private static String message(Class<? extends Exception> type, Runnable what) {
    return assertThrows(type, what::run).getMessage();
  }

  private static void assertContains(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text.contains(part), () -> "'" + part + "' in: " + text);
    }
  }

  // ---- what it does

  @Test
  void anIndexIsMadeLikeItsPrimaryTree() {
    TreeOptions primary =
        TreeOptions.builder()
            .compression(Compression.LZ4)
            .filterBitsPerKey(4)
            .timeToLive(Duration.ofDays(1))
            .runs(Runs.lazy(4))
            .maxSpace(1.5)
            .build();
    DatasetOptions options =
        DatasetOptions.builder()
            .primary(primary)
            .index(words("words", Maintenance.EAGER, false))
            .build();
    Dataset.open(store, "d", options);
    assertEquals(
        primary.toBuilder().timeToLive(Duration.ZERO).build(),
        store.tree("d/index/words/1").options());
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void recordsAreFoundByWhatTheyHoldNowAndNotByWhatTheyHeld(Maintenance maintenance) {
    Dataset dataset = open(words("words", maintenance, false));
    put(dataset, "1", "red green");
    put(dataset, "2", "red");
    put(dataset, "1", "green blue blue");
    assertEquals("2", find(dataset, "red"));
    assertEquals("1", find(dataset, "green"));
    assertEquals("1", find(dataset, "blue"));
    dataset.delete(bytes("1"));
    assertEquals("", find(dataset, "blue"));
    assertEquals("", find(dataset, "gre"));
    assertNull(dataset.get(bytes("1")));
    assertEquals("red", text(dataset.get(bytes("2"))));
  }

  @Test
  void staleEntriesAreCountedAndRepairedInSlices() {
    Dataset dataset = open(words("words", Maintenance.VALIDATION, false));
    for (int i = 0; i < 300; i++) {
      put(dataset, "k" + i, "old");
      put(dataset, "k" + i, "new");
    }
    assertEquals("", find(dataset, "old"));
    assertEquals(300, dataset.indexes().get(0).staleSeen());
    DatasetCheck.IndexCheck before = dataset.check().indexes().get(0);
    assertEquals(600, before.entries());
    assertEquals(300, before.stale());
    assertTrue(dataset.check().isSound());

    assertEquals(new RepairResult(100, 0, false), dataset.repair("words", 100));
    assertEquals(new RepairResult(250, 50, false), dataset.repair("words", 250));
    assertEquals(new RepairResult(250, 250, true), dataset.repair("words", 1000));
    assertEquals(new RepairResult(300, 0, true), dataset.repair("words"));
    assertEquals(0, dataset.check().indexes().get(0).stale());
  }

  @Test
  void anEagerWriterLeavesEntriesAloneThatStayTheSame() {
    Dataset dataset = open(words("words", Maintenance.EAGER, false));
    put(dataset, "1", "a b c");
    try (Transaction reader =
        store.begin(TransactionOptions.builder().isolation(Isolation.SERIALIZABLE).build())) {
      try (Cursor cursor =
          reader.cursor(store.tree("d/index/words/1"), CursorOptions.prefix(bytes("a")))) {
        assertTrue(cursor.first());
        assertFalse(cursor.next());
      }
      put(dataset, "1", "a c d");
      reader.commit();
    }
    assertEquals("1", find(dataset, "a"));
  }

  @Test
  void aCursorGoesByIndexKeyAndThenByPrimaryKey() {
    Dataset dataset = open(words("words", Maintenance.EAGER, false));
    put(dataset, "2", "b c");
    put(dataset, "1", "c a");
    put(dataset, "3", "c");
    try (IndexCursor cursor = dataset.cursor("words", IndexRange.all())) {
      List<String> seen = new ArrayList<>();
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        seen.add(text(cursor.indexKey()) + text(cursor.key()));
      }
      assertEquals(List.of("a1", "b2", "c1", "c2", "c3"), seen);
      assertThrows(IllegalStateException.class, cursor::key);
      assertTrue(cursor.seek(bytes("c"), bytes("2")));
      assertEquals("c2b c", text(cursor.indexKey()) + text(cursor.key()) + text(cursor.value()));
      put(dataset, "2", "x");
      assertEquals("b c", text(cursor.value()), "as of when the cursor was opened");
    }
  }

  // ---- transactions

  @ParameterizedTest
  @CsvSource({"EAGER", "VALIDATION"})
  void aTransactionFindsItsOwnWritesAndOthersDoNot(Maintenance maintenance) {
    Dataset dataset = open(words("words", maintenance, false));
    put(dataset, "1", "red");
    try (Transaction transaction = store.begin()) {
      dataset.put(transaction, bytes("1"), bytes("blue"));
      dataset.put(transaction, bytes("2"), bytes("blue"));
      assertEquals("1 2", find(dataset, transaction, "blue"));
      assertEquals("", find(dataset, transaction, "red"));
      assertEquals("", find(dataset, "blue"));
      assertEquals("1", find(dataset, "red"));
      dataset.delete(transaction, bytes("2"));
      assertEquals("1", find(dataset, transaction, "blue"));
      transaction.rollback();
    }
    assertEquals("1", find(dataset, "red"));
    assertTrue(dataset.check().isSound());
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void aSerializableReaderOfAnIndexSeesNoPhantoms(Maintenance maintenance) {
    Dataset dataset = open(words("words", maintenance, false));
    TransactionOptions serializable =
        TransactionOptions.builder().isolation(Isolation.SERIALIZABLE).build();
    try (Transaction transaction = store.begin(serializable)) {
      assertEquals("", find(dataset, transaction, "red"));
      put(dataset, "1", "red");
      dataset.put(transaction, bytes("2"), bytes("green"));
      assertThrows(ConflictException.class, transaction::commit);
    }
    try (Transaction transaction = store.begin(serializable)) {
      assertEquals("1", find(dataset, transaction, "red"));
      put(dataset, "3", "blue");
      dataset.put(transaction, bytes("2"), bytes("green"));
      transaction.commit();
    }
  }

  @Test
  void aRefusedWriteLeavesTheTransactionAsItWas() {
    Dataset dataset = open(words("words", Maintenance.EAGER, true));
    put(dataset, "1", "red");
    try (Transaction transaction = store.begin()) {
      dataset.put(transaction, bytes("2"), bytes("green"));
      assertThrows(
          DuplicateKeyException.class,
          () -> dataset.put(transaction, bytes("3"), bytes("blue red")));
      assertThrows(
          DuplicateKeyException.class,
          () ->
              dataset.write(
                  transaction,
                  new RecordBatch()
                      .put(bytes("4"), bytes("white"))
                      .put(bytes("5"), bytes("green"))));
      transaction.commit();
    }
    assertEquals("", find(dataset, "blue"));
    assertEquals("", find(dataset, "white"));
    assertEquals("2", find(dataset, "green"));
    assertTrue(dataset.check().isSound());
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void aTransactionGoesOnAfterAWriteThatWaitedTooLongForItsRecord(Maintenance maintenance) {
    Dataset dataset = open(words("words", maintenance, false));
    try (Transaction other = store.begin();
        Transaction transaction =
            store.begin(TransactionOptions.builder().lockTimeout(Duration.ofMillis(1)).build())) {
      dataset.put(other, bytes("1"), bytes("theirs"));
      assertThrows(
          LockTimeoutException.class, () -> dataset.put(transaction, bytes("1"), bytes("mine")));
      assertThrows(LockTimeoutException.class, () -> dataset.delete(transaction, bytes("1")));
      dataset.put(transaction, bytes("2"), bytes("mine"));
      transaction.commit();
      other.commit();
    }
    assertEquals("1", find(dataset, "theirs"));
    assertEquals("2", find(dataset, "mine"));
  }

  @Test
  void aWriteThatFailsHalfWayCanNotBeCommitted() {
    Dataset dataset = open(words("words", Maintenance.VALIDATION, false));
    try (Transaction other = store.begin();
        Transaction transaction =
            store.begin(TransactionOptions.builder().lockTimeout(Duration.ofMillis(1)).build())) {
      // Nobody should, but somebody holds the lock of what will be an entry.
      other.put(store.tree("d/index/words/1"), EntryKey.of(bytes("b"), bytes("1")), new byte[0]);
      assertThrows(
          LockTimeoutException.class, () -> dataset.put(transaction, bytes("1"), bytes("a b")));
      assertFalse(transaction.isOpen());
    }
    assertNull(dataset.get(bytes("1")));
  }

  // ---- unique

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void aUniqueIndexRefusesDuplicatesAndSaysWhich(Maintenance maintenance) {
    Dataset dataset = open(words("words", maintenance, true));
    put(dataset, "1", "red");
    DuplicateKeyException e =
        assertThrows(DuplicateKeyException.class, () -> put(dataset, "2", "green red"));
    assertContains(e.getMessage(), "'words'", "'d'", "'red'", "'1'", "'2'");
    assertEquals("words", e.index());
    assertEquals("d", e.dataset());
    assertArrayEquals(bytes("red"), e.indexKey());
    assertArrayEquals(bytes("1"), e.holder());
    assertNull(dataset.get(bytes("2")));
    put(dataset, "1", "red blue");
    put(dataset, "1", "blue");
    put(dataset, "2", "red");
    assertThrows(DuplicateKeyException.class, () -> put(dataset, "1", "red"));
    dataset.delete(bytes("2"));
    put(dataset, "1", "red");
    assertEquals("1", find(dataset, "red"));
    assertEquals("", find(dataset, "blue"));
    assertTrue(dataset.check().isSound());
  }

  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void duplicatesWithinOneTransactionAreRefusedToo(Maintenance maintenance) {
    Dataset dataset = open(words("words", maintenance, true));
    put(dataset, "1", "red");
    for (Locking locking : Locking.values()) {
      try (Transaction transaction =
          store.begin(TransactionOptions.builder().locking(locking).build())) {
        dataset.put(transaction, bytes("2"), bytes("green"));
        assertThrows(
            DuplicateKeyException.class,
            () -> dataset.put(transaction, bytes("3"), bytes("green")));
        dataset.delete(transaction, bytes("1"));
        dataset.put(transaction, bytes("3"), bytes("red"));
        assertEquals("3", find(dataset, transaction, "red"));
      }
    }
    RecordBatch batch = new RecordBatch().put(bytes("4"), bytes("x")).put(bytes("5"), bytes("x"));
    assertThrows(DuplicateKeyException.class, () -> dataset.write(batch));
    assertNull(dataset.get(bytes("4")));
  }

  @ParameterizedTest
  @CsvSource({
    "EAGER, OPTIMISTIC, READ_COMMITTED",
    "EAGER, OPTIMISTIC, SNAPSHOT",
    "VALIDATION, OPTIMISTIC, READ_COMMITTED",
    "VALIDATION, OPTIMISTIC, SNAPSHOT",
    "EAGER, PESSIMISTIC, SNAPSHOT",
    "VALIDATION, PESSIMISTIC, READ_COMMITTED"
  })
  void ofTwoTransactionsThatWantOneKeyTheSecondFails(
      Maintenance maintenance, Locking locking, Isolation isolation) {
    Dataset dataset = open(words("words", maintenance, true));
    TransactionOptions options =
        TransactionOptions.builder()
            .locking(locking)
            .isolation(isolation)
            .lockTimeout(Duration.ofMillis(1))
            .build();
    try (Transaction first = store.begin(options);
        Transaction second = store.begin(options)) {
      dataset.put(first, bytes("1"), bytes("red"));
      assertThrows(
          IsobarException.class,
          () -> {
            dataset.put(second, bytes("2"), bytes("red"));
            first.commit();
            second.commit();
          });
      if (first.isOpen()) {
        first.commit();
      }
    }
    assertEquals("1", find(dataset, "red"));
    assertTrue(dataset.check().isSound());
  }

  /**
   * A transaction that locks nothing meets the key of a record that it has itself changed before:
   * its commit has to fail, so that it is tried again, and then there is no duplicate.
   */
  @ParameterizedTest
  @EnumSource(Maintenance.class)
  void aKeyThatAnotherGaveToARecordWrittenBeforeIsNoDuplicate(Maintenance maintenance) {
    Dataset dataset = open(words("words", maintenance, true));
    put(dataset, "r", "old");
    TransactionOptions options =
        TransactionOptions.builder()
            .locking(Locking.OPTIMISTIC)
            .isolation(Isolation.READ_COMMITTED)
            .build();
    List<String> attempts = new ArrayList<>();
    store.runInTransaction(
        options,
        transaction -> {
          attempts.add("");
          dataset.put(transaction, bytes("r"), bytes("mine"));
          if (attempts.size() == 1) {
            put(dataset, "r", "key");
          }
          dataset.put(transaction, bytes("s"), bytes("key"));
        });
    assertEquals(maintenance == Maintenance.EAGER ? 2 : 1, attempts.size());
    assertEquals("s", find(dataset, "key"));
    assertEquals("r", find(dataset, "mine"));
    assertTrue(dataset.check().isSound());
  }

  // ---- check

  @Test
  void aCheckFindsWhatIsMissingAndWhatIsTooMuch() {
    Dataset dataset =
        open(
            words("words", Maintenance.EAGER, false),
            Records.tagIndex("lazy", Maintenance.VALIDATION),
            words("unique", Maintenance.EAGER, true));
    dataset.put(new byte[] {'1'}, new byte[] {(byte) 200, 1, 'x'});
    assertTrue(dataset.check().isSound());
    store.tree("d").put(new byte[] {'2'}, new byte[] {(byte) 201, 1, 'y'});
    store.tree("d").delete(new byte[] {'1'});
    DatasetCheck check = dataset.check();
    assertFalse(check.isSound());
    assertEquals(1, check.records());
    for (DatasetCheck.IndexCheck index : check.indexes()) {
      boolean lazy = index.index().equals("lazy");
      assertEquals(lazy ? 1 : 2, index.errors(), index.toString());
      assertEquals(lazy ? 1 : 0, index.stale(), index.toString());
      assertContains(index.findings().get(0), "record '2' has no entry at ");
      if (!lazy) {
        assertContains(index.findings().get(1), "leads to the record '1', which is not there");
      }
    }
    byte[] indexKey = splitWords(new byte[] {(byte) 200, 1, 'x'}).get(0);
    assertContains(
        message(IsobarException.class, () -> dataset.find("words", indexKey)),
        "index 'words'",
        "'1'",
        "check()");
  }

  @Test
  void aCheckFindsForeignEntries() {
    Dataset dataset = open(words("words", Maintenance.EAGER, false));
    store.tree("d/index/words/1").put(bytes("nonsense"), new byte[0]);
    assertContains(
        dataset.check().indexes().get(0).findings().get(0),
        "'nonsense'",
        "no key of an index entry");
  }

  // ---- definitions and bad use

  @Test
  void aDatasetIsOpenedWithTheDefinitionsItWasMadeWith() {
    Index words = words("words", Maintenance.EAGER, false);
    Index more = words("more", Maintenance.VALIDATION, true);
    Dataset dataset = open(words, more);
    put(dataset, "1", "red");
    assertContains(message(IllegalStateException.class, () -> open(words, more)), "open already");
    reopen();
    assertContains(
        message(IllegalArgumentException.class, () -> open(words)),
        "'d'",
        "'more'",
        "not among the definitions");
    assertContains(
        message(
            IllegalArgumentException.class,
            () -> open(words, more, words("x", Maintenance.EAGER, false))),
        "no index 'x'",
        "createIndex");
    assertContains(
        message(
            IllegalArgumentException.class,
            () -> open(words, words("more", Maintenance.EAGER, true))),
        "'more' is stored as unique, VALIDATION, version 1",
        "unique, EAGER, version 1");
    Index newer = Index.builder("words").key((key, value) -> List.of()).version(2).build();
    assertContains(message(IllegalArgumentException.class, () -> open(newer, more)), "version 2");
    assertContains(
        message(
            IllegalArgumentException.class,
            () ->
                Dataset.open(
                    store,
                    "d",
                    DatasetOptions.builder()
                        .primary(TreeOptions.builder().logged(false).build())
                        .build())),
        "tree 'd' was created with logged=true, not logged=false");
    assertEquals("1", find(open(words, more), "red"));
  }

  @Test
  void aDatasetOfANewerFormatIsRefused() {
    open();
    store.tree("d/catalog").put(bytes("format"), bytes("2"));
    reopen();
    assertContains(message(FormatException.class, () -> open()), "'d'", "format 2");
  }

  @Test
  void badUseGetsAClearError() {
    Dataset dataset = open(words("words", Maintenance.EAGER, false));
    assertContains(
        message(IllegalArgumentException.class, () -> dataset.find("word", bytes("x"))),
        "no index 'word'",
        "[words]");
    assertContains(message(IllegalArgumentException.class, () -> dataset.repair("words")), "eager");
    assertContains(
        message(IllegalArgumentException.class, () -> dataset.dropIndex("word")),
        "no index 'word'");
    assertContains(
        message(
            IllegalArgumentException.class,
            () -> dataset.createIndex(words("words", Maintenance.EAGER, false))),
        "has an index 'words' already");
    assertContains(message(IllegalArgumentException.class, () -> Index.builder("a/b")), "'a/b'");
    assertContains(
        message(IllegalArgumentException.class, () -> Index.builder("a").build()), "extractor");
    assertContains(
        message(
            IllegalArgumentException.class,
            () -> open(words("x", Maintenance.EAGER, false), words("x", Maintenance.EAGER, true))),
        "'x' is defined twice");
    assertContains(
        message(
            IllegalArgumentException.class,
            () -> Dataset.open(store, "a/b", DatasetOptions.defaults())),
        "'a/b'");
    Transaction ended = store.begin();
    ended.commit();
    assertContains(
        message(IllegalStateException.class, () -> dataset.put(ended, bytes("1"), bytes("red"))),
        "committed");
    try (Store other = new SimulatedDatasets(2).open();
        Transaction foreign = other.begin()) {
      assertContains(
          message(
              IllegalArgumentException.class, () -> dataset.put(foreign, bytes("1"), bytes("red"))),
          "another store");
    }
  }

  @Test
  void anExtractorThatFailsIsNamedAndNothingIsWritten() {
    Index failing =
        Index.builder("failing")
            .key(
                (key, value) -> {
                  if (value.length == 0) {
                    throw new IllegalStateException("empty");
                  }
                  if (value[0] == 'o') {
                    return Arrays.asList(value, null);
                  }
                  return value[0] == 'n' ? null : List.of(value);
                })
            .build();
    Dataset dataset = open(failing, words("words", Maintenance.VALIDATION, false));
    for (String bad : List.of("", "null", "one is null", "x".repeat(2000))) {
      assertContains(
          message(ExtractorException.class, () -> put(dataset, "1", bad)), "'failing'", "'1'");
    }
    assertNull(dataset.get(bytes("1")));
    String longest = "x".repeat(store.tree("d").maxKeyBytes() - 3);
    put(dataset, "1", longest);
    assertEquals("1", keys(dataset.find("failing", bytes(longest))));
    put(dataset, "1", "short");
    assertEquals(new RepairResult(1, 0, false), dataset.repair("words", 1));
    assertEquals(new RepairResult(1, 1, false), dataset.repair("words", 1));
    assertEquals(new RepairResult(0, 0, true), dataset.repair("words", 1));
  }

  // ---- snapshots

  @Test
  void aSnapshotFromBeforeAnIndexCanNotUseIt() {
    Dataset dataset = open();
    put(dataset, "1", "red");
    try (Snapshot snapshot = store.snapshot();
        Transaction transaction = store.begin()) {
      assertEquals("red", text(dataset.get(transaction, bytes("1"))));
      dataset.createIndex(words("words", Maintenance.EAGER, false));
      assertEquals("1", find(dataset, "red"));
      assertContains(
          message(IllegalStateException.class, () -> dataset.find(snapshot, "words", bytes("red"))),
          "not ready yet when");
      assertContains(
          message(
              IllegalStateException.class,
              () -> dataset.cursor(transaction, "words", IndexRange.all())),
          "not ready yet when");
      dataset.dropIndex("words");
      dataset.createIndex(words("words", Maintenance.EAGER, false));
      assertThrows(
          IllegalStateException.class, () -> dataset.cursor(snapshot, "words", IndexRange.all()));
    }
    try (Snapshot snapshot = store.snapshot()) {
      put(dataset, "1", "blue");
      assertEquals("1", keys(dataset.find(snapshot, "words", bytes("red"))));
      assertEquals("red", text(dataset.get(snapshot, bytes("1"))));
    }
  }
}
