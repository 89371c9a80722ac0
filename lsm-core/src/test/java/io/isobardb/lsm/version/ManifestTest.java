package io.isobardb.lsm.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class ManifestTest {
  private static final long ROLL_BYTES = 20_000;

  private final PagePool pool = new PagePool(4 << 20, 4096, true);
  private final SimulatedStorage storage = new SimulatedStorage();

  @AfterEach
  void nothingLeaks() {
    assertEquals(0, storage.openFiles());
    pool.close();
  }

  // ---- a script of edits, and the state after each of them

  /** Edits that touch everything an edit can say; the same for the same seed. */
  static List<List<VersionEdit>> script(long seed, int length) {
    SplittableRandom random = new SplittableRandom(seed);
    List<List<VersionEdit>> script = new ArrayList<>();
    long file = 1;
    int trees = 0;
    List<long[]> live = new ArrayList<>(); // tree, file
    for (int i = 0; i < length; i++) {
      List<VersionEdit> edits = new ArrayList<>();
      if (trees < 3 || random.nextInt(12) == 0) {
        trees++;
        edits.add(
            VersionEdit.create(
                new TreeDefinition(trees, "tree-" + trees, Map.of("order", "bytes", "x", "ü"))));
        edits.add(VersionEdit.of(trees).levels(2).build());
      }
      VersionEdit.Builder edit = VersionEdit.of(1 + random.nextInt(trees));
      int tree = edit.build().treeId();
      for (int n = random.nextInt(3); n >= 0; n--) {
        String key = String.format("%06d", file);
        Place place =
            random.nextBoolean() ? Place.group(1 + file % 5) : Place.level(random.nextInt(2));
        edit.add(place, Tables.table(tree, file, Tables.bytes(key), Tables.bytes(key), 99, 5, 1));
        live.add(new long[] {tree, file++});
      }
      long[] chosen = live.get(random.nextInt(live.size()));
      if (chosen[0] == tree && random.nextBoolean() && chosen[1] < file - 3) {
        edit.remove(chosen[1]);
        live.remove(chosen);
      } else if (chosen[0] == tree && chosen[1] < file - 3) {
        edit.move(chosen[1], Place.level(1));
      }
      edits.add(edit.flushedLsn(4096 + 8L * i).build());
      edits.add(
          VersionEdit.store()
              .nextFileNumber(file)
              .checkpointLsn(i)
              .logStartLsn(i / 2)
              .property("p" + i % 3, i % 5 == 0 ? "" : "v" + i)
              .build());
      script.add(edits);
    }
    return script;
  }

  /** The state after each prefix of the script, as text; the first is the empty one. */
  static List<String> states(List<List<VersionEdit>> script) {
    StoreContents contents = new StoreContents();
    List<String> states = new ArrayList<>();
    states.add(text(contents));
    for (List<VersionEdit> edits : script) {
      contents.apply(edits);
      states.add(text(contents));
    }
    return states;
  }

  private static String text(StoreContents contents) {
    EditCodec.Output out = new EditCodec.Output();
    contents.snapshot().forEach(edit -> EditCodec.encode(edit, out));
    return HexFormat.of().formatHex(out.bytes(), 0, out.length());
  }

  /** What a storage holds, as text of the same kind. */
  private String recover(SimulatedStorage from) throws IOException {
    Recovered recovered = Manifest.open(from, pool, ROLL_BYTES);
    try (Manifest manifest = recovered.manifest()) {
      return text(manifest.contents());
    }
  }

  private void write(SimulatedStorage to, List<List<VersionEdit>> script, long rollBytes)
      throws IOException {
    try (Manifest manifest = Manifest.create(to, pool, 5, 6, rollBytes)) {
      for (List<VersionEdit> edits : script) {
        manifest.append(edits);
      }
    }
  }

  // ---- tests

  @Test
  void whatIsAppendedIsRecovered() throws IOException {
    List<List<VersionEdit>> script = script(1, 60);
    List<String> states = states(script);
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, ROLL_BYTES)) {
      for (int i = 0; i < script.size(); i++) {
        manifest.append(script.get(i));
        assertEquals(states.get(i + 1), recover(storage.crash(random(i), CrashMode.ONLY_SYNCED)));
      }
    }
    assertEquals(states.get(script.size()), recover(storage));
  }

  @Test
  void theRecoveredTreesGiveVersions() throws IOException {
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, ROLL_BYTES)) {
      manifest.append(
          List.of(
              VersionEdit.create(new TreeDefinition(4, "t", Map.of("order", "bytes"))),
              VersionEdit.of(4)
                  .levels(2)
                  .add(Place.group(9), tableOf(4, 1, "a", "c"))
                  .add(Place.level(1), tableOf(4, 2, "b", "d"))
                  .add(Place.level(0), tableOf(4, 3, "b", "d"))
                  .flushedLsn(8192)
                  .build()));
    }
    Recovered recovered = Manifest.open(storage, pool, ROLL_BYTES);
    try (Manifest manifest = recovered.manifest()) {
      assertEquals(new UUID(5, 6), manifest.storeId());
      assertEquals(5, recovered.counters().nextTreeId());
      assertEquals(4, recovered.counters().nextFileNumber());
      Recovered.Tree tree = recovered.trees().get(0);
      assertEquals("t", tree.definition().name());
      assertEquals(8192, tree.flushedLsn());
      Version version = tree.version(KeyOrder.BYTES);
      assertEquals(1, version.groups().get(0).run().meta(0).fileNumber());
      assertEquals(2, version.level(1).meta(0).fileNumber());
      assertEquals(3, version.level(2).meta(0).fileNumber());
    }
  }

  @Test
  void editsThatDoNotFitAreRefusedAndChangeNothing() throws IOException {
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, ROLL_BYTES)) {
      String before = text(manifest.contents());
      VersionEdit create = VersionEdit.create(new TreeDefinition(1, "t", Map.of()));
      for (VersionEdit bad :
          List.of(
              VersionEdit.of(2).flushedLsn(1).build(),
              VersionEdit.of(1).remove(7).build(),
              VersionEdit.of(1).move(7, Place.level(0)).build(),
              VersionEdit.of(1).add(Place.level(1), tableOf(1, 1, "a", "b")).build(),
              VersionEdit.of(1).add(Place.level(0), tableOf(2, 1, "a", "b")).build(),
              VersionEdit.create(new TreeDefinition(2, "t", Map.of())))) {
        assertThrows(IllegalArgumentException.class, () -> manifest.append(List.of(create, bad)));
      }
      assertEquals(before, text(manifest.contents()));
    }
    assertEquals(states(List.of()).get(0), recover(storage));
  }

  /** What was made just now is durable: there is nothing to settle, and no new file is begun. */
  @Test
  void whoHasMadeTheManifestGoesOnWithItsFile() throws IOException {
    VersionEdit first = VersionEdit.create(new TreeDefinition(1, "a", Map.of()));
    VersionEdit second = VersionEdit.create(new TreeDefinition(2, "b", Map.of()));
    String file;
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, ROLL_BYTES)) {
      manifest.append(List.of(first));
      file = manifest.fileName();
    }
    try (Manifest manifest = Manifest.open(storage, pool, ROLL_BYTES).manifest()) {
      manifest.goOn();
      manifest.settle();
      manifest.append(List.of(second));
      assertEquals(file, manifest.fileName());
    }
    assertEquals(
        states(List.of(List.of(first), List.of(second))).get(2),
        recover(storage.crash(random(1), CrashMode.ONLY_SYNCED)));
  }

  @Test
  void aDroppedTreesIdIsNotUsedAgain() throws IOException {
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, 1)) {
      manifest.append(List.of(VersionEdit.create(new TreeDefinition(7, "t", Map.of()))));
      manifest.append(List.of(VersionEdit.drop(7)));
    }
    for (int i = 0; i < 3; i++) {
      Recovered recovered = Manifest.open(storage, pool, 1);
      try (Manifest manifest = recovered.manifest()) {
        assertEquals(8, recovered.counters().nextTreeId());
        assertTrue(recovered.trees().isEmpty());
        manifest.append(List.of());
      }
    }
  }

  @Test
  void aTornTailIsCutOffAtEveryLength() throws IOException {
    List<List<VersionEdit>> script = script(2, 8);
    List<String> states = states(script);
    write(storage, script, ROLL_BYTES);
    byte[] bytes = read(storage, "MANIFEST-000001");
    int complete = snapshotEnd(bytes);
    int last = 0;
    for (int length = 0; length < bytes.length; length++) {
      SimulatedStorage cut = storage.copy();
      replace(cut, "MANIFEST-000001", Arrays.copyOf(bytes, length));
      if (length < complete) {
        assertThrows(CorruptionException.class, () -> recover(cut), "length " + length);
        continue;
      }
      int state = states.indexOf(recover(cut));
      assertTrue(state >= last, "length " + length + " gives state " + state);
      last = state;
    }
    assertEquals(script.size(), last);
  }

  @Test
  void everyFlippedByteIsDetectedOrHarmless() throws IOException {
    List<List<VersionEdit>> script = script(3, 4);
    write(storage, script, ROLL_BYTES);
    String expected = states(script).get(script.size());
    for (String file : List.of("MANIFEST-000001", "CURRENT")) {
      byte[] bytes = read(storage, file);
      for (int i = 0; i < bytes.length; i++) {
        for (int flip : new int[] {1, 0xFF, bytes[i]}) {
          if (flip == 0 || (file.startsWith("M") && i > 100 && i < 4000 && i % 50 != 0)) {
            continue;
          }
          byte[] flipped = bytes.clone();
          flipped[i] ^= (byte) flip;
          SimulatedStorage copy = storage.copy();
          replace(copy, file, flipped);
          try {
            assertEquals(expected, recover(copy), file + " " + i);
          } catch (CorruptionException e) {
            assertEquals(file, e.file());
          } catch (FormatException e) {
            assertTrue(i < 8 || i >= 12 && i < 16, "neither magic nor version: " + file + " " + i);
          }
        }
      }
    }
  }

  @Test
  void randomBytesGiveOnlyCorruption() throws IOException {
    write(storage, script(4, 3), ROLL_BYTES);
    byte[] bytes = read(storage, "MANIFEST-000001");
    SplittableRandom random = random(4);
    for (int i = 0; i < 3_000; i++) {
      byte[] payload = Arrays.copyOfRange(bytes, 4096 + 9, bytes.length);
      for (int n = random.nextInt(20); n >= 0; n--) {
        payload[random.nextInt(payload.length)] = (byte) random.nextInt(i % 2 == 0 ? 256 : 16);
      }
      int end = random.nextInt(payload.length);
      try {
        StoreContents contents = new StoreContents();
        contents.apply(EditCodec.decode("f", payload, 0, end));
      } catch (CorruptionException | IllegalArgumentException e) {
        // What there is to expect.
      }
      byte[] file = new byte[random.nextInt(9000)];
      random.nextBytes(file);
      SimulatedStorage copy = storage.copy();
      replace(copy, i % 3 == 0 ? "CURRENT" : "MANIFEST-000001", file);
      Class<? extends IsobarException> expected =
          i % 3 == 0 ? FormatException.class : CorruptionException.class;
      assertThrows(expected, () -> recover(copy));
    }
  }

  @Test
  void aCrashAtAnyOperationLeavesTheLastAcknowledgedStateOrTheNext() throws IOException {
    List<List<VersionEdit>> script = script(5, 28);
    List<String> states = states(script);
    SplittableRandom random = random(5);
    List<SimulatedStorage> crashed = new ArrayList<>();
    List<Integer> acknowledged = new ArrayList<>();
    int[] acks = {-1};
    storage.onMutation(
        disk -> {
          for (CrashMode mode : CrashMode.values()) {
            for (int i = 0; i < (mode == CrashMode.RANDOM ? 4 : 1); i++) {
              crashed.add(disk.crash(random, mode));
              acknowledged.add(acks[0]);
            }
          }
        });
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, 100)) {
      acks[0] = 0;
      for (List<VersionEdit> edits : script) {
        manifest.append(edits);
        acks[0]++;
      }
    }
    assertTrue(
        storage.list().stream().anyMatch(name -> ManifestLayout.number(name) >= 3),
        "no roll was crashed");
    for (int i = 0; i < crashed.size(); i++) {
      SimulatedStorage disk = crashed.get(i);
      int acked = acknowledged.get(i);
      if (acked < 0 && !Manifest.exists(disk)) {
        Manifest.create(disk, pool, 5, 6, 100).close();
        continue;
      }
      String state = recover(disk);
      boolean legal =
          state.equals(states.get(Math.max(acked, 0)))
              || (acked >= 0 && acked < script.size() && state.equals(states.get(acked + 1)));
      assertTrue(legal, "crash " + i + " after " + acked + " is state " + states.indexOf(state));
      goOn(disk, script, states, states.indexOf(state));
    }
  }

  /** A store that was recovered takes the rest of the script, and has no orphans but its own. */
  private void goOn(
      SimulatedStorage disk, List<List<VersionEdit>> script, List<String> states, int from)
      throws IOException {
    int to = Math.min(from + 2, script.size());
    Recovered recovered = Manifest.open(disk, pool, 100);
    try (Manifest manifest = recovered.manifest()) {
      for (String orphan : manifest.orphans(disk.list())) {
        disk.delete(orphan);
      }
      for (int i = from; i < to; i++) {
        manifest.append(script.get(i));
      }
      assertEquals(List.of(), manifest.orphans(disk.list()));
    }
    assertEquals(states.get(to), recover(disk));
  }

  @Test
  void aFailedCallIsFinalAndWhatWasAcknowledgedStays() throws IOException {
    List<List<VersionEdit>> script = script(6, 12);
    List<String> states = states(script);
    for (Fault fault : List.of(Fault.EIO, Fault.SHORT_THEN_EIO)) {
      for (long index = 0; ; index++) {
        SimulatedStorage disk = new SimulatedStorage();
        Manifest manifest = Manifest.create(disk, pool, 5, 6, 500);
        disk.faults(FaultPlan.once(disk.operations() + index, fault));
        int acked = 0;
        boolean failed = false;
        try (manifest) {
          for (List<VersionEdit> edits : script) {
            manifest.append(edits);
            acked++;
          }
        } catch (IOException | StoreFailedException e) {
          failed = true;
          assertThrows(RuntimeException.class, () -> manifest.append(script.get(0)));
        }
        assertEquals(0, disk.openFiles());
        disk.faults(FaultPlan.NONE);
        for (CrashMode mode : CrashMode.values()) {
          int state = states.indexOf(recover(disk.crash(random(index), mode)));
          assertTrue(state == acked || state == acked + 1, fault + " " + index + ": " + state);
        }
        if (!failed && index > 300) {
          break;
        }
      }
    }
  }

  @Test
  void afterAFullDiskTheNextAppendGoesToANewFile() throws IOException {
    List<List<VersionEdit>> script = script(7, 20);
    List<String> states = states(script);
    for (Fault fault : List.of(Fault.ENOSPC, Fault.SHORT_THEN_ENOSPC)) {
      for (long skipped = 0; skipped < 45; skipped++) {
        SimulatedStorage disk = new SimulatedStorage();
        long[] writes = {skipped};
        try (Manifest manifest = Manifest.create(disk, pool, 5, 6, 500)) {
          disk.faults(
              (operation, file, i) ->
                  operation == Operation.WRITE && writes[0]-- == 0 ? fault : Fault.NONE);
          int acked = 0;
          int full = 0;
          while (acked < script.size()) {
            try {
              manifest.append(script.get(acked));
              acked++;
            } catch (DiskFullException e) {
              full++;
            }
            String state = recover(disk.crash(random(skipped), CrashMode.ONLY_SYNCED));
            assertEquals(acked, states.indexOf(state));
          }
          assertTrue(full <= 1);
        }
        assertEquals(states.get(script.size()), recover(disk));
        assertEquals(0, disk.openFiles());
      }
    }
  }

  @Test
  void aFailedSyncIsNotTriedAgain() throws IOException {
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, ROLL_BYTES)) {
      storage.faults(FaultPlan.every(Operation.SYNC, Fault.ENOSPC));
      List<VersionEdit> edits = List.of(VersionEdit.store().checkpointLsn(1).build());
      assertThrows(IOException.class, () -> manifest.append(edits));
      storage.faults(FaultPlan.NONE);
      assertThrows(StoreFailedException.class, () -> manifest.append(edits));
    }
  }

  @Test
  void aFileThatHasGrownIsReplacedAndTheOneBeforeItKept() throws IOException {
    write(storage, script(8, 200), 500);
    List<String> manifests =
        storage.list().stream().filter(name -> name.startsWith("MANIFEST")).sorted().toList();
    assertEquals(2, manifests.size(), manifests::toString);
    assertTrue(ManifestLayout.number(manifests.get(1)) > 3, manifests::toString);
  }

  @Test
  void whatTheManifestDoesNotNameIsAnOrphan() throws IOException {
    try (Manifest manifest = Manifest.create(storage, pool, 5, 6, ROLL_BYTES)) {
      manifest.append(List.of(VersionEdit.create(new TreeDefinition(1, "t", Map.of()))));
      manifest.append(
          List.of(VersionEdit.of(1).add(Place.level(0), tableOf(1, 12, "a", "b")).build()));
      List<String> names = new ArrayList<>(manifest.liveFiles());
      names.addAll(
          List.of("0000000013.sst", "MANIFEST-000077", "CURRENT.tmp", "LOCK", "0000000001.log"));
      names.addAll(List.of("notes.sst", "MANIFEST-x"));
      assertTrue(names.contains("0000000012.sst"));
      assertEquals(
          List.of("0000000013.sst", "CURRENT.tmp", "MANIFEST-000077"), manifest.orphans(names));
    }
  }

  @Test
  void aNewerFormatIsRefusedAndNothingChanged() throws IOException {
    write(storage, script(9, 3), ROLL_BYTES);
    byte[] bytes = read(storage, "MANIFEST-000001");
    ByteBuffer header = ManifestLayout.buffer(bytes);
    header.putInt(12, ManifestLayout.FORMAT_VERSION + 1);
    header.putInt(8, checksum(bytes));
    replace(storage, "MANIFEST-000001", bytes);
    long mutations = storage.mutations();
    FormatException e = assertThrows(FormatException.class, () -> recover(storage));
    assertTrue(
        e.getMessage().contains("format version " + (ManifestLayout.FORMAT_VERSION + 1)),
        e::getMessage);
    assertEquals(mutations, storage.mutations());
  }

  private static int checksum(byte[] header) {
    CRC32C crc = new CRC32C();
    crc.update(header, 0, 8);
    crc.update(header, 12, header.length - 12);
    return Integer.rotateRight((int) crc.getValue(), 15) + 0xA282EAD8;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aStoreOfAnEarlierFormatIsRefusedByItsReleaseOnceItIsSettled(int version) throws IOException {
    write(storage, script(9, 3), ROLL_BYTES);
    byte[] bytes = read(storage, "CURRENT");
    ManifestLayout.buffer(bytes).putInt(12, version);
    ManifestLayout.buffer(bytes).putInt(8, checksum(bytes));
    replace(storage, "CURRENT", bytes);
    ManifestLayout.Synced before = ManifestLayout.synced(bytes);
    try (Manifest manifest = Manifest.open(storage, pool, ROLL_BYTES).manifest()) {
      int looked = ManifestLayout.version(read(storage, "CURRENT"));
      assertEquals(version, looked, "looking changes nothing");
      manifest.settle();
    }
    bytes = read(storage, "CURRENT");
    assertEquals(ManifestLayout.FORMAT_VERSION, ManifestLayout.version(bytes));
    assertEquals(before.logLsn(), ManifestLayout.synced(bytes).logLsn());
    assertEquals(2, ManifestLayout.checkCurrent(bytes, "dir").number(), "a new file");
    recover(storage);
  }

  @Test
  void aDirectoryWithoutAStoreIsRefused() throws IOException {
    assertFalse(Manifest.exists(storage));
    assertThrows(FormatException.class, () -> recover(storage));
    write(storage, List.of(), ROLL_BYTES);
    assertThrows(FormatException.class, () -> Manifest.create(storage, pool, 1, 2, ROLL_BYTES));
    storage.delete("MANIFEST-000001");
    assertThrows(CorruptionException.class, () -> recover(storage));
  }

  @Test
  void twoThousandTreesAreOneRead() throws IOException {
    List<VersionEdit> edits = new ArrayList<>();
    for (int i = 1; i <= 2_000; i++) {
      edits.add(VersionEdit.create(new TreeDefinition(i, "tree-" + i, Map.of("order", "bytes"))));
      VersionEdit.Builder edit = VersionEdit.of(i);
      for (int j = 0; j < 4; j++) {
        edit.add(Place.level(0), tableOf(i, i * 10L + j, "key-" + j, "key-" + j + "x"));
      }
      edits.add(edit.build());
    }
    write(storage, List.of(edits), ROLL_BYTES);
    long operations = storage.operations();
    Recovered recovered = Manifest.open(storage, pool, ROLL_BYTES);
    recovered.manifest().close();
    assertEquals(2_000, recovered.trees().size());
    assertEquals(4, recovered.trees().get(77).version(KeyOrder.BYTES).tableCount());
    assertTrue(storage.operations() - operations < 40, "too many operations");
  }

  // ---- files

  private static SSTableMeta tableOf(int tree, long file, String min, String max) {
    return Tables.table(tree, file, Tables.bytes(min), Tables.bytes(max), 1 << 20, 100, 10);
  }

  private static SplittableRandom random(long seed) {
    return new SplittableRandom(seed);
  }

  private static int snapshotEnd(byte[] bytes) {
    ByteBuffer fields = ManifestLayout.buffer(bytes);
    int at = ManifestLayout.HEADER_BYTES;
    while (fields.get(at + 8) != ManifestLayout.SNAPSHOT_END) {
      at += 9 + fields.getInt(at + 4);
    }
    return at + 9;
  }

  private static byte[] read(SimulatedStorage from, String name) throws IOException {
    try (DataFile file = from.open(name, IoMode.BUFFERED)) {
      byte[] bytes = new byte[(int) file.size()];
      Memory memory = new Memory(ByteBuffer.allocateDirect(Math.max(bytes.length, 1)));
      file.read(0, memory, 0, bytes.length);
      memory.get(0, bytes, 0, bytes.length);
      return bytes;
    }
  }

  private static void replace(SimulatedStorage in, String name, byte[] bytes) throws IOException {
    Memory memory = new Memory(ByteBuffer.allocateDirect(Math.max(bytes.length, 1)));
    memory.put(0, bytes, 0, bytes.length);
    try (DataFile file = in.open(name, IoMode.BUFFERED)) {
      file.truncate(0);
      file.write(0, memory, 0, bytes.length);
      file.sync();
    }
  }
}
