package io.isobardb.lsm.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.Watchdog;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One random history of a dataset with indexes of all sorts, checked against a plain map. */
final class DatasetHistory {
  private static final int NUMBERS = 40;

  private final SplittableRandom random;

  /** Which indexes openings ask for. */
  private final SplittableRandom changes;

  private final SimulatedDatasets world;
  private final boolean logged;

  /** The definitions that the dataset has. */
  private final TreeMap<String, Index> indexes = new TreeMap<>();

  /** What the records may be after a crash, oldest first; the last is what they are. */
  private final List<SortedMap<byte[], byte[]>> states = new ArrayList<>();

  /** What is read at again and again, for a while; with what it must find, by which indexes. */
  private record Held(
      Snapshot snapshot, SortedMap<byte[], byte[]> model, TreeMap<String, Index> indexes) {}

  private @Nullable Held held;
  private Store store;
  private Dataset dataset;
  private int step;
  private String last = "";
  private int crashes;
  private int stale;
  private int duplicates;
  private long dropped;

  DatasetHistory(long seed) {
    this.random = new SplittableRandom(seed);
    this.changes = new SplittableRandom(~seed);
    this.world = new SimulatedDatasets(seed);
    this.logged = random.nextInt(4) != 0;
    states.add(Records.newModel());
    for (Index index : all()) {
      if (random.nextBoolean()) {
        indexes.put(index.name(), index);
      }
    }
    store = world.open();
    dataset = openDataset();
  }

  private static List<Index> all() {
    return List.of(
        Records.tagIndex("tags-eager", Maintenance.EAGER),
        Records.tagIndex("tags-lazy", Maintenance.VALIDATION),
        Records.numberIndex("number-eager", Maintenance.EAGER),
        Records.numberIndex("number-lazy", Maintenance.VALIDATION));
  }

  private static Index inVersion(Index index, int version) {
    return Index.builder(index.name())
        .key(index.extractor())
        .unique(index.unique())
        .maintenance(index.maintenance())
        .version(version)
        .build();
  }

  private Dataset openDataset() {
    return Dataset.open(store, "d", options(indexes).build());
  }

  private DatasetOptions.Builder options(TreeMap<String, Index> definitions) {
    DatasetOptions.Builder options =
        DatasetOptions.builder().primary(TreeOptions.builder().logged(logged).build());
    definitions.values().forEach(options::index);
    return options;
  }

  int crashes() {
    return crashes;
  }

  int stale() {
    return stale;
  }

  /** Stale entries that merges left out. */
  long dropped() {
    return dropped;
  }

  int duplicates() {
    return duplicates;
  }

  @Override
  public String toString() {
    return "step " + step + ", " + last + ", indexes " + indexes.values();
  }

  void run(int steps) {
    for (step = 0; step < steps; step++) {
      Watchdog.mark("step " + step);
      int choice = random.nextInt(100);
      if (choice < 50) {
        last = "write";
        write();
      } else if (choice < 52) {
        last = "range delete";
        SortedMap<byte[], byte[]> model = copy();
        deleteRange(model, dataset::deleteRange);
        states.add(model);
      } else if (choice < 70) {
        last = "transaction";
        transaction();
      } else if (choice < 80) {
        last = "flush";
        store.flush();
        world.background(random.nextInt(30));
      } else if (choice < 86) {
        last = "repair";
        repair();
      } else if (choice < 90) {
        last = "change of an index";
        changeIndex();
      } else if (choice < 93) {
        last = "checkpoint";
        store.checkpoint();
        forget();
      } else if (choice < 96) {
        last = "reopening";
        close();
        forget();
        store = world.open();
        dataset = changes.nextInt(3) == 0 ? updated() : openDataset();
      } else {
        last = "crash";
        crash();
      }
      if (step % 8 == 0 || choice >= 70) {
        checkAll();
      }
    }
    close();
  }

  private void close() {
    letGo();
    dropped += dataset.indexes().stream().mapToLong(IndexStatus::staleDropped).sum();
    store.close();
  }

  private SortedMap<byte[], byte[]> now() {
    return states.get(states.size() - 1);
  }

  private void forget() {
    states.subList(0, states.size() - 1).clear();
  }

  private SortedMap<byte[], byte[]> copy() {
    SortedMap<byte[], byte[]> copy = Records.newModel();
    copy.putAll(now());
    return copy;
  }

