package io.isobardb.lsm.format;

import static io.isobardb.lsm.SimulatedStores.bytes;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.MergeOperator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Builds the store that {@code FeatureStoreTest} opens: {@code store-3.zip}, with what format
 * version 3 has and version 2 has not. Operands, entries that expire, deleted ranges and a bulk
 * load lie in SSTables and in the log; a tree has been renamed. {@link #main} makes the file.
 *
 * <p>Trees: {@code counters} and {@code lists} (merge operators), {@code expiring}, {@code cleared}
 * (ranges deleted) and {@code loaded}.
 */
final class FeatureStore {
  private static final int KEYS = 60;
  private static final Instant PAST = Instant.parse("2001-01-01T00:00:00Z");
  private static final Instant FUTURE = Instant.parse("2200-01-01T00:00:00Z");

  /** What the trees hold, by name. */
  final Map<String, TreeMap<byte[], byte[]>> model = new TreeMap<>();

  private FeatureStore() {
    for (String name : new String[] {"counters", "lists", "expiring", "cleared", "loaded"}) {
      model.put(name, new TreeMap<>(Arrays::compareUnsigned));
    }
  }

  /** What the store holds. */
  static FeatureStore expected() {
    FeatureStore expected = new FeatureStore();
    expected.play(null);
    return expected;
  }

  static StoreOptions.Builder options() {
    return StoreOptions.builder()
        .memoryBudget(4 << 20)
        .pageSize(4096)
        .logLimit(1 << 20)
        .asyncSyncInterval(Duration.ofHours(1))
        .memoryTuner(false);
  }

  /** Arguments: a directory for the store, which is not there yet, and the file to make of it. */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    try (Store store = Store.open(directory, options().build())) {
      store.createTree("counters", merging(MergeOperator.ADD_LONG));
      store.createTree("appended", merging(MergeOperator.APPEND));
      store.createTree("expiring", TreeOptions.builder().timeToLive(Duration.ofDays(1)).build());
      store.createTree("cleared", TreeOptions.defaults());
      store.createTree("loaded", TreeOptions.defaults());
      store.renameTree("appended", "lists");
      new FeatureStore().play(store);
      store.sync();
      FormatStore.pack(directory, Path.of(args[1]));
    }
  }

  private static TreeOptions merging(MergeOperator operator) {
    return TreeOptions.builder().mergeOperator(operator).build();
  }

  static byte[] key(int i) {
    return bytes("key" + (100 + i));
  }

  static byte[] appended(byte[] list, byte[] more) {
    byte[] longer = Arrays.copyOf(list, list.length + more.length);
    System.arraycopy(more, 0, longer, list.length, more.length);
    return longer;
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /** Writes three times: into SSTables, into others, and what only the log has. */
  private void play(Store store) {
    for (int round = 0; round < 3; round++) {
      for (int i = round; i < KEYS; i += round + 1) {
        merge(store, i, round);
        expire(store, i, round);
        put(store, "cleared", key(i), bytes("cleared " + i + " in round " + round), null);
      }
      clear(store, 10 * round + 5, 10 * round + 12);
      if (round == 1) {
        load(store);
        clear(store, KEYS - 3, KEYS);
      }
      if (store != null && round < 2) {
        store.flush();
        store.awaitQuiet();
      }
    }
  }

  private void merge(Store store, int i, int round) {
    byte[] operand = number(i + round);
    byte[] text = bytes(round + (i % 7 == 0 ? "-".repeat(3000) : "."));
    if (round == 0 && i % 3 == 0) {
      put(store, "counters", key(i), number(1000), null);
      put(store, "lists", key(i), bytes("base"), null);
    }
    byte[] counter = model.get("counters").getOrDefault(key(i), number(0));
    byte[] list = model.get("lists").getOrDefault(key(i), new byte[0]);
    model.get("counters").put(key(i), number(ByteBuffer.wrap(counter).getLong() + i + round));
    model.get("lists").put(key(i), appended(list, text));
    if (store != null) {
      store.tree("counters").merge(key(i), operand);
      store.tree("lists").merge(key(i), text);
    }
  }

  private void expire(Store store, int i, int round) {
    Instant expires =
        switch ((i + round) % 3) {
          case 0 -> PAST;
          case 1 -> FUTURE;
          default -> Instant.MAX;
        };
    put(store, "expiring", key(i), bytes("until " + expires + " by round " + round), expires);
  }

  private void put(Store store, String tree, byte[] key, byte[] value, Instant expires) {
    if (expires == PAST) {
      model.get(tree).remove(key);
    } else {
      model.get(tree).put(key, value);
    }
    if (store == null) {
      return;
    }
    if (expires == null) {
      store.tree(tree).put(key, value);
    } else {
      store.tree(tree).put(key, value, expires);
    }
  }

  private void clear(Store store, int from, int to) {
    model.get("cleared").subMap(key(from), key(to)).clear();
    if (store != null) {
      store.tree("cleared").deleteRange(key(from), key(to));
    }
  }

  private void load(Store store) {
    for (int i = 0; i < KEYS; i++) {
      if (i % 4 != 0) {
        model.get("loaded").put(key(i), bytes("loaded " + i));
      }
    }
    if (store == null) {
      return;
    }
    Tree tree = store.tree("loaded");
    try (BulkLoad load = store.bulkLoad(tree)) {
      for (int i = 0; i < KEYS; i++) {
        load.add(tree, key(i), bytes("loaded " + i), i % 4 == 0 ? PAST : FUTURE);
      }
      load.commit();
    }
  }
}
