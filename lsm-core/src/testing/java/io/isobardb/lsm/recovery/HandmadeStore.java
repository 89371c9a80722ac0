package io.isobardb.lsm.recovery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.FileSink;
import io.isobardb.lsm.sstable.Packer;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.AllocationFaults;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.system.Region;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A closed store on a simulated disk, whose SSTables and edits are made by hand: each file is sound
 * for itself, the whole is what the test wants. The log has {@link #LOGGED_KEYS} puts to the logged
 * tree, {@code logged00} and so on.
 */
final class HandmadeStore {
  static final int LOGGED = 1;
  static final int UNLOGGED = 2;
  static final int BACKWARDS = 3;
  static final int LOGGED_KEYS = 20;

  /** How many levels trees have once they have SSTables. */
  private static final int LEVELS = 3;

  /** From the last key to the first. */
  private static final KeyOrder REVERSED =
      new KeyOrder() {
        @Override
        public int compare(byte[] a, int aFrom, int aLength, byte[] b, int bFrom, int bLength) {
          return Arrays.compareUnsigned(b, bFrom, bFrom + bLength, a, aFrom, aFrom + aLength);
        }

        @Override
        public String name() {
          return "reversed";
        }
      };

  static final Map<String, KeyOrder> BYTES_ALONE = Map.of(KeyOrder.BYTES.name(), KeyOrder.BYTES);
  static final Map<String, KeyOrder> ORDERS =
      Map.of(KeyOrder.BYTES.name(), KeyOrder.BYTES, REVERSED.name(), REVERSED);

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .keyOrder(REVERSED)
          .build();

  private final long heldBefore = memoryBytes();
  private final SimulatedClock clock = new SimulatedClock();
  private final SimulatedStorage disk;
  private SimulatedScheduler scheduler = new SimulatedScheduler(clock, 1);

  HandmadeStore() {
    disk = new SimulatedStorage(clock);
    try (Store store = open()) {
      store.createTree("logged", TreeOptions.defaults());
      store.createTree(
          "unlogged", TreeOptions.builder().logged(false).compression(Compression.LZ4).build());
      store.createTree("backwards", TreeOptions.builder().keyOrder(REVERSED).build());
      for (int i = 0; i < LOGGED_KEYS; i++) {
        store
            .tree("logged")
            .put("logged%02d".formatted(i).getBytes(UTF_8), new byte[500], Durability.ASYNC);
      }
    }
  }

  /** The store on another disk. */
  HandmadeStore(SimulatedStorage disk) {
    this.disk = disk;
  }

  /** The memory off the heap that is held in this process. */
  static long memoryBytes() {
    return Region.heldBytes();
  }

  /** That no more memory is held than before there was this store, and no file is open. */
  void assertAllGivenBack() {
    assertEquals(heldBefore, memoryBytes(), "memory that is held");
    assertEquals(0, disk.openFiles(), "files left open");
  }

  SimulatedStorage disk() {
    return disk;
  }

  /** Opens the store; background work is done by {@link #pass}, or when somebody waits for it. */
  Store open() {
    return open(AllocationFaults.NONE);
  }

  Store open(AllocationFaults faults) {
    scheduler = new SimulatedScheduler(clock, 1);
    return Inside.open(
        new Environment(disk, clock, scheduler, new SplittableRandom(1), faults), OPTIONS);
  }

  /** Lets simulated time go by, and background work be done. */
  void pass(long nanos) {
    scheduler.runFor(nanos);
  }

  /**
   * Puts a new SSTable into a tree, and gives its file's name.
   *
   * @param entries {@code KEY@LSN} each, in their order
   */
  String add(int treeId, Place place, String... entries) throws IOException {
    Memory value = new Memory(ByteBuffer.allocateDirect(8));
    return add(
        treeId,
        place,
        writer -> {
          for (String entry : entries) {
            int at = entry.lastIndexOf('@');
            byte[] key = entry.substring(0, at).getBytes(UTF_8);
            long lsn = Long.parseLong(entry.substring(at + 1));
            writer.add(key, key.length, lsn, Kind.PUT, value, 0, 8);
          }
        });
  }

  /** Writes the entries of an SSTable. */
  interface Entries {
    void write(SSTableWriter writer) throws IOException;
  }

  /** As {@link #add(int, Place, String...)}, of any entries. */
  String add(int treeId, Place place, Entries entries) throws IOException {
    PagePool pool = new PagePool(8 << 20, 4096);
    try (ReadMemory memory = ReadMemory.of(pool, 1 << 20, 0, CacheNeighbours.NONE)) {
      Recovered recovered = Manifest.open(disk, pool, Manifest.DEFAULT_ROLL_BYTES);
      try (Manifest manifest = recovered.manifest()) {
        TreeDefinition tree = recovered.trees().get(treeId - 1).definition();
        long number = recovered.counters().nextFileNumber();
        TableSpace space =
            memory.space(disk, IoMode.BUFFERED, manifest.storeId(), id -> tree.label());
        SSTableWriter writer =
            new SSTableWriter(
                new FileSink(space, number, treeId, Packer.NONE, false),
                TreeText.parse(tree, ORDERS).order(),
                number,
                treeId,
                10);
        entries.write(writer);
        SSTableMeta meta = writer.finish();
        manifest.append(List.of(VersionEdit.of(treeId).levels(LEVELS).add(place, meta).build()));
        return meta.fileName();
      }
    }
  }

  void edit(VersionEdit.Builder edit) throws IOException {
    PagePool pool = new PagePool(1 << 20, 4096);
    try (Manifest manifest = Manifest.open(disk, pool, Manifest.DEFAULT_ROLL_BYTES).manifest()) {
      manifest.append(List.of(edit.build()));
    } finally {
      pool.close();
    }
  }

  /** Makes a file. */
  static void write(SimulatedStorage disk, String file, byte[] content) throws IOException {
    Memory memory = new Memory(ByteBuffer.allocateDirect(content.length));
    memory.put(0, content, 0, content.length);
    try (DataFile created = disk.create(file, IoMode.BUFFERED)) {
      created.write(0, memory, 0, content.length);
    }
  }

  /** Puts bytes of this value into a file. */
  void overwrite(String file, long offset, int count, int value) throws IOException {
    Memory bytes = new Memory(ByteBuffer.allocateDirect(count));
    bytes.fill(0, count, (byte) value);
    try (DataFile opened = disk.open(file, IoMode.BUFFERED)) {
      opened.write(offset, bytes, 0, count);
    }
  }

  /** The bytes of a file. */
  byte[] read(String file) throws IOException {
    try (DataFile opened = disk.open(file, IoMode.BUFFERED)) {
      byte[] bytes = new byte[(int) opened.size()];
      Memory memory = new Memory(ByteBuffer.allocateDirect(bytes.length));
      assertEquals(bytes.length, opened.read(0, memory, 0, bytes.length));
      memory.get(0, bytes, 0, bytes.length);
      return bytes;
    }
  }

  OfflineStore inspect() throws IOException {
    return inspect(ORDERS);
  }

  OfflineStore inspect(Map<String, KeyOrder> orders) throws IOException {
    return OfflineStore.open(disk, 4 << 20, orders);
  }

  CheckReport check() throws IOException {
    return check(ORDERS, CheckProgress.NONE);
  }

  CheckReport check(Map<String, KeyOrder> orders, CheckProgress progress) throws IOException {
    try (OfflineStore inspector = inspect(orders)) {
      return inspector.check(progress);
    } finally {
      assertEquals(0, disk.openFiles(), "files left open");
    }
  }

  /** The SSTables of a tree: file and place, and the entries of each as {@link #add} takes them. */
  Map<String, List<String>> tables(int treeId) throws IOException {
    Map<String, List<String>> tables = new TreeMap<>();
    try (OfflineStore inspector = inspect()) {
      Recovered.Tree tree = inspector.recovered().trees().get(treeId - 1);
      for (VersionEdit.Added added : tree.tables()) {
        List<String> entries = new ArrayList<>();
        Recovered.Tree alone =
            new Recovered.Tree(tree.definition(), 0, tree.levels(), List.of(added));
        inspector.entries(
            alone,
            null,
            null,
            (at, run) ->
                entries.add(new String(at.key(), 0, at.keyLength(), UTF_8) + "@" + at.lsn()));
        tables.put(added.meta().fileName() + " " + added.place(), entries);
      }
    }
    return tables;
  }
}
