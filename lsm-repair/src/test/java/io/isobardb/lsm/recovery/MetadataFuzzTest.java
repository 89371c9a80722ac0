package io.isobardb.lsm.recovery;

import static io.isobardb.lsm.recovery.HandmadeStore.LOGGED;
import static io.isobardb.lsm.recovery.HandmadeStore.UNLOGGED;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Manifests and backups, with right checksums, that say of SSTables what nobody ever wrote. */
class MetadataFuzzTest {
  /** A change: which SSTable, which field of {@link CraftedMetadataTest#with}, eight bytes. */
  private static final int CHANGE = 10;

  /** A store with SSTables in two trees, and a backup of them. */
  private record Whole(
      SimulatedStorage disk,
      Map<Integer, List<VersionEdit.Added>> tables,
      SimulatedStorage backups,
      String backup) {
    private static final Whole STORE = make();

    private static Whole make() {
      try {
        HandmadeStore store = new HandmadeStore();
        for (int tree : new int[] {LOGGED, UNLOGGED}) {
          store.add(tree, Place.group(1), "a@4800", "b@4808", "c@4816");
          store.add(tree, Place.level(0), "a@4000", "b@4008", "d@4016");
        }
        Map<Integer, List<VersionEdit.Added>> tables = new TreeMap<>();
        UUID id;
        List<VersionEdit> edits = new ArrayList<>();
        try (OfflineStore inspector = store.inspect()) {
          id = inspector.recovered().manifest().storeId();
          for (Recovered.Tree tree : inspector.recovered().trees()) {
            tables.put(tree.definition().id(), tree.tables());
            VersionEdit.Builder edit =
                VersionEdit.of(tree.definition().id())
                    .create(tree.definition())
                    .levels(tree.levels());
            tree.tables().forEach(added -> edit.add(added.place(), added.meta()));
            edits.add(edit.build());
          }
        }
        SimulatedStorage backups = new SimulatedStorage();
        BackupDirectory.open(backups).close();
        List<BackupFile.Table> kept = new ArrayList<>();
        for (List<VersionEdit.Added> ofTree : tables.values()) {
          for (VersionEdit.Added added : ofTree) {
            byte[] bytes = store.read(added.meta().fileName());
            String hash = BackupFile.text(digest(bytes));
            BackupFile.Table table =
                new BackupFile.Table(added.meta().fileNumber(), bytes.length, hash);
            HandmadeStore.write(backups, table.fileName(), bytes);
            kept.add(table);
          }
        }
        BackupFile.Source source = new BackupFile.Source(id, 4096, "/store", 4824, 1);
        String backup = new String(new BackupFile(1, source, 0, edits, kept).encode(), UTF_8);
        return new Whole(store.disk(), tables, backups, backup);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static MessageDigest digest(byte[] bytes) {
      MessageDigest digest = BackupFile.digest();
      digest.update(bytes);
      return digest;
    }
  }

  /** Fields of the descriptions that the manifest has. */
  @FuzzTest(maxDuration = "10m")
  void tables(byte[] changes) throws IOException {
    Watched.input("tables", changes, () -> tablesOf(changes));
  }

  private void tablesOf(byte[] changes) throws IOException {
    HandmadeStore store = new HandmadeStore(Whole.STORE.disk.copy());
    ByteBuffer in = ByteBuffer.wrap(changes);
    try {
      while (in.remaining() >= CHANGE) {
        int which = in.get();
        int tree = (which & 1) == 0 ? LOGGED : UNLOGGED;
        List<VersionEdit.Added> tables = Whole.STORE.tables.get(tree);
        VersionEdit.Added added = tables.get((which >>> 1 & 1) % tables.size());
        int field = (in.get() & 0xFF) % 15;
        long value = in.getLong() & Long.MAX_VALUE;
        store.edit(
            VersionEdit.of(tree)
                .remove(added.meta().fileNumber())
                .add(added.place(), CraftedMetadataTest.with(added.meta(), field, value)));
      }
    } catch (IllegalArgumentException | IsobarException e) {
      // The manifest itself refuses it.
    }
    look(store);
  }

  /** The text of a backup: each change of three bytes puts one at a place. */
  @FuzzTest(maxDuration = "10m")
  void backup(byte[] changes) throws IOException {
    Watched.input("backup", changes, () -> backupOf(changes));
  }

  private void backupOf(byte[] changes) throws IOException {
    String whole = Whole.STORE.backup;
    byte[] text = whole.substring(0, whole.lastIndexOf("end ")).getBytes(ISO_8859_1);
    for (int at = 0; at + 2 < changes.length; at += 3) {
      int place = (changes[at] & 0xFF) << 8 | changes[at + 1] & 0xFF;
      text[place % text.length] = changes[at + 2];
    }
    SimulatedStorage backups = Whole.STORE.backups.copy();
    String changed = new String(text, UTF_8);
    String hash = BackupFile.text(Whole.digest(changed.getBytes(UTF_8)));
    HandmadeStore.write(
        backups, BackupFile.fileName(1), (changed + "end " + hash + "\n").getBytes(UTF_8));
    SimulatedStorage target = new SimulatedStorage();
    try (BackupDirectory directory = BackupDirectory.open(backups)) {
      boolean sound = directory.verify().isEmpty();
      try {
        directory.restore(1, target);
      } catch (IsobarException | IOException e) {
        assertEquals(false, sound, () -> "verified, and then: " + e);
        return;
      }
    }
    look(new HandmadeStore(target));
  }

  /** Checks a store, opens it and reads all. */
  private static void look(HandmadeStore store) throws IOException {
    try {
      store.check(HandmadeStore.ORDERS, CheckProgress.NONE);
    } catch (IsobarException e) {
      // Told of.
    }
    try (Store opened = store.open()) {
      for (String name : opened.treeNames()) {
        try (Cursor cursor = opened.tree(name).cursor()) {
          for (boolean on = cursor.first(); on; on = cursor.next()) {
            cursor.value();
          }
        }
      }
    } catch (IsobarException e) {
      // Told of.
    }
    store.assertAllGivenBack();
  }
}
