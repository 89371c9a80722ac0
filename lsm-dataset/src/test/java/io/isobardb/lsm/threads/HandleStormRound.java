package io.isobardb.lsm.threads;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetCheck;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.IndexCursor;
import io.isobardb.lsm.dataset.IndexEntry;
import io.isobardb.lsm.dataset.IndexRange;
import io.isobardb.lsm.dataset.Maintenance;
import io.isobardb.lsm.dataset.RecordBatch;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.simulation.Inside;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What the threads of a {@link HandleStormTest} do with the handles of one opening of the store.
 */
final class HandleStormRound {
  private static final int SLOTS = 3;
  static final int TREES = 3;
  static final int PAIRS = 60;
  private static final int RECORDS = 80;
  private static final int INDEX_KEYS = 5;

  /** A tree with its generation, which its values name. */
  private record OpenTree(Tree tree, int generation) {}

  /** A snapshot, and what was read from it: all reads have to agree. */
  private record OpenSnapshot(Snapshot snapshot, Map<String, Long> seen) {}

  /** Counts up with each write, over all rounds. */
  private final AtomicLong versions;

  /** Makes each tree differ from earlier ones of its name. */
  private final AtomicInteger generations;

  final Store store;
  final boolean pessimisticOnly;
  final AtomicReferenceArray<OpenTree> trees = new AtomicReferenceArray<>(TREES);
  final AtomicReferenceArray<OpenSnapshot> snapshots = new AtomicReferenceArray<>(SLOTS);
  final AtomicReferenceArray<Cursor> cursors = new AtomicReferenceArray<>(SLOTS);

  /** Each is moved by one thread. */
  final AtomicReferenceArray<Cursor> ownCursors = new AtomicReferenceArray<>(SLOTS);

  final AtomicReferenceArray<IndexCursor> indexCursors = new AtomicReferenceArray<>(SLOTS);
  final AtomicReferenceArray<Transaction> transactions = new AtomicReferenceArray<>(SLOTS);
  final AtomicReferenceArray<Savepoint> savepoints = new AtomicReferenceArray<>(SLOTS);
  final AtomicReferenceArray<WriteBatch> batches = new AtomicReferenceArray<>(SLOTS);
  final Dataset dataset;
  volatile boolean stop;

  HandleStormRound(
      Store store, AtomicLong versions, AtomicInteger generations, SplittableRandom random) {
    this.store = store;
    this.versions = versions;
    this.generations = generations;
    this.pessimisticOnly = random.nextBoolean();
    for (int i = 0; i < TREES; i++) {
      String name = "tree" + i;
      if (store.treeNames().contains(name)) {
        store.dropTree(name);
      }
      trees.set(i, create(name));
    }
    this.dataset = Dataset.open(store, "d", definitions());
  }

  private DatasetOptions definitions() {
    DatasetOptions.Builder options = DatasetOptions.builder().changeTimeout(Duration.ofMillis(100));
    if (store.treeNames().contains("d/catalog")) {
      // What was left by the round before: an index that is not ready is dropped.
      for (String name : List.of("eager", "lazy")) {
        byte[] stored = store.tree("d/catalog").get(bytes("index/" + name));
        if (stored != null && new String(stored).endsWith("READY")) {
          options.index(definition(name));
        }
      }
    }
    return options.build();
  }

  private Index definition(String name) {
    return Index.builder(name)
        .key((key, record) -> List.of(indexKey(record)))
        .maintenance(name.equals("lazy") ? Maintenance.VALIDATION : Maintenance.EAGER)
        .build();
  }

  private OpenTree create(String name) {
    TreeOptions options =
        TreeOptions.builder()
            .compression(name.endsWith("1") ? Compression.LZ4 : Compression.NONE)
            .build();
    return new OpenTree(store.createTree(name, options), generations.incrementAndGet());
  }

  private OpenTree tree(SplittableRandom random) {
    return trees.get(random.nextInt(TREES));
  }

  // ---- plain use of trees

