package io.isobardb.lsm.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.dataset.Dataset;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import io.isobardb.lsm.dataset.Maintenance;
import io.isobardb.lsm.option.KeyOrder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Builds the stores that {@code FormatVersionsTest} opens, each made by a release that wrote its
 * format version, with every type of file and page. A file {@code store-N.zip} holds the store's
 * directory as a kill of the process would have left it.
 *
 * <p>It calls nothing that the release of format version 1 does not have (there {@code KeyOrder} is
 * in the package {@code entry}). To make a store of a release, compile this file against its
 * classes and run {@link #main}.
 *
 * <p>What the stores hold follows from {@link #SEED} alone. Trees: {@code plain}, {@code packed}
 * (LZ4, no filter), {@code backwards} (a key order of its own), {@code unlogged}, and those of the
 * dataset {@code people}. Each has several SSTables, deletes and values in overflow pages. The
 * unlogged tree has newer SSTables than its checkpoint. The others have newer entries in the log,
 * and, if the release has a ring, in that alone.
 */
final class FormatStore {
  private static final long SEED = 20261124;
  private static final int ROUNDS = 6;

  /** The order from the last key to the first. */
  static final KeyOrder BACKWARDS =
      new KeyOrder() {
        @Override
        public int compare(byte[] a, int aFrom, int aLength, byte[] b, int bFrom, int bLength) {
          return Arrays.compareUnsigned(b, bFrom, bFrom + bLength, a, aFrom, aFrom + aLength);
        }

        @Override
        public String name() {
          return "backwards";
        }
      };

  static final List<String> TREES = List.of("plain", "packed", "backwards", "unlogged");
  static final String PEOPLE = "people";
  static final List<String> INDEXES = List.of("by-city", "by-email", "by-age");

  /** What the trees hold, by name; the dataset's records are under {@link #PEOPLE}. */
  final Map<String, TreeMap<byte[], byte[]>> model = new TreeMap<>();

  private final SplittableRandom random = new SplittableRandom(SEED);

  /** What the unlogged tree held at the last checkpoint. */
  private TreeMap<byte[], byte[]> atCheckpoint = new TreeMap<>(Arrays::compareUnsigned);

  private FormatStore() {
    TREES.forEach(name -> model.put(name, new TreeMap<>(Arrays::compareUnsigned)));
    model.put(PEOPLE, new TreeMap<>(Arrays::compareUnsigned));
  }

  /** What the stores hold after a crash. */
  static FormatStore expected() {
    FormatStore expected = new FormatStore();
    expected.play(null, () -> {});
    expected.model.put("unlogged", expected.atCheckpoint);
    return expected;
  }

  static StoreOptions.Builder options() {
    return StoreOptions.builder()
        .memoryBudget(4 << 20)
        .pageSize(4096)
        .logLimit(1 << 20)
        .asyncSyncInterval(Duration.ofHours(1))
        .memoryTuner(false)
        .keyOrder(BACKWARDS);
  }

  /** The dataset of a store. */
  static Dataset people(Store store) {
    DatasetOptions.Builder options = DatasetOptions.builder();
    options.index(index("by-city", 0).build());
    options.index(index("by-email", 1).unique(true).build());
    options.index(index("by-age", 2).maintenance(Maintenance.VALIDATION).build());
    return Dataset.open(store, PEOPLE, options.build());
  }

  private static Index.Builder index(String name, int field) {
    return Index.builder(name)
        .key((key, value) -> List.of(new String(value, UTF_8).split(",")[field].getBytes(UTF_8)));
  }

  /** Arguments: a directory for the store, which is not there yet, and the file to make of it. */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    Path zip = Path.of(args[1]);
    new FormatStore().play(directory, () -> pack(directory, zip));
  }

  /** Some of a store's life, with and without the store. */
  private void play(Path directory, Packing packing) {
    try (Store store = directory == null ? null : Store.open(directory, options().build())) {
      Trees trees = new Trees(store);
      for (int round = 0; round < ROUNDS; round++) {
        for (String tree : TREES) {
          write(trees, tree, round, 30);
        }
        people(trees, 20);
        trees.flush();
        if (round == ROUNDS - 2) {
          trees.checkpoint();
          atCheckpoint = new TreeMap<>(model.get("unlogged"));
        }
      }
      for (String tree : TREES) {
        if (!tree.equals("unlogged")) {
          write(trees, tree, ROUNDS, 20);
        }
      }
      people(trees, 10);
      trees.sync();
      for (String tree : TREES) {
        if (!tree.equals("unlogged")) {
          write(trees, tree, ROUNDS + 1, 10);
        }
      }
      if (directory != null && Files.notExists(directory.resolve("RING"))) {
        trees.sync();
      }
      packing.run();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void write(Trees trees, String tree, int round, int count) {
    for (int i = 0; i < count; i++) {
      int k = random.nextInt(90);
      byte[] key = ("key" + k + "-".repeat(k % 11)).getBytes(UTF_8);
      if (random.nextInt(5) == 0) {
        model.get(tree).remove(key);
        trees.delete(tree, key);
        continue;
      }
      int length =
          switch (random.nextInt(16)) {
            case 0 -> 0;
            case 1 -> 4096 + random.nextInt(6000);
            default -> 10 + random.nextInt(round == ROUNDS ? 2500 : 250);
          };
      byte[] value = new byte[length];
      for (int j = 0; j < length; j++) {
        // Such as a zip makes small: some letters, and then again.
        value[j] = j < 30 ? (byte) ('a' + random.nextInt(8) + round) : value[j - 30];
      }
      model.get(tree).put(key, value);
      trees.put(tree, key, value);
    }
  }

  private void people(Trees trees, int count) {
    for (int i = 0; i < count; i++) {
      int id = random.nextInt(60);
      byte[] key = ("person" + id).getBytes(UTF_8);
      if (random.nextInt(6) == 0) {
        model.get(PEOPLE).remove(key);
        trees.deletePerson(key);
        continue;
      }
      String value = "city" + random.nextInt(7) + "," + id + "@example.org," + random.nextInt(90);
      model.get(PEOPLE).put(key, value.getBytes(UTF_8));
      trees.putPerson(key, value.getBytes(UTF_8));
    }
  }

  /** Writes the files of a file that {@link #pack} made. Returns the directory. */
  static Path unpack(InputStream file, Path directory) throws IOException {
    try (ZipInputStream in = new ZipInputStream(file)) {
      for (ZipEntry e = in.getNextEntry(); e != null; e = in.getNextEntry()) {
        Files.copy(in, directory.resolve(e.getName()));
      }
    }
    return directory;
  }

  static void pack(Path directory, Path zip) throws IOException {
    try (OutputStream file = Files.newOutputStream(zip);
        ZipOutputStream out = new ZipOutputStream(file);
        Stream<Path> paths = Files.list(directory)) {
      out.setLevel(9);
      for (Path path : paths.sorted().toList()) {
        ZipEntry entry = new ZipEntry(path.getFileName().toString());
        entry.setTime(0);
        out.putNextEntry(entry);
        Files.copy(path, out);
        out.closeEntry();
      }
    }
  }

  private interface Packing {
    void run() throws IOException;
  }

  /** The calls of a store, or nothing. */
  private static final class Trees {
    private final Store store;
    private final Dataset people;

    Trees(Store store) {
      this.store = store;
      if (store == null) {
        people = null;
        return;
      }
      store.createTree("plain", TreeOptions.defaults());
      store.createTree(
          "packed", TreeOptions.builder().compression(Compression.LZ4).filterBitsPerKey(0).build());
      store.createTree("backwards", TreeOptions.builder().keyOrder(BACKWARDS).build());
      store.createTree("unlogged", TreeOptions.builder().logged(false).build());
      people = people(store);
    }

    void put(String tree, byte[] key, byte[] value) {
      if (store != null) {
        store.tree(tree).put(key, value, Durability.ASYNC);
      }
    }

    void delete(String tree, byte[] key) {
      if (store != null) {
        store.tree(tree).delete(key, Durability.ASYNC);
      }
    }

    void putPerson(byte[] key, byte[] value) {
      if (people != null) {
        people.put(key, value);
      }
    }

    void deletePerson(byte[] key) {
      if (people != null) {
        people.delete(key);
      }
    }

    void flush() {
      if (store != null) {
        store.flush();
        store.awaitQuiet();
      }
    }

    void checkpoint() {
      if (store != null) {
        store.checkpoint();
      }
    }

    void sync() {
      if (store != null) {
        store.sync();
      }
    }
  }
}
