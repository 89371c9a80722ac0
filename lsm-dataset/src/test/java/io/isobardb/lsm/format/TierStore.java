package io.isobardb.lsm.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Runs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Builds the store that {@code TierStoreTest} opens: {@code store-5.zip}, with what format version
 * 5 has and version 4 has not. SSTables of the tree {@code tiered} stand in tiers. The end of the
 * log has fences: the tree {@code gone} was dropped and {@code late} created behind the last flush.
 * {@link #main} makes the file.
 */
final class TierStore {
  static final String TIERED = "tiered";
  private static final String LATE = "late";
  private static final String GONE = "gone";
  private static final int KEYS = 6000;
  private static final int ROUNDS = 30;
  private static final int WRITES = 500;

  /** What the trees hold, by name. */
  final Map<String, TreeMap<byte[], byte[]>> model = new TreeMap<>();

  private final SplittableRandom random = new SplittableRandom(5);

  private TierStore() {
    model.put(TIERED, new TreeMap<>(Arrays::compareUnsigned));
    model.put(LATE, new TreeMap<>(Arrays::compareUnsigned));
  }

  /** What the store holds. */
  static TierStore expected() {
    TierStore expected = new TierStore();
    expected.play(null);
    return expected;
  }

  /** Arguments: a directory for the store, which is not there yet, and the file to make of it. */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    try (Store store = Store.open(directory, FeatureStore.options().build())) {
      store.createTree(TIERED, TreeOptions.builder().runs(Runs.tiered(4)).maxSpace(3).build());
      store.createTree(GONE, TreeOptions.defaults());
      new TierStore().play(store);
      store.sync();
      FormatStore.pack(directory, Path.of(args[1]));
    }
  }

  private void play(Store store) {
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < WRITES; i++) {
        write(store, TIERED, random.nextInt(KEYS));
      }
      if (store != null) {
        store.flush();
        store.awaitQuiet();
      }
    }
    if (store != null) {
      store.dropTree(GONE);
      store.createTree(LATE, TreeOptions.defaults());
    }
    for (int i = 0; i < 20; i++) {
      write(store, LATE, i);
      write(store, TIERED, random.nextInt(KEYS));
    }
  }

  private void write(Store store, String tree, int number) {
    byte[] key = ("key" + (10_000 + number)).getBytes(UTF_8);
    int value = random.nextInt(1_000_000);
    if (value % 8 == 0) {
      model.get(tree).remove(key);
      if (store != null) {
        store.tree(tree).delete(key);
      }
      return;
    }
    byte[] text = (value + "-".repeat(200)).getBytes(UTF_8);
    model.get(tree).put(key, text);
    if (store != null) {
      store.tree(tree).put(key, text);
    }
  }
}