  void write(SplittableRandom random) {
    OpenTree to = tree(random);
    long version = versions.incrementAndGet();
    byte[] key = looseKey(random.nextInt(100));
    if (random.nextInt(8) == 0) {
      to.tree.delete(key);
    } else {
      Durability durability = random.nextInt(50) == 0 ? Durability.SYNC : Durability.ASYNC;
      to.tree.put(key, value(to.generation, version), durability);
    }
  }

  void writePair(SplittableRandom random) {
    OpenTree to = tree(random);
    WriteBatch batch = store.newBatch();
    byte[] value = value(to.generation, versions.incrementAndGet());
    int pair = random.nextInt(PAIRS);
    batch.put(to.tree, pairKey(pair, 0), value).put(to.tree, pairKey(pair, 1), value);
    store.write(batch);
  }

  void read(SplittableRandom random) {
    OpenTree from = tree(random);
    byte[] key =
        random.nextBoolean() ? looseKey(random.nextInt(100)) : pairKey(random.nextInt(PAIRS), 0);
    switch (random.nextInt(3)) {
      case 0 -> version(from.generation, from.tree.get(key));
      case 1 -> {
        ByteBuffer target = ByteBuffer.allocate(6000);
        if (from.tree.get(key, target) >= 0) {
          version(from.generation, Arrays.copyOf(target.array(), target.position()));
        }
      }
      default -> version(from.generation, from.tree.read(key, HandleStormRound::copy));
    }
  }

  private static byte[] copy(ByteBuffer view) {
    byte[] copy = new byte[view.remaining()];
    view.get(copy);
    return copy;
  }

  void readPair(SplittableRandom random) {
    OpenTree from = tree(random);
    int pair = random.nextInt(PAIRS);
    checkPair(from, pair, from.tree.multiGet(List.of(pairKey(pair, 0), pairKey(pair, 1))));
  }

  private void checkPair(OpenTree from, int pair, List<byte[]> values) {
    assertEquals(
        version(from.generation, values.get(0)),
        version(from.generation, values.get(1)),
        () -> "half of pair " + pair);
  }

  // ---- snapshots

  void takeSnapshot(SplittableRandom random) {
    OpenSnapshot fresh = new OpenSnapshot(store.snapshot(), new ConcurrentHashMap<>());
    OpenSnapshot old = snapshots.getAndSet(random.nextInt(SLOTS), fresh);
    if (old != null) {
      old.snapshot.close();
    }
  }

  void closeSnapshot(SplittableRandom random) {
    OpenSnapshot old = snapshots.get(random.nextInt(SLOTS));
    if (old != null) {
      old.snapshot.close();
    }
  }