  private static void apply(SortedMap<byte[], byte[]> model, byte[] key, byte @Nullable [] value) {
    if (value == null) {
      model.remove(key);
    } else {
      model.put(key, value);
    }
  }

  /** Whether the model would have a number twice, and an index forbids it. */
  private boolean refuses(SortedMap<byte[], byte[]> model, byte[] key, byte @Nullable [] value) {
    if (value == null || indexes.values().stream().noneMatch(Index::unique)) {
      return false;
    }
    int number = value[0] & 255;
    return number != Records.NONE
        && model.entrySet().stream()
            .anyMatch(e -> e.getValue()[0] == value[0] && !Arrays.equals(e.getKey(), key));
  }

  private byte @Nullable [] value() {
    return random.nextInt(5) == 0 ? null : Records.random(random, NUMBERS);
  }

  private void write() {
    SortedMap<byte[], byte[]> model = copy();
    RecordBatch batch = new RecordBatch();
    boolean refused = false;
    int operations = random.nextInt(3) == 0 ? 1 + random.nextInt(5) : 1;
    byte[] key = {};
    byte[] value = null;
    for (int i = 0; i < operations; i++) {
      key = Records.key(random);
      value = value();
      refused |= refuses(model, key, value);
      apply(model, key, value);
      if (value == null) {
        batch.delete(key);
      } else {
        batch.put(key, value);
      }
    }
    try {
      if (operations > 1) {
        dataset.write(batch);
      } else if (value == null) {
        dataset.delete(key);
      } else {
        dataset.put(key, value);
      }
      assertTrue(!refused, "a duplicate was written");
      states.add(model);
    } catch (DuplicateKeyException e) {
      assertTrue(refused, e.getMessage());
      duplicates++;
    }
  }

  /** Deletes a range that has some keys of the model, or none. */
  private void deleteRange(SortedMap<byte[], byte[]> model, BiConsumer<byte[], byte[]> delete) {
    byte[] from = Records.key(random);
    byte[] to = Records.key(random);
    if (Arrays.compareUnsigned(from, to) > 0) {
      assertThrows(IllegalArgumentException.class, () -> delete.accept(from, to));
      return;
    }
    delete.accept(from, to);
    model.subMap(from, to).clear();
  }

  private void transaction() {
    TransactionOptions options =
        TransactionOptions.builder()
            .isolation(Isolation.values()[random.nextInt(3)])
            .locking(Locking.values()[random.nextInt(2)])
            .build();
    SortedMap<byte[], byte[]> model = copy();
    SortedMap<byte[], byte[]> before = copy();
    try (Transaction transaction = store.begin(options)) {
      Savepoint savepoint = transaction.savepoint();
      for (int i = random.nextInt(8); i > 0; i--) {
        int choice = random.nextInt(10);
        if (choice == 0) {
          transaction.rollbackTo(savepoint);
          model.clear();
          model.putAll(before);
        } else if (choice == 1) {
          savepoint = transaction.savepoint();
          before.clear();
          before.putAll(model);
        } else if (choice < 4) {
          checkIn(transaction, model);
        } else if (choice == 4) {
          deleteRange(model, (from, to) -> dataset.deleteRange(transaction, from, to));
        } else {
          writeIn(transaction, model);
        }
      }
      checkIn(transaction, model);
      if (random.nextInt(4) == 0) {
        transaction.rollback();
        return;
      }
      transaction.commit();
    }
    states.add(model);
  }

  private void writeIn(Transaction transaction, SortedMap<byte[], byte[]> model) {
    byte[] key = Records.key(random);
    byte[] value = value();
    boolean refused = refuses(model, key, value);
    try {
      if (value == null) {
        dataset.delete(transaction, key);
      } else if (random.nextInt(5) == 0) {
        // The batch as a whole is taken back if its last write is refused.
        dataset.write(transaction, new RecordBatch().delete(key).put(key, value));
      } else {
        dataset.put(transaction, key, value);
      }
      assertTrue(!refused, "a duplicate was written");
      apply(model, key, value);
    } catch (DuplicateKeyException e) {
      assertTrue(refused, e.getMessage());
      duplicates++;
    }
  }

  private void checkIn(Transaction transaction, SortedMap<byte[], byte[]> model) {
    for (Index index : indexes.values()) {
      List<IndexEntry> expected = Records.entries(index, model);
      try (IndexCursor cursor = dataset.cursor(transaction, index.name(), IndexRange.all())) {
        assertEquals(expected, Records.forward(cursor), index.name());
        assertEquals(expected, Records.backward(cursor), index.name());
      }
      byte[] indexKey = indexKey(index);
      assertEquals(
          only(expected, indexKey),
          dataset.find(transaction, index.name(), indexKey),
          index.name());
    }
  }

