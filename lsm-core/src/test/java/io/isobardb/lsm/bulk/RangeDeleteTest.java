package io.isobardb.lsm.bulk;

import static java.nio.charset.StandardCharsets.UTF_8;
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
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.LockTimeoutException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Deletes of ranges of keys, as users see them. */
class RangeDeleteTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).durability(Durability.SYNC).build();

  @TempDir Path dir;

  private Store store;
  private Tree tree;

  @BeforeEach
  void open() {
    store = Store.open(dir.resolve("s"), OPTIONS);
    tree = store.openTree("t");
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void reopen() {
    store.close();
    open();
  }

  private static byte[] key(int i) {
    return String.format("%08d", i).getBytes(UTF_8);
  }

  private void fill(int from, int to) {
    byte[] value = new byte[100];
    for (int i = from; i < to; i++) {
      tree.put(key(i), value, Durability.ASYNC);
    }
  }

  private long diskBytes() {
    return store.stats().trees().stream().mapToLong(each -> each.diskBytes()).sum();
  }

  private List<Integer> all() {
    return all(tree.cursor());
  }

  private static List<Integer> all(Cursor cursor) {
    List<Integer> forward = new ArrayList<>();
    List<Integer> back = new ArrayList<>();
    try (cursor) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        forward.add(Integer.parseInt(new String(cursor.key(), UTF_8)));
      }
      for (boolean more = cursor.last(); more; more = cursor.previous()) {
        back.add(0, Integer.parseInt(new String(cursor.key(), UTF_8)));
      }
    }
    assertEquals(forward, back);
    return forward;
  }

  private static List<Integer> ints(int... ints) {
    List<Integer> list = new ArrayList<>();
    for (int i : ints) {
      list.add(i);
    }
    return list;
  }

  /** The manifest has it from the flush on, above the last checkpoint. */
  @Test
  void oneInAnUnloggedTreeIsSavedWhenTheStoreIsClosed() {
    Tree unlogged = store.openTree("u", TreeOptions.builder().logged(false).build());
    unlogged.put(key(1), key(1));
    unlogged.put(key(3), key(3));
    store.checkpoint();
    unlogged.deleteRange(key(0), key(2));
    store.flush();
    assertNull(unlogged.get(key(1)));
    reopen();
    assertEquals(List.of(3), all(store.tree("u").cursor()));
  }

  @Test
  void fromGoesAndToStays() {
    fill(0, 6);
    tree.deleteRange(key(1), key(4));
    assertEquals(ints(0, 4, 5), all());
    assertNull(tree.get(key(1)));
    assertNotNull(tree.get(key(4)));
    assertNull(tree.multiGet(List.of(key(2))).get(0));
    tree.put(key(2), key(2));
    assertEquals(ints(0, 2, 4, 5), all());
    assertArrayEquals(key(2), tree.get(key(2)));
    reopen();
    assertEquals(ints(0, 2, 4, 5), all());
    store.flush();
    assertEquals(ints(0, 2, 4, 5), all());
    reopen();
    assertEquals(ints(0, 2, 4, 5), all());
  }

  @Test
  void statisticsTellHowManyThereAre() {
    assertEquals(0, rangeDeletes());
    fill(0, 6);
    store.flush();
    try (Snapshot before = store.snapshot()) {
      tree.deleteRange(key(1), key(2));
      tree.deleteRange(key(3), key(4));
      assertEquals(2, rangeDeletes());
      tree.deleteRange(null, null);
      assertEquals(3, rangeDeletes(), "what is not in the manifest counts, too");
      store.flush();
      assertEquals(1, rangeDeletes(), "the newest covers the others");
      assertNotNull(tree.get(key(1), before));
    }
  }

  private long rangeDeletes() {
    return store.stats().trees().get(0).rangeDeletes();
  }

  @Test
  void nullIsNoBound() {
    fill(0, 6);
    tree.deleteRange(null, key(2));
    tree.deleteRange(key(4), null);
    assertEquals(ints(2, 3), all());
    tree.deleteRange(null, null);
    assertEquals(ints(), all());
  }

  @Test
  void equalBoundsDoNothingAndTwistedOnesAreRefused() {
    fill(0, 3);
    tree.deleteRange(key(1), key(1));
    assertEquals(ints(0, 1, 2), all());
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> tree.deleteRange(key(2), key(1)));
    assertTrue(e.getMessage().contains("'00000002'"), e.getMessage());
    assertTrue(e.getMessage().contains("'00000001'"), e.getMessage());
  }

  @Test
  void aBatchRemovesWhatItPutBeforeButNotWhatItPutsAfter() {
    fill(0, 3);
    WriteBatch batch = store.newBatch();
    batch.put(tree, key(1), key(1)).put(tree, key(7), key(7));
    batch.deleteRange(tree, key(1), key(9));
    batch.put(tree, key(2), key(2)).delete(tree, key(0));
    assertEquals(5, batch.size());
    store.write(batch);
    assertEquals(ints(2), all());
    assertArrayEquals(key(2), tree.get(key(2)));
    reopen();
    assertEquals(ints(2), all());
    store.flush();
    store.awaitQuiet();
    assertEquals(ints(2), all());
  }

  @Test
  void snapshotsAndCursorsThatAreOlderSeeWhatWent() {
    fill(0, 3000);
    try (Snapshot before = store.snapshot();
        Cursor cursor = tree.cursor()) {
      assertTrue(cursor.first());
      tree.deleteRange(key(1), null);
      store.flush();
      store.awaitQuiet();
      assertEquals(3000, all(tree.cursor(CursorOptions.all().snapshot(before))).size());
      int steps = 1;
      while (cursor.next()) {
        steps++;
      }
      assertEquals(3000, steps);
      assertNotNull(tree.get(key(2000), before));
      assertNull(tree.get(key(2000)));
      assertEquals(ints(0), all());
    }
  }

  @Test
  void wholeSSTablesGoUnread() {
    fill(0, 60_000);
    store.flush();
    store.awaitQuiet();
    long disk = diskBytes();
    long read = store.stats().mergeBytesRead();
    tree.deleteRange(key(3000), key(57_000));
    store.awaitQuiet();
    assertTrue(diskBytes() < disk / 3, disk + " to " + diskBytes());
    // Those beside them are rewritten, if that is little.
    long rewritten = store.stats().mergeBytesRead() - read;
    assertTrue(rewritten <= (disk - diskBytes()) / 4, rewritten + " of " + disk);
    assertEquals(6000, all().size());
    reopen();
    assertEquals(6000, all().size());
  }

  private Transaction begin(Locking locking, Isolation isolation) {
    return store.begin(
        TransactionOptions.builder()
            .locking(locking)
            .isolation(isolation)
            .lockTimeout(Duration.ofMillis(50))
            .build());
  }

  @Test
  void aTransactionSeesItsOwnAndSavepointsTakeItBack() {
    fill(0, 5);
    for (Locking locking : Locking.values()) {
      try (Transaction transaction = begin(locking, Isolation.SNAPSHOT)) {
        transaction.put(tree, key(2), key(22));
        Savepoint before = transaction.savepoint();
        transaction.deleteRange(tree, key(1), key(4));
        assertNull(transaction.get(tree, key(2)));
        assertNull(transaction.get(tree, key(1)));
        assertEquals(ints(0, 4), all(transaction.cursor(tree)));
        transaction.put(tree, key(3), key(33));
        assertEquals(ints(0, 3, 4), all(transaction.cursor(tree)));
        transaction.rollbackTo(before);
        assertEquals(ints(0, 1, 2, 3, 4), all(transaction.cursor(tree)));
        assertArrayEquals(key(22), transaction.get(tree, key(2)));
        transaction.deleteRange(tree, key(1), key(3));
        transaction.put(tree, key(1), key(11));
        transaction.commit();
      }
      assertEquals(ints(0, 1, 3, 4), all());
      assertArrayEquals(key(11), tree.get(key(1)));
      fill(2, 3);
    }
  }

  @Test
  void itAndLocksWithinWaitForEachOther() {
    fill(0, 5);
    try (Transaction holder = begin(Locking.PESSIMISTIC, Isolation.SNAPSHOT)) {
      holder.deleteRange(tree, key(1), key(3));
      try (Transaction other = begin(Locking.PESSIMISTIC, Isolation.SNAPSHOT)) {
        assertThrows(LockTimeoutException.class, () -> other.put(tree, key(2), key(2)));
        assertThrows(LockTimeoutException.class, () -> other.deleteRange(tree, key(2), key(9)));
        other.put(tree, key(3), key(3));
      }
    }
    try (Transaction holder = begin(Locking.PESSIMISTIC, Isolation.SNAPSHOT)) {
      holder.put(tree, key(2), key(2));
      try (Transaction other = begin(Locking.PESSIMISTIC, Isolation.SNAPSHOT)) {
        assertThrows(LockTimeoutException.class, () -> other.deleteRange(tree, key(1), key(3)));
        other.deleteRange(tree, key(3), key(5));
        other.commit();
      }
      holder.commit();
    }
    assertEquals(ints(0, 1, 2), all());
    tree.deleteRange(null, null);
    assertEquals(ints(), all());
  }

  @Test
  void anOptimisticOneFailsIfSomebodyWroteThere() {
    fill(0, 5);
    try (Transaction transaction = begin(Locking.OPTIMISTIC, Isolation.SNAPSHOT)) {
      transaction.deleteRange(tree, key(1), key(4));
      tree.put(key(4), key(4));
      transaction.commit();
    }
    try (Transaction transaction = begin(Locking.OPTIMISTIC, Isolation.SNAPSHOT)) {
      transaction.deleteRange(tree, key(1), key(4));
      tree.put(key(3), key(3));
      assertThrows(ConflictException.class, transaction::commit);
    }
    assertEquals(ints(0, 3, 4), all());
  }

  @Test
  void aSerializableOneFailsIfItReadAnyPart() {
    fill(0, 5);
    for (Locking locking : Locking.values()) {
      try (Transaction reader = begin(locking, Isolation.SERIALIZABLE)) {
        assertNotNull(reader.get(tree, key(0)));
        reader.put(tree, key(9), key(9));
        tree.deleteRange(null, key(1));
        assertThrows(ConflictException.class, reader::commit);
      }
      fill(0, 5);
      try (Transaction reader = begin(locking, Isolation.SERIALIZABLE)) {
        assertEquals(5, all(reader.cursor(tree)).size());
        reader.put(tree, key(9), key(9));
        tree.deleteRange(key(2), key(3));
        assertThrows(ConflictException.class, reader::commit);
      }
      fill(0, 5);
      assertFalse(tree.contains(key(9)));
    }
  }

  @Test
  void inACrashOfAnUnloggedTreeItGoesBackToTheCheckpoint() throws Exception {
    Tree unlogged = store.createTree("u", TreeOptions.builder().logged(false).build());
    unlogged.put(key(1), key(1));
    store.checkpoint();
    unlogged.deleteRange(null, null);
    store.flush();
    try (Store crashed = Store.open(copy(), OPTIONS)) {
      assertArrayEquals(key(1), crashed.tree("u").get(key(1)));
    }
    assertNull(unlogged.get(key(1)));
  }

  /** A newer one that covers it takes its place in the manifest, but not for the checkpoint. */
  @Test
  void inACrashOfAnUnloggedTreeAnOlderOneCountsAgain() throws Exception {
    Tree unlogged = store.createTree("u", TreeOptions.builder().logged(false).build());
    for (int i = 0; i < 5; i++) {
      unlogged.put(key(i), key(i));
    }
    store.flush();
    unlogged.deleteRange(key(1), key(3));
    // Hides nothing: so the next flush has the manifest forget all, and say what is left.
    unlogged.deleteRange(key(50), key(60));
    store.checkpoint();
    unlogged.deleteRange(key(0), key(4));
    unlogged.deleteRange(key(0), key(4));
    store.flush();
    unlogged.deleteRange(null, null);
    store.flush();
    try (Store crashed = Store.open(copy(), OPTIONS)) {
      assertEquals(ints(0, 3, 4), all(crashed.tree("u").cursor()));
    }
    assertEquals(ints(), all(unlogged.cursor()));
  }

  /** The store's files as a crash would leave them. */
  private Path copy() throws IOException {
    Path copy = Files.createDirectories(dir.resolve("copy"));
    try (var files = Files.list(dir.resolve("s"))) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(file.getFileName()));
      }
    }
    return copy;
  }
}
