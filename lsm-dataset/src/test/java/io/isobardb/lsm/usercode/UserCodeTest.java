package io.isobardb.lsm.usercode;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.MergeFilter;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.dataset.BuildProgress;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetCheck;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.ExtractorException;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.Maintenance;
import io.isobardb.lsm.dataset.RecordBatch;
import io.isobardb.lsm.error.MergeException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.TypedTree;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Calls each kind of user code that a store takes, has it throw each kind of throwable, use its
 * arrays again and call back, and looks whether the promise of the write was kept: what was told as
 * done is there, what was told as failed is not, and the store goes on.
 */
class UserCodeTest {
  /** More than are kept before a write folds them. */
  private static final int MANY = 40;

  private static final byte[] BAD = bytes("bad");

  @TempDir private Path dir;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static @Nullable String text(byte @Nullable [] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  /** Appends; for keys that begin with "bad" it fails if it is told to. */
  private static final class Failing implements MergeOperator {
    @Nullable Thrown thrown;

    @Override
    public String name() {
      return "failing";
    }

    @Override
    public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
      Thrown how = thrown;
      if (how != null && text(key).startsWith("bad")) {
        how.now();
      }
      byte[] all = MergeOperator.APPEND.merge(key, base, operands);
      return all == null ? new byte[0] : all;
    }

    @Override
    public byte @Nullable [] combine(byte[] older, byte[] newer) {
      Thrown how = thrown;
      if (how != null) {
        how.now();
      }
      return null;
    }
  }

  private Store open(MergeOperator operator) {
    return Store.open(dir.resolve("store"), options().mergeOperator(operator).build());
  }

  private static StoreOptions.Builder options() {
    return StoreOptions.builder().memoryBudget(16 << 20).durability(Durability.ASYNC);
  }

  private Store open() {
    return Store.open(dir.resolve("store"), options().build());
  }

  @ParameterizedTest
  @EnumSource
  void whatAnOperatorThrowsFailsNoWriteAndStopsNoStore(Thrown thrown) {
    try {
      mergeWith(thrown);
    } catch (OutOfMemoryError e) {
      // It would end the run of all tests.
      throw new AssertionError("it passed the store", e);
    }
  }

