package io.isobardb.lsm.damage;

import static io.isobardb.lsm.SimulatedStores.bytes;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A small, closed store with every type of file and page, what it holds, and its disk with some
 * bytes changed.
 *
 * <p>Trees: {@code plain}, {@code packed} (LZ4), {@code unlogged} and {@code backwards} (a key
 * order of its own). Each has entries in two runs or more of SSTables, deletes and overflow values;
 * the logged ones have newer ones in the log, which has two segments.
 */
public final class DamagedStore {
  /** The order from the last key to the first. */
  public static final KeyOrder BACKWARDS =
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

  public static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .createIfMissing(false)
          .keyOrder(BACKWARDS)
          .build();

  private static final StoreOptions NEW =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .keyOrder(BACKWARDS)
          .build();

  private final SimulatedStorage disk;
  private final TreeMap<String, byte[]> files = new TreeMap<>();
  private final Map<String, TreeMap<byte[], byte[]>> model = new TreeMap<>();
  private final Map<String, TreeMap<byte[], Collection<byte[]>>> history = new TreeMap<>();

  /** Makes the store; another seed gives another store ID and other values. */
  public DamagedStore(long seed) throws IOException {
    SimulatedWorld world = new SimulatedWorld(seed);
    disk = world.storage();
    SplittableRandom random = new SplittableRandom(seed);
    try (Store store = world.open(NEW)) {
      store.createTree("plain", TreeOptions.defaults());
      store.createTree(
          "packed", TreeOptions.builder().compression(Compression.LZ4).filterBitsPerKey(0).build());
      store.createTree("unlogged", TreeOptions.builder().logged(false).build());
      store.createTree("backwards", TreeOptions.builder().keyOrder(BACKWARDS).build());
      for (int round = 0; round < 3; round++) {
        for (String name : store.treeNames()) {
          write(store.tree(name), round, 60, random);
        }
        store.flush();
        world.background(3);
      }
      for (String name : store.treeNames()) {
        if (!name.equals("unlogged")) {
          write(store.tree(name), 3, 25, random);
        }
      }
    }
    for (String name : disk.list()) {
      files.put(name, read(disk, name));
    }
  }

  private void write(Tree tree, int round, int count, SplittableRandom random) {
    for (int i = 0; i < count; i++) {
      int k = random.nextInt(90);
      byte[] key = bytes("key" + k + "-".repeat(k % 11));
      if (random.nextInt(5) == 0) {
        tree.delete(key, Durability.ASYNC);
        model(tree.name()).remove(key);
      } else {
        int length =
            switch (random.nextInt(12)) {
              case 0 -> 0;
              case 1 -> 4096 + random.nextInt(6000);
              default -> 10 + random.nextInt(round == 3 ? 2500 : 250);
            };
        byte[] value = new byte[length];
        for (int j = 0; j < length; j++) {
          value[j] = (byte) ("abcdefgh".charAt(random.nextInt(8)) + round);
        }
        tree.put(key, value, Durability.ASYNC);
        model(tree.name()).put(key, value);
        history
            .computeIfAbsent(tree.name(), name -> new TreeMap<>(Arrays::compareUnsigned))
            .computeIfAbsent(key, same -> new ArrayList<>())
            .add(value);
      }
    }
  }

  /** Names of the trees. */
  public Collection<String> trees() {
    return model.keySet();
  }

  /** What a tree holds. */
  public TreeMap<byte[], byte[]> model(String tree) {
    return model.computeIfAbsent(tree, name -> new TreeMap<>(Arrays::compareUnsigned));
  }

  /** Whether this was the value of the key at some time. */
  public boolean everHeld(String tree, byte[] key, byte[] value) {
    Collection<byte[]> values = history.getOrDefault(tree, new TreeMap<>()).get(key);
    return values != null && values.stream().anyMatch(one -> Arrays.equals(one, value));
  }

  /** The files by name, with their contents; not to be changed. */
  public TreeMap<String, byte[]> files() {
    return files;
  }

  /** The trees' names by the names of their SSTables. */
  public TreeMap<String, String> treesByFile() throws IOException {
    TreeMap<String, String> trees = new TreeMap<>();
    try (OfflineStore inspector = inspect(disk.copy())) {
      for (Recovered.Tree tree : inspector.recovered().trees()) {
        for (VersionEdit.Added table : tree.tables()) {
          trees.put(table.meta().fileName(), tree.definition().name());
        }
      }
    }
    return trees;
  }

  public static OfflineStore inspect(SimulatedStorage disk) throws IOException {
    return OfflineStore.open(disk, 4 << 20, OPTIONS.keyOrders());
  }

  /** The disk with the files that {@code damage} leaves of the right ones. */
  public SimulatedStorage disk(Damage damage) throws IOException {
    TreeMap<String, byte[]> damaged = new TreeMap<>(files);
    damage.apply(damaged);
    return disk(disk, files, damaged);
  }

  /** A copy of a disk with {@code after} in place of the files {@code before}. */
  public static SimulatedStorage disk(
      SimulatedStorage disk, Map<String, byte[]> before, Map<String, byte[]> after)
      throws IOException {
    SimulatedStorage copy = disk.copy();
    for (String name : before.keySet()) {
      if (!after.containsKey(name)) {
        copy.delete(name);
      }
    }
    for (Map.Entry<String, byte[]> file : after.entrySet()) {
      if (before.get(file.getKey()) != file.getValue()) {
        copy.delete(file.getKey());
        write(copy, file.getKey(), file.getValue());
      }
    }
    return copy;
  }

  public static byte[] read(SimulatedStorage disk, String name) throws IOException {
    try (DataFile file = disk.open(name, IoMode.BUFFERED)) {
      byte[] content = new byte[(int) file.size()];
      Memory memory = new Memory(ByteBuffer.allocateDirect(Math.max(8, content.length)));
      file.read(0, memory, 0, content.length);
      memory.get(0, content, 0, content.length);
      return content;
    }
  }

  private static void write(SimulatedStorage disk, String name, byte[] content) throws IOException {
    try (DataFile file = disk.create(name, IoMode.BUFFERED)) {
      if (content.length > 0) {
        Memory memory = new Memory(ByteBuffer.allocateDirect(content.length));
        memory.put(0, content, 0, content.length);
        file.write(0, memory, 0, content.length);
      }
    }
  }
}