  private byte[] indexKey(Index index) {
    return index.unique() ? new byte[] {(byte) random.nextInt(NUMBERS)} : Records.tag(random);
  }

  private static List<IndexEntry> only(List<IndexEntry> entries, byte[] indexKey) {
    return entries.stream().filter(e -> Arrays.equals(e.indexKey(), indexKey)).toList();
  }

  private void repair() {
    for (Index index : indexes.values()) {
      if (index.maintenance() == Maintenance.VALIDATION) {
        if (random.nextBoolean()) {
          assertTrue(dataset.repair(index.name()).finished());
          DatasetCheck check = dataset.check();
          check.indexes().stream()
              .filter(found -> found.index().equals(index.name()))
              .forEach(found -> assertEquals(0, found.stale(), index.name()));
        } else {
          dataset.repair(index.name(), 1 + random.nextInt(20));
        }
      }
    }
  }

  private void changeIndex() {
    List<Index> all = all();
    Index index = all.get(random.nextInt(all.size()));
    if (indexes.remove(index.name()) != null) {
      if (held != null) {
        held.indexes.remove(index.name());
      }
      dataset.dropIndex(index.name());
      return;
    }
    boolean possible =
        !index.unique()
            || Records.entries(index, now()).stream()
                    .map(e -> Arrays.hashCode(e.indexKey()))
                    .distinct()
                    .count()
                == Records.entries(index, now()).size();
    try {
      dataset.createIndex(index);
      assertTrue(possible, "a unique index over duplicates");
      indexes.put(index.name(), index);
    } catch (DuplicateKeyException e) {
      assertTrue(!possible, e.getMessage());
    }
  }

  /** Opens the dataset with other indexes than it has; maybe a crash breaks that off. */
  private Dataset updated() {
    last = "reopening with other indexes";
    TreeMap<String, Index> wanted = new TreeMap<>();
    for (Index index : all()) {
      if (changes.nextBoolean()) {
        wanted.put(index.name(), inVersion(index, 1 + changes.nextInt(2)));
      }
    }
    List<SimulatedStorage> disks = new ArrayList<>();
    CrashMode[] modes = CrashMode.values();
    DatasetOptions.Builder options =
        options(wanted)
            .updateIndexes(true)
            .progress(
                (name, records) -> {
                  if (changes.nextInt(3) == 0) {
                    disks.add(world.crashed(modes[changes.nextInt(modes.length)]));
                  }
                });
    Dataset opened;
    try {
      opened = Dataset.open(store, "d", options.build());
    } catch (DuplicateKeyException e) {
      duplicates++;
      wanted.values().removeIf(Index::unique);
      opened = Dataset.open(store, "d", options(wanted).updateIndexes(true).build());
    }
    if (!disks.isEmpty()) {
      crashes++;
      store.close();
      world.use(disks.get(changes.nextInt(disks.size())));
      store = world.open();
      opened = Dataset.open(store, "d", options(wanted).updateIndexes(true).build());
    }
    indexes.clear();
    indexes.putAll(wanted);
    return opened;
  }