  private void mergeWith(Thrown thrown) {
    Failing operator = new Failing();
    operator.thrown = thrown;
    TreeOptions merging = TreeOptions.builder().mergeOperator(operator).build();
    try (Store store = open(operator)) {
      Tree tree = store.openTree("t", merging);
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
          tree.merge(BAD, bytes("a"), i == 0 ? Durability.SYNC : Durability.ASYNC);
          tree.merge(bytes("good"), bytes("a"));
        }
        for (int i = 0; i < MANY; i++) {
          WriteBatch batch = store.newBatch();
          batch.merge(tree, bytes("bad batch"), bytes("b")).merge(tree, bytes("good"), bytes("b"));
          store.write(batch);
          try (Transaction transaction = store.begin()) {
            transaction.merge(tree, bytes("bad transaction"), bytes("c"));
            transaction.commit();
            assertEquals(
                "transaction " + transaction.id() + " was committed",
                assertThrows(
                        IllegalStateException.class, () -> transaction.delete(tree, bytes("x")))
                    .getMessage());
          }
        }
        assertThrows(MergeException.class, () -> tree.get(BAD));
        assertEquals((round + 1) * 2 * MANY, text(tree.get(bytes("good"))).length());
        store.flush();
        store.awaitQuiet();
        tree.compact(null, null);
      }
      assertNull(store.failure());
    }
    try (Store store = open(operator)) {
      Tree tree = store.openTree("t", merging);
      MergeException e = assertThrows(MergeException.class, () -> tree.get(BAD));
      assertNotNull(e.getCause());
      operator.thrown = null;
      assertEquals("a".repeat(2 * MANY), text(tree.get(BAD)));
      assertEquals("b".repeat(2 * MANY), text(tree.get(bytes("bad batch"))));
      assertEquals("c".repeat(2 * MANY), text(tree.get(bytes("bad transaction"))));
      tree.compact(null, null);
      assertEquals("a".repeat(2 * MANY), text(tree.get(BAD)));
      assertNull(store.failure());
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatAnExtractorThrowsFailsItsWriteAlone(Thrown thrown) {
    List<Boolean> failing = new ArrayList<>(List.of(true));
    Index index =
        Index.builder("first")
            .key((key, value) -> extract(thrown, failing.get(0), value))
            .maintenance(Maintenance.EAGER)
            .build();
    try (Store store = open()) {
      Dataset data = Dataset.open(store, "d", DatasetOptions.builder().index(index).build());
      data.put(bytes("1"), bytes("x1"));
      assertThrows(ExtractorException.class, () -> data.put(bytes("1"), bytes("!")));
      RecordBatch batch = new RecordBatch();
      batch.put(bytes("2"), bytes("y2")).put(bytes("3"), bytes("!"));
      assertThrows(ExtractorException.class, () -> data.write(batch));
      store.runInTransaction(
          transaction -> {
            data.put(transaction, bytes("4"), bytes("x4"));
            assertThrows(ExtractorException.class, () -> data.write(transaction, batch));
            data.put(transaction, bytes("5"), bytes("x5"));
          });
      assertEquals("x1", text(data.get(bytes("1"))));
      assertNull(data.get(bytes("2")));
      assertEquals(3, data.find("first", bytes("x")).size());
      // A record that the extractor of a new index can't read: there is no such index then.
      failing.set(0, false);
      data.put(bytes("6"), bytes("!"));
      failing.set(0, true);
      Index late =
          Index.builder("late")
              .key((key, value) -> extract(thrown, failing.get(0), value))
              .maintenance(Maintenance.VALIDATION)
              .build();
      assertThrows(ExtractorException.class, () -> data.createIndex(late, BuildProgress.NONE));
      assertEquals(1, data.indexes().size());
      failing.set(0, false);
      data.createIndex(late, BuildProgress.NONE);
      // What merges ask of it.
      failing.set(0, true);
      store.flush();
      store.tree("d").compact(null, null);
      for (String tree : store.treeNames()) {
        store.tree(tree).compact(null, null);
      }
      failing.set(0, false);
      assertEquals(3, data.find("late", bytes("x")).size());
      assertTrue(data.check().isSound());
      assertNull(store.failure());
    }
  }

  private static Collection<byte[]> extract(Thrown thrown, boolean failing, byte[] value) {
    if (failing && value[0] == '!') {
      thrown.now();
    }
    return List.of(Arrays.copyOf(value, 1));
  }

  @ParameterizedTest
  @EnumSource
  void whatAMergeFilterThrowsDropsNothing(Thrown thrown) {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      Tree records = store.openTree("records");
      AtomicInteger asked = new AtomicInteger();
      tree.setMergeFilter(
          records,
          new MergeFilter() {
            @Override
            public byte[] recordKey(byte[] key) {
              return key;
            }

            @Override
            public boolean counts(byte[] key, byte @Nullable [] record) {
              asked.incrementAndGet();
              thrown.now();
              return false;
            }
          });
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++) {
          tree.put(bytes("k" + i), bytes("v"));
        }
        store.flush();
      }
      tree.compact(null, null);
      assertTrue(asked.get() > 0);
      for (int i = 0; i < 100; i++) {
        assertEquals("v", text(tree.get(bytes("k" + i))));
      }
      assertNull(store.failure());
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatAListenerThrowsStopsNothing(Thrown thrown) {
    try (Store store = open()) {
      AtomicInteger told = new AtomicInteger();
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              told.incrementAndGet();
              thrown.now();
            }

            @Override
            public void onSynced(Sync event) {
              thrown.now();
            }

            @Override
            public void onMerged(Merge event) {
              thrown.now();
            }

            @Override
            public String toString() {
              throw new UnsupportedOperationException();
            }
          });
      Tree tree = store.openTree("t");
      tree.put(bytes("k"), bytes("v"), Durability.SYNC);
      store.flush();
      tree.put(bytes("l"), bytes("v"), Durability.SYNC);
      tree.compact(null, null);
      assertTrue(told.get() > 0);
      assertEquals("v", text(tree.get(bytes("k"))));
      assertNull(store.failure());
    }
  }

  @Test
  void aLogThatFailsToTellOfUserCodeStopsNothing() {
    AtomicInteger logged = new AtomicInteger();
    Handler failing =
        new Handler() {
          @Override
          public void publish(LogRecord logRecord) {
            logged.incrementAndGet();
            throw new NoClassDefFoundError("the program was stopped");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    List<Logger> logs =
        List.of(
            Logger.getLogger("io.isobardb.lsm.event.Observers"),
            Logger.getLogger("io.isobardb.lsm.Tree"));
    List<@Nullable Level> levels = new ArrayList<>();
    for (Logger log : logs) {
      levels.add(log.getLevel());
      log.setLevel(Level.WARNING);
      log.addHandler(failing);
    }
    try (Store store = open()) {
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              throw new IllegalStateException();
            }
          });
      Tree tree = store.openTree("t");
      tree.setMergeFilter(store.openTree("records"), new FailingFilter());
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++) {
          tree.put(bytes("k" + i), bytes("v"));
        }
        store.flush();
        assertTrue(logged.get() > round);
      }
      int flushed = logged.get();
      tree.compact(null, null);
      assertTrue(logged.get() > flushed);
      assertNull(store.failure());
    } finally {
      for (int i = 0; i < logs.size(); i++) {
        logs.get(i).removeHandler(failing);
        logs.get(i).setLevel(levels.get(i));
      }
    }
  }

  private static final class FailingFilter implements MergeFilter {
    @Override
    public byte[] recordKey(byte[] key) {
      throw new IllegalStateException();
    }

    @Override
    public boolean counts(byte[] key, byte @Nullable [] record) {
      return true;
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatAnActionAtTheEndThrowsTakesNothingBack(Thrown thrown) {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      AtomicInteger ran = new AtomicInteger();
      TransactionOptions synced =
          TransactionOptions.builder().durability(Durability.SYNC).maxAttempts(3).build();
      store.runInTransaction(
          synced,
          transaction -> {
            transaction.onEnd(thrown::now);
            transaction.onEnd(ran::incrementAndGet);
            transaction.put(tree, bytes("k"), bytes("v"));
          });
      try (Transaction transaction = store.begin()) {
        transaction.onEnd(thrown::now);
        transaction.put(tree, bytes("k"), bytes("w"));
      }
      assertEquals(1, ran.get());
      assertEquals("v", text(tree.get(bytes("k"))));
      tree.put(bytes("k"), bytes("free"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatABodyThrowsRollsItsTransactionBack(Thrown thrown) {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      AtomicReference<@Nullable Transaction> seen = new AtomicReference<>();
      assertThrows(
          Throwable.class,
          () ->
              store.runInTransaction(
                  transaction -> {
                    seen.set(transaction);
                    transaction.put(tree, bytes("k"), bytes("v"));
                    transaction.exclusively(thrown::now);
                  }));
      assertFalse(seen.get().isOpen());
      assertNull(tree.get(bytes("k")));
      tree.put(bytes("k"), bytes("free"));
      assertEquals(0, store.stats().transactions().open());
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatAReaderOrACodecThrowsIsItsCallersAlone(Thrown thrown) {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      byte[] large = new byte[8 << 10];
      tree.put(bytes("k"), large);
      store.flush();
      Codec<byte[]> failing =
          Codec.of(
              value -> {
                thrown.now();
                return value;
              },
              value -> {
                thrown.now();
                return value;
              });
      TypedTree<String, byte[]> typed = TypedTree.of(tree, KeyCodec.ofString(), failing);
      for (int i = 0; i < 100; i++) {
        assertThrows(
            Throwable.class,
            () ->
                tree.read(
                    bytes("k"),
                    value -> {
                      thrown.now();
                      return 1;
                    }));
        assertThrows(Throwable.class, () -> typed.get("k"));
        assertThrows(Throwable.class, () -> typed.put("l", large));
        assertThrows(Throwable.class, () -> typed.compute("k", (key, value) -> value));
        assertThrows(
            Throwable.class,
            () -> {
              try (var entries = typed.entries(io.isobardb.lsm.typed.KeyRange.all())) {
                entries.count();
                entries.forEach(entry -> thrown.now());
              }
            });
      }
      assertNull(tree.get(bytes("l")));
      assertArrayEquals(large, tree.get(bytes("k")));
      tree.deleteRange(null, null);
      assertEquals(0, store.stats().readers().cursors());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aKeyThatItsOrderFailsOnIsRefused(Thrown thrown) {
    KeyOrder order =
        new KeyOrder() {
          @Override
          public String name() {
            return "failing";
          }

          @Override
          public int compare(
              byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
            // Nobody gives an empty key: one that stands for no bound is not to be asked about.
            if (aLength == 0 || a[aOffset] == '!') {
              thrown.now();
            }
            return KeyOrder.BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
          }
        };
    StoreOptions ordered = options().keyOrder(order).build();
    try (Store store = Store.open(dir.resolve("store"), ordered)) {
      Tree tree = store.openTree("t", TreeOptions.builder().keyOrder(order).build());
      tree.put(bytes("k"), bytes("v"));
      byte[] bad = bytes("!");
      refused(() -> tree.put(bad, bad));
      refused(() -> tree.put(ByteBuffer.wrap(bytes("a!"), 1, 1), ByteBuffer.wrap(bad)));
      refused(() -> tree.delete(bad));
      refused(() -> tree.get(bad));
      refused(() -> tree.deleteRange(bad, null));
      refused(() -> store.newBatch().put(tree, bad, bad));
      refused(() -> store.runInTransaction(transaction -> transaction.put(tree, bad, bad)));
      refused(() -> tree.approximateBytes(bad, null));
      refused(() -> tree.approximateBytes(null, bad));
      refused(() -> tree.cursor(CursorOptions.all().from(bad)));
      refused(() -> tree.cursor(CursorOptions.all().to(bad)));
      try (Cursor cursor = tree.cursor()) {
        assertTrue(cursor.first());
        refused(() -> cursor.seek(bad));
        refused(() -> cursor.seekBefore(bad));
        refused(() -> cursor.seek(ByteBuffer.wrap(bad)));
        assertEquals("k", text(cursor.key()), "nothing was done");
      }
      refused(() -> store.runInTransaction(transaction -> transaction.cursor(tree).seek(bad)));
      tree.deleteRange(bytes("a"), null);
      tree.put(bytes("k"), bytes("v"));
      tree.put(bytes("l"), bytes("v"));
      store.flush();
      tree.compact(null, null);
      assertEquals("v", text(tree.get(bytes("k"))));
      assertNull(store.failure());
    }
  }

  /** Gives the same array each time, for other bytes. */
  private static final class Reusing implements MergeOperator {
    private final ThreadLocal<byte[]> kept = ThreadLocal.withInitial(() -> new byte[8]);

    @Override
    public String name() {
      return "reusing";
    }

    @Override
    public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
      byte[] sum = MergeOperator.ADD_LONG.merge(key, base, operands);
      System.arraycopy(sum, 0, kept.get(), 0, 8);
      return kept.get();
    }

    @Override
    public byte[] combine(byte[] older, byte[] newer) {
      return merge(older, older, List.of(newer));
    }
  }

  @Test
  void anOperatorMayUseItsArrayAgain() {
    TreeOptions merging = TreeOptions.builder().mergeOperator(new Reusing()).build();
    try (Store store = open(new Reusing())) {
      Tree tree = store.openTree("t", merging);
      List<byte[]> keys = new ArrayList<>();
      for (int k = 0; k < 20; k++) {
        keys.add(bytes("k" + k));
        for (int i = 0; i < 3; i++) {
          tree.merge(keys.get(k), number(k + 1));
        }
      }
      for (int again = 0; again < 2; again++) {
        byte[] first = tree.get(keys.get(0));
        List<byte @Nullable []> all = tree.multiGet(keys);
        assertArrayEquals(number(3), first);
        try (var cursor = tree.cursor()) {
          assertTrue(cursor.first());
          tree.get(keys.get(7));
          assertArrayEquals(number(3), cursor.value());
        }
        for (int k = 0; k < 20; k++) {
          assertArrayEquals(number(3 * (k + 1)), all.get(k));
        }
        store.flush();
        tree.compact(null, null);
      }
      byte[] many = bytes("many");
      for (int i = 0; i < 200; i++) {
        int operands = i;
        store.runInTransaction(
            transaction -> {
              transaction.merge(tree, many, number(1));
              transaction.merge(tree, many, number(operands));
              transaction.get(tree, keys.get(3));
            });
        if (i % 20 == 0) {
          store.flush();
        }
      }
      tree.compact(null, null);
      assertArrayEquals(number(200 + 199 * 100), tree.get(many));
    }
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  @ParameterizedTest
  @EnumSource
  void anExtractorMayUseItsArrayAgain(Maintenance maintenance) {
    byte[] one = new byte[1];
    Index letter =
        Index.builder("letter")
            .key((key, value) -> List.of(filled(one, value, 0)))
            .maintenance(maintenance)
            .build();
    byte[] two = new byte[2];
    Index unique =
        Index.builder("unique")
            .key((key, value) -> List.of(filled(two, value, 1)))
            .unique(true)
            .maintenance(maintenance)
            .build();
    try (Store store = open()) {
      DatasetOptions defined = DatasetOptions.builder().index(letter).index(unique).build();
      Dataset data = Dataset.open(store, "d", defined);
      RecordBatch batch = new RecordBatch();
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++) {
          String value = (char) ('a' + (i + round) % 7) + "" + (char) ('A' + i) + round;
          data.put(bytes("k" + i), bytes(value));
          batch.put(bytes("l" + i), bytes(value.charAt(0) + "" + (char) ('A' + i) + (round + 5)));
        }
      }
      data.write(batch);
      Index late =
          Index.builder("late")
              .key((key, value) -> List.of(filled(one, value, 0)))
              .maintenance(maintenance)
              .build();
      data.createIndex(late);
      if (maintenance == Maintenance.VALIDATION) {
        data.indexes().forEach(index -> data.repair(index.name()));
      }
      assertTrue(data.check().isSound(), data.check().toString());
      for (DatasetCheck.IndexCheck index : data.check().indexes()) {
        assertEquals(100, index.entries(), index.toString());
      }
    }
  }

  private static byte[] filled(byte[] array, byte[] value, int from) {
    System.arraycopy(value, from, array, 0, array.length);
    return array;
  }

  @Test
  void aCodecMayUseItsArrayAgain() {
    byte[] kept = new byte[8];
    Codec<Long> codec =
        Codec.of(value -> filled(kept, number(value), 0), read -> ByteBuffer.wrap(read).getLong());
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      TypedTree<String, Long> typed = TypedTree.of(tree, KeyCodec.ofString(), codec);
      WriteBatch batch = store.newBatch();
      for (long i = 0; i < 10; i++) {
        typed.put(batch, "k" + i, i);
      }
      store.write(batch);
      store.runInTransaction(
          transaction -> {
            for (long i = 10; i < 20; i++) {
              typed.put(transaction, "k" + i, i);
            }
          });
      for (long i = 0; i < 20; i++) {
        assertEquals(i, typed.get("k" + i));
        assertTrue(typed.replace("k" + i, i, i + 1));
        assertFalse(typed.replace("k" + i, i, i + 2));
        assertEquals(i + 2, typed.compute("k" + i, (key, value) -> value + 1));
        assertEquals(i + 2, typed.getAndPut("k" + i, -1L));
      }
    }
  }

  @Test
  void aCodecThatGivesNoBytesRemovesNothing() {
    Codec<String> codec =
        Codec.of(value -> value.isEmpty() ? null : bytes(value), UserCodeTest::text);
    try (Store store = open()) {
      TypedTree<String, String> typed =
          TypedTree.of(store.openTree("t"), KeyCodec.ofString(), codec);
      typed.put("k", "v");
      List<Runnable> calls =
          List.of(
              () -> typed.getAndPut("k", ""),
              () -> typed.put("k", ""),
              () -> typed.replace("k", ""),
              () -> typed.replace("k", "v", ""),
              () -> typed.replace("l", "", "v"),
              () -> typed.remove("l", ""),
              () -> typed.compute("k", (key, value) -> ""),
              () -> typed.putIfAbsent("l", ""),
              () -> typed.asMap().put("k", ""),
              () -> typed.asMap().merge("k", "", (old, value) -> value));
      for (Runnable call : calls) {
        NullPointerException e = assertThrows(NullPointerException.class, call::run);
        assertEquals("the bytes that the codec gave", e.getMessage());
      }
      assertEquals("v", typed.get("k"));
      assertFalse(typed.contains("l"));
    }
  }

  @Test
  void aListenerMayReadAndIsRefusedWhatWaitsForIt() {
    try (Store store = open()) {
      Tree tree = store.openTree("t");
      List<Class<?>> refused = new ArrayList<>();
      List<@Nullable String> read = new ArrayList<>();
      store.addListener(
          new StoreListener() {
            @Override
            public void onFlushed(Flush event) {
              read.add(text(tree.get(bytes("k"))));
              List<Runnable> calls =
                  List.of(
                      store::flush,
                      store::close,
                      store::sync,
                      store::checkpoint,
                      store::awaitQuiet,
                      store::begin,
                      () -> tree.compact(null, null),
                      () -> tree.putIfAbsent(bytes("k"), bytes("w")));
              for (Runnable call : calls) {
                try {
                  call.run();
                } catch (IllegalStateException e) {
                  refused.add(e.getClass());
                }
              }
            }
          });
      tree.put(bytes("k"), bytes("v"));
      store.flush();
      store.awaitQuiet();
      assertEquals(List.of("v"), read);
      assertEquals(8, refused.size());
      tree.put(bytes("k"), bytes("w"), Durability.SYNC);
    }
  }

  private static void refused(org.junit.jupiter.api.function.Executable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
    assertTrue(e.getMessage().contains("the key order 'failing' failed, on '!'"), e.getMessage());
  }
}