  void readSnapshot(SplittableRandom random) {
    OpenSnapshot at = snapshots.get(random.nextInt(SLOTS));
    OpenTree from = tree(random);
    if (at == null) {
      return;
    }
    int pair = random.nextInt(PAIRS);
    switch (random.nextInt(4)) {
      case 0 -> agree(at, from, pairKey(pair, 0), from.tree.get(pairKey(pair, 0), at.snapshot));
      case 1 -> {
        List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < PAIRS; i++) {
          keys.add(pairKey(i, 0));
          keys.add(pairKey(i, 1));
        }
        List<byte[]> values = from.tree.multiGet(keys, at.snapshot);
        for (int i = 0; i < PAIRS; i++) {
          checkPair(from, i, values.subList(2 * i, 2 * i + 2));
          agree(at, from, keys.get(2 * i), values.get(2 * i));
        }
      }
      case 2 -> {
        ByteBuffer target = ByteBuffer.allocate(6000);
        int length = from.tree.get(pairKey(pair, 1), target, at.snapshot);
        byte[] value = length < 0 ? null : Arrays.copyOf(target.array(), target.position());
        agree(at, from, pairKey(pair, 1), value);
      }
      default -> {
        try (Cursor cursor = from.tree.cursor(CursorOptions.all().snapshot(at.snapshot))) {
          scan(from, at, cursor, random);
        }
      }
    }
  }

  /** What one snapshot shows of a key is always the same. */
  private void agree(OpenSnapshot at, OpenTree from, byte[] key, byte[] value) {
    long version = version(from.generation, value);
    Long before = at.seen.putIfAbsent(from.generation + new String(key), version);
    assertTrue(
        before == null || before == version,
        () -> "one snapshot shows versions " + before + " and " + version);
  }

  /** A cursor of this thread, which others may close. */
  private void scan(OpenTree from, OpenSnapshot at, Cursor cursor, SplittableRandom random) {
    boolean forward = random.nextBoolean();
    byte[] last = null;
    int left = random.nextInt(200);
    for (boolean more = forward ? cursor.first() : cursor.last();
        more && left-- > 0;
        more = forward ? cursor.next() : cursor.previous()) {
      byte[] key = cursor.key();
      byte[] value = cursor.value();
      if (at == null) {
        version(from.generation, value);
      } else {
        agree(at, from, key, value);
      }
      if (last != null) {
        int c = Arrays.compareUnsigned(last, key);
        assertTrue(forward ? c < 0 : c > 0, "keys out of order");
      }
      last = key;
    }
  }

  // ---- cursors

  void openCursor(SplittableRandom random) {
    OpenTree over = tree(random);
    Cursor fresh = over.tree.cursor();
    boolean shared = random.nextInt(3) == 0;
    Cursor old = (shared ? cursors : ownCursors).getAndSet(random.nextInt(SLOTS), fresh);
    if (old != null && random.nextBoolean()) {
      old.close();
    }
    if (!shared) {
      scan(over, null, fresh, random);
    }
  }

  void closeCursor(SplittableRandom random) {
    Cursor cursor = (random.nextBoolean() ? cursors : ownCursors).get(random.nextInt(SLOTS));
    if (cursor != null) {
      cursor.close();
    }
  }

  /** One that other threads move, too. */
  void moveCursor(SplittableRandom random) {
    Cursor cursor = cursors.get(random.nextInt(SLOTS));
    if (cursor == null) {
      return;
    }
    for (int i = random.nextInt(8); i >= 0; i--) {
      switch (random.nextInt(8)) {
        case 0 -> cursor.first();
        case 1 -> cursor.last();
        case 2 -> cursor.seek(pairKey(random.nextInt(PAIRS), 0));
        case 3 -> cursor.seekBefore(pairKey(random.nextInt(PAIRS), 0));
        case 4 -> cursor.next();
        case 5 -> cursor.previous();
        case 6 -> cursor.key(ByteBuffer.allocate(100));
        default -> {
          byte[] value = cursor.value();
          int generation = ByteBuffer.wrap(value).getInt();
          version(generation, value);
        }
      }
    }
  }

  // ---- batches

  void useBatch(SplittableRandom random) {
    int slot = random.nextInt(SLOTS);
    WriteBatch batch = batches.get(slot);
    if (batch == null || random.nextInt(20) == 0) {
      batches.set(slot, store.newBatch());
      return;
    }
    OpenTree to = tree(random);
    switch (random.nextInt(6)) {
      case 0 -> batch.clear();
      case 1 -> store.write(batch);
      case 2 -> batch.delete(to.tree, looseKey(random.nextInt(100)));
      default -> {
        byte[] value = value(to.generation, versions.incrementAndGet());
        batch.put(to.tree, looseKey(random.nextInt(100)), value);
      }
    }
  }

  // ---- transactions

  private TransactionOptions transactionOptions(SplittableRandom random) {
    return TransactionOptions.builder()
        .isolation(Isolation.values()[random.nextInt(3)])
        .locking(pessimisticOnly ? Locking.PESSIMISTIC : Locking.values()[random.nextInt(2)])
        .lockTimeout(Duration.ofMillis(random.nextInt(200)))
        .retryTimeout(Duration.ofSeconds(1))
        .build();
  }

  void beginShared(SplittableRandom random) {
    Transaction fresh = store.begin(transactionOptions(random));
    Transaction old = transactions.getAndSet(random.nextInt(SLOTS), fresh);
    if (old != null) {
      // If another thread is in it, that one's end is up to the end of the round.
      left.add(old);
      old.close();
    }
  }

  /** Those that were not to be closed at once. */
  final Queue<Transaction> left = new ConcurrentLinkedQueue<>();

  void useShared(SplittableRandom random) {
    int slot = random.nextInt(SLOTS);
    Transaction transaction = transactions.get(slot);
    if (transaction == null) {
      return;
    }
    OpenTree with = tree(random);
    byte[] key = looseKey(random.nextInt(100));
    switch (random.nextInt(12)) {
      case 0 -> transaction.commit();
      case 1 -> transaction.rollback();
      case 2 -> version(with.generation, transaction.getForUpdate(with.tree, key));
      case 3 -> transaction.delete(with.tree, key);
      case 4 -> savepoints.set(random.nextInt(SLOTS), transaction.savepoint());
      case 5 -> {
        Savepoint savepoint = savepoints.get(random.nextInt(SLOTS));
        if (savepoint != null) {
          transaction.rollbackTo(savepoint);
        }
      }
      case 6, 7 -> {
        Cursor old = cursors.getAndSet(random.nextInt(SLOTS), transaction.cursor(with.tree));
        if (old != null) {
          old.close();
        }
      }
      case 8 -> dataset.put(transaction, recordKey(random), record(versions.incrementAndGet()));
      case 9 -> version(with.generation, transaction.get(with.tree, key));
      default ->
          transaction.put(with.tree, key, value(with.generation, versions.incrementAndGet()));
    }
  }

  void transact(SplittableRandom random) {
    OpenTree to = tree(random);
    int pair = random.nextInt(PAIRS);
    store.inTransaction(
        transactionOptions(random),
        transaction -> {
          long before = version(to.generation, transaction.getForUpdate(to.tree, pairKey(pair, 0)));
          long other = version(to.generation, transaction.getForUpdate(to.tree, pairKey(pair, 1)));
          if (pessimisticOnly) {
            assertEquals(before, other, "half of a pair");
          }
          byte[] value = value(to.generation, versions.incrementAndGet());
          transaction.put(to.tree, pairKey(pair, 0), value);
          transaction.put(to.tree, pairKey(pair, 1), value);
          if (pessimisticOnly && random.nextInt(10) == 0) {
            // Is refused: else half of the pair would be there for a moment.
            to.tree.put(pairKey(pair, 0), value);
          }
          return null;
        });
  }

  // ---- the dataset

  void writeRecord(SplittableRandom random) {
    byte[] record = record(versions.incrementAndGet());
    switch (random.nextInt(4)) {
      case 0 -> dataset.delete(recordKey(random));
      case 1 ->
          dataset.write(new RecordBatch().put(recordKey(random), record).delete(recordKey(random)));
      default -> dataset.put(recordKey(random), record);
    }
  }

  private String index(SplittableRandom random) {
    return random.nextBoolean() ? "eager" : "lazy";
  }

  void find(SplittableRandom random) {
    byte[] key = {(byte) random.nextInt(INDEX_KEYS)};
    OpenSnapshot at = snapshots.get(random.nextInt(SLOTS));
    List<IndexEntry> found =
        at == null || random.nextBoolean()
            ? dataset.find(index(random), key)
            : dataset.find(at.snapshot, index(random), key);
    for (IndexEntry entry : found) {
      assertTrue(Arrays.equals(key, indexKey(entry.value())), "not of this index key");
    }
  }

  void openIndexCursor(SplittableRandom random) {
    OpenSnapshot at = snapshots.get(random.nextInt(SLOTS));
    IndexRange all = IndexRange.all();
    IndexCursor fresh =
        at == null || random.nextBoolean()
            ? dataset.cursor(index(random), all)
            : dataset.cursor(at.snapshot, index(random), all);
    IndexCursor old = indexCursors.getAndSet(random.nextInt(SLOTS), fresh);
    if (old != null) {
      old.close();
    }
    int last = -1;
    int left = random.nextInt(RECORDS);
    for (boolean more = fresh.first(); more && left-- > 0; more = fresh.next()) {
      byte[] record = fresh.value();
      assertTrue(record[8] >= last, "index keys out of order");
      last = record[8];
    }
  }

  void closeIndexCursor(SplittableRandom random) {
    IndexCursor cursor = indexCursors.get(random.nextInt(SLOTS));
    if (cursor != null) {
      cursor.close();
    }
  }

  void check(SplittableRandom random) {
    assertSound(dataset.check());
  }

  void changeIndex(SplittableRandom random) {
    String index = index(random);
    switch (random.nextInt(4)) {
      case 0 -> dataset.dropIndex(index);
      case 1 -> dataset.repair("lazy", 1 + random.nextInt(50));
      case 2 -> dataset.indexes();
      default -> dataset.createIndex(definition(index));
    }
  }

  // ---- what is below

  void dropTree(SplittableRandom random) {
    int slot = random.nextInt(TREES);
    String name = "tree" + slot;
    store.dropTree(name);
    trees.set(slot, create(name));
  }

  void manage(SplittableRandom random) {
    switch (random.nextInt(8)) {
      case 0 -> store.flush();
      case 1 -> store.checkpoint();
      case 2 -> store.sync();
      case 3 -> store.setMemoryBudget((4L + random.nextInt(3)) << 20);
      case 4 -> store.addListener(new StoreListener() {});
      case 5 -> store.registerMXBean();
      case 6 -> tree(random).tree.setWriteMemoryFloor(random.nextInt(1 << 20));
      default -> assertTrue(store.stats().toJson().startsWith("{"));
    }
  }

  /** Ends all that is in slots. */
  void closeHandles() {
    for (int i = 0; i < SLOTS; i++) {
      OpenSnapshot snapshot = snapshots.get(i);
      if (snapshot != null) {
        snapshot.snapshot.close();
      }
      if (indexCursors.get(i) != null) {
        indexCursors.get(i).close();
      }
      if (transactions.get(i) != null) {
        transactions.get(i).close();
      }
    }
    left.forEach(Transaction::close);
    Inside.of(store).cursors().closeAll();
  }

  void assertNothingLeft() {
    // A merge that asks a filter has an LSN registered meanwhile.
    store.awaitQuiet();
    assertEquals(0, Inside.of(store).cursors().count(), "cursors");
    assertEquals(0, Inside.of(store).transactions().count(), "transactions");
    assertEquals(0, store.stats().readers().snapshots(), "snapshots");
    assertEquals(0, Inside.of(store).engine().snapshots().live().length, "registered LSNs");
    // No lock is left, either.
    for (int i = 0; i < TREES; i++) {
      // Of two threads that drop it one after the other, the first may fill the slot last.
      Tree tree = store.tree("tree" + i);
      for (int key = 0; key < 100; key++) {
        tree.delete(looseKey(key));
      }
    }
  }

  // ---- keys and values

  /** Keys that are always written in pairs, by one write with one version. */
  static byte[] pairKey(int pair, int half) {
    return bytes(String.format("pair%04d-%d", pair, half));
  }

  /** A key that is written by itself. */
  static byte[] looseKey(int n) {
    return bytes(String.format("loose%04d", n));
  }

  static byte[] value(int generation, long version) {
    int length = version % 41 == 0 ? 5000 : 40 + (int) (version % 700);
    byte[] value = new byte[length];
    Arrays.fill(value, (byte) (version * 31 + generation));
    ByteBuffer.wrap(value).putInt(generation).putLong(version);
    return value;
  }

  /** The version of a value, which must be whole and of this generation; 0 for none. */
  static long version(int generation, byte[] value) {
    if (value == null) {
      return 0;
    }
    long version = ByteBuffer.wrap(value).getLong(4);
    assertTrue(Arrays.equals(value(generation, version), value), "not a value: " + text(value));
    return version;
  }

  private static String text(byte[] value) {
    return value.length + " bytes, " + Arrays.toString(Arrays.copyOf(value, 20));
  }

  /** A record: its version, and its index key. */
  private static byte[] record(long version) {
    byte[] record = new byte[20 + (int) (version % 100)];
    ByteBuffer.wrap(record).putLong(version).put((byte) (version % INDEX_KEYS));
    return record;
  }

  private static byte[] indexKey(byte[] record) {
    return new byte[] {record[8]};
  }

  private static byte[] recordKey(SplittableRandom random) {
    return bytes("record" + random.nextInt(RECORDS));
  }

  static void assertSound(DatasetCheck check) {
    assertTrue(check.isSound(), check::toString);
  }
}