  private void crash() {
    crashes++;
    CrashMode[] modes = CrashMode.values();
    // The opening knows what the definitions are, so the last change of them must be durable.
    store.sync();
    if (!logged) {
      store.checkpoint();
    }
    states.subList(0, states.size() - 1).clear();
    for (int i = random.nextInt(6); i > 0; i--) {
      write();
      world.background(random.nextInt(5));
    }
    SimulatedStorage disk = world.crashed(modes[random.nextInt(modes.length)]);
    close();
    world.use(disk);
    store = world.open();
    dataset = openDataset();
    SortedMap<byte[], byte[]> found = Records.newModel();
    try (Cursor cursor = dataset.cursor(CursorOptions.all())) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        found.put(cursor.key(), cursor.value());
      }
    }
    int at = states.size() - 1;
    while (at >= 0 && !same(states.get(at), found)) {
      at--;
    }
    assertTrue(at >= 0, "after a crash the records are as they never were");
    SortedMap<byte[], byte[]> kept = states.get(at);
    states.clear();
    states.add(kept);
  }

  private static boolean same(SortedMap<byte[], byte[]> a, SortedMap<byte[], byte[]> b) {
    return a.size() == b.size()
        && a.entrySet().stream()
            .allMatch(
                e -> b.containsKey(e.getKey()) && Arrays.equals(e.getValue(), b.get(e.getKey())));
  }

  private void checkAll() {
    DatasetCheck check = dataset.check();
    assertTrue(check.isSound(), () -> check.toString());
    assertEquals(now().size(), check.records());
    check.indexes().forEach(found -> stale += (int) found.stale());
    now().forEach((key, value) -> assertArrayEquals(value, dataset.get(key)));
    checkHeld();
    try (Snapshot snapshot = store.snapshot()) {
      SortedMap<byte[], byte[]> then = copy();
      if (random.nextBoolean()) {
        write();
      }
      for (Index index : indexes.values()) {
        checkIndex(index, Records.entries(index, now()), null);
        checkIndex(index, Records.entries(index, then), snapshot);
      }
    }
  }

  private void letGo() {
    if (held != null) {
      held.snapshot.close();
      held = null;
    }
  }

  private void checkHeld() {
    if (held == null) {
      if (random.nextInt(3) == 0) {
        held = new Held(store.snapshot(), copy(), new TreeMap<>(indexes));
      }
      return;
    }
    for (Index index : held.indexes.values()) {
      checkIndex(index, Records.entries(index, held.model), held.snapshot);
    }
    if (random.nextInt(6) == 0) {
      letGo();
    }
  }

  private void checkIndex(Index index, List<IndexEntry> all, @Nullable Snapshot snapshot) {
    String name = index.name();
    byte[] from = indexKey(index);
    byte[] to = indexKey(index);
    IndexRange range =
        switch (random.nextInt(5)) {
          case 0 -> IndexRange.all();
          case 1 -> IndexRange.from(from);
          case 2 -> IndexRange.only(from);
          case 3 -> IndexRange.prefix(from);
          default -> IndexRange.between(from, to);
        };
    byte[] low = range.from();
    byte[] high = range.to();
    List<IndexEntry> expected =
        all.stream()
            .filter(e -> low == null || Arrays.compareUnsigned(e.indexKey(), low) >= 0)
            .filter(e -> high == null || Arrays.compareUnsigned(e.indexKey(), high) < 0)
            .toList();
    try (IndexCursor cursor =
        snapshot == null ? dataset.cursor(name, range) : dataset.cursor(snapshot, name, range)) {
      assertEquals(expected, Records.forward(cursor), name);
      assertEquals(expected, Records.backward(cursor), name);
      seek(cursor, expected, indexKey(index), Records.key(random));
    }
    assertEquals(
        only(all, from),
        snapshot == null ? dataset.find(name, from) : dataset.find(snapshot, name, from),
        name);
  }

  private static void seek(
      IndexCursor cursor, List<IndexEntry> expected, byte[] indexKey, byte[] key) {
    assertAt(
        cursor.seek(indexKey),
        cursor,
        expected.stream()
            .filter(e -> Arrays.compareUnsigned(e.indexKey(), indexKey) >= 0)
            .findFirst()
            .orElse(null));
    assertAt(
        cursor.seek(indexKey, key),
        cursor,
        expected.stream().filter(e -> !isBefore(e, indexKey, key)).findFirst().orElse(null));
    assertAt(
        cursor.seekBefore(indexKey, key),
        cursor,
        expected.stream().filter(e -> isBefore(e, indexKey, key)).reduce((a, b) -> b).orElse(null));
    assertAt(
        cursor.seekBefore(indexKey),
        cursor,
        expected.stream()
            .filter(e -> Arrays.compareUnsigned(e.indexKey(), indexKey) < 0)
            .reduce((a, b) -> b)
            .orElse(null));
  }

  private static boolean isBefore(IndexEntry entry, byte[] indexKey, byte[] key) {
    int c = Arrays.compareUnsigned(entry.indexKey(), indexKey);
    return c < 0 || c == 0 && Arrays.compareUnsigned(entry.key(), key) < 0;
  }

  private static void assertAt(boolean on, IndexCursor cursor, @Nullable IndexEntry expected) {
    assertEquals(expected != null, on);
    assertEquals(on, cursor.isValid());
    if (on) {
      assertEquals(expected, new IndexEntry(cursor.indexKey(), cursor.key(), cursor.value()));
    }
  }
}
