package io.isobardb.lsm.backup;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.contents;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backup;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.api.BackupMXBean;
import io.isobardb.lsm.damage.DamagedStore;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.GuardedFiles;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.management.JMX;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class BackupsTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).logLimit(16 << 20).build();

  private static final long RATE = 100 << 10;

  @TempDir Path directory;

  private Path path(String name) {
    return directory.resolve(name);
  }

  private static void fill(Tree tree, int from, int to, String value) {
    for (int i = from; i < to; i++) {
      tree.put(SimulatedStores.key(i), bytes(value + i));
    }
  }

  @Test
  void anotherBackupCopiesWhatIsNewAndEachIsRestored() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      Tree tree = store.openTree("t");
      Tree unlogged = store.openTree("u", TreeOptions.builder().logged(false).build());
      fill(tree, 0, 30_000, "first");
      store.flush();
      store.awaitQuiet();
      fill(unlogged, 0, 100, "unlogged");
      Backup first = backups.create(store);
      assertEquals(first.sizeBytes(), first.copiedBytes());
      final Map<String, String> firstContents = contents(tree);
      fill(tree, 0, 10, "second");
      Backup second = backups.create(store);
      assertEquals(List.of(first, second), backups.list());
      assertTrue(second.copiedBytes() * 10 < second.sizeBytes(), second::toString);
      assertEquals(List.of(), backups.verify());
      backups.restore(first.id(), path("one"));
      backups.restore(second.id(), path("two"));
      CheckpointToTest.check(path("one"));
      CheckpointToTest.check(path("two"));
      try (Store one = Store.open(path("one"), OPTIONS);
          Store two = Store.open(path("two"), OPTIONS)) {
        assertEquals(firstContents, contents(one.tree("t")));
        assertEquals(contents(tree), contents(two.tree("t")));
        assertEquals(contents(unlogged), contents(one.tree("u")));
      }
      backups.delete(first.id());
      assertEquals(List.of(second), backups.list());
      assertEquals(List.of(), backups.verify());
      backups.restore(second.id(), path("three"));
      assertThrows(IllegalArgumentException.class, () -> backups.restore(1, path("four")));
      assertFalse(Files.exists(path("four")));
      Backup third = backups.create(store);
      assertEquals(3, third.id());
      assertEquals(1, backups.keep(1));
      assertEquals(List.of(third), backups.list());
    }
  }

  @Test
  void whatIsInMemoryIsCopiedByEachBackupUnlessItIsFlushedBefore() {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      Tree tree = store.openTree("t");
      fill(tree, 0, 5_000, "value");
      backups.create(store);
      fill(tree, 0, 1, "second");
      Backup second = backups.create(store);
      assertEquals(second.sizeBytes(), second.copiedBytes());
      store.flush();
      backups.create(store);
      fill(tree, 0, 1, "fourth");
      store.flush();
      Backup fourth = backups.create(store);
      assertTrue(fourth.copiedBytes() * 5 < fourth.sizeBytes(), fourth::toString);
    }
  }

  /** They have one ID and use the same numbers for files and LSNs that then differ. */
  @Test
  void storesOfOneBackupThatAreChangedApartDontHarmEachOther() throws Exception {
    try (Backups backups = Backups.open(path("backups"))) {
      try (Store store = Store.open(path("store"), OPTIONS)) {
        fill(store.openTree("t"), 0, 1000, "common");
        backups.create(store);
      }
      List<Backup> made = new ArrayList<>();
      for (String twin : List.of("left", "rght")) {
        backups.restore(1, path(twin));
        try (Store store = Store.open(path(twin), OPTIONS)) {
          fill(store.tree("t"), 0, 1000, twin);
          store.flush();
          made.add(backups.create(store));
        }
      }
      assertEquals(List.of(), backups.verify());
      for (int i = 0; i < 2; i++) {
        Path target = path("again" + i);
        backups.restore(made.get(i).id(), target);
        CheckpointToTest.check(target);
        try (Store store = Store.open(target, OPTIONS);
            Store origin = Store.open(path(i == 0 ? "left" : "rght"), OPTIONS)) {
          assertEquals(contents(origin.tree("t")), contents(store.tree("t")));
          assertEquals(0, backups.create(origin).copiedBytes(), "the twin's backup came after it");
        }
      }
    }
  }

  @Test
  void damageIsFoundAndNotRestored() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      fill(store.openTree("t"), 0, 1000, "value");
      backups.create(store);
      fill(store.tree("t"), 0, 1000, "newer");
      Backup second = backups.create(store);
      Path table;
      try (Stream<Path> files = Files.list(path("backups"))) {
        table = files.filter(file -> file.toString().endsWith(".table")).sorted().toList().get(0);
      }
      byte[] whole = Files.readAllBytes(table);
      byte[] damaged = whole.clone();
      damaged[damaged.length / 2] ^= 1;
      Files.write(table, damaged);
      assertEquals(1, backups.verify().size());
      int refused = 0;
      for (int id = 1; id <= 2; id++) {
        try {
          backups.restore(id, path("target" + id));
        } catch (CorruptionException e) {
          refused++;
          assertEquals(path("backups").toString(), e.directory());
          assertFalse(Files.exists(path("target" + id)));
        }
      }
      assertTrue(refused > 0);
      Files.write(table, whole);
      assertEquals(List.of(), backups.verify());
      // While a backup can't be read, nothing that it may need is deleted.
      Path first = path("backups").resolve("backup-000001");
      byte[] description = Files.readAllBytes(first);
      Files.writeString(first, "damaged");
      assertEquals(1, backups.verify().size());
      assertEquals(List.of(second), backups.list());
      CorruptionException unreadable =
          assertThrows(CorruptionException.class, () -> backups.restore(1, path("none")));
      assertEquals(path("backups").toString(), unreadable.directory());
      backups.delete(second.id());
      Files.write(first, description);
      assertEquals(List.of(), backups.verify());
    }
  }

  /** Else the next ones, and {@code keep}, would leave no backup from before the damage. */
  @Test
  void noBackupIsMadeOfAStoreThatIsDamaged() throws Exception {
    try (Backups backups = Backups.open(path("backups"))) {
      try (Store store = Store.open(path("store"), OPTIONS)) {
        fill(store.openTree("t"), 0, 10_000, "value");
        store.flush();
        store.awaitQuiet();
      }
      Path table;
      try (Stream<Path> files = Files.list(path("store"))) {
        table = files.filter(file -> file.toString().endsWith(".sst")).sorted().toList().get(0);
      }
      byte[] whole = Files.readAllBytes(table);
      byte[] flipped = whole.clone();
      flipped[flipped.length / 2] ^= 1;
      byte[] cut = Arrays.copyOf(whole, whole.length - 4096);
      // Copied for the first time, and then once it was copied before.
      for (int earlier = 0; earlier < 2; earlier++) {
        for (byte[] damaged : List.of(flipped, cut)) {
          Files.write(table, damaged);
          try (Store store = Store.open(path("store"), OPTIONS)) {
            CorruptionException e =
                assertThrows(CorruptionException.class, () -> backups.create(store));
            assertEquals(path("store").toString(), e.directory());
            assertEquals(table.getFileName().toString(), e.file());
            assertEquals("t", e.tree());
            assertNull(store.failure());
          }
          assertEquals(earlier, backups.list().size());
          assertEquals(List.of(), backups.verify());
        }
        Files.write(table, whole);
        try (Store store = Store.open(path("store"), OPTIONS)) {
          backups.create(store);
        }
      }
      assertEquals(2, backups.list().size());
      assertEquals(List.of(), backups.verify());
    }
  }

  @Test
  void anSSTableThatABackupHasLostIsStoredAgainByTheNext() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      fill(store.openTree("t"), 0, 10_000, "value");
      store.flush();
      store.awaitQuiet();
      backups.create(store);
      Path table;
      try (Stream<Path> files = Files.list(path("backups"))) {
        table = files.filter(file -> file.toString().endsWith(".table")).findFirst().orElseThrow();
      }
      byte[] whole = Files.readAllBytes(table);
      Files.write(table, Arrays.copyOf(whole, 4096));
      assertEquals(1, backups.verify().size());
      backups.create(store);
      assertEquals(List.of(), backups.verify());
      // As an operator does whom verify has told of other damage.
      Files.delete(table);
      assertEquals(1, backups.verify().size());
      backups.create(store);
      assertEquals(List.of(), backups.verify());
      assertArrayEquals(whole, Files.readAllBytes(table));
      backups.restore(1, path("restored"));
    }
  }

  @Test
  void aBackupThatCanNotBeReadTakesNoOtherOnesPlace() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      for (int i = 0; i < 4; i++) {
        fill(store.openTree("t"), 0, 10, "value" + i);
        backups.create(store);
      }
      Files.writeString(path("backups").resolve("backup-000001"), "damaged");
      Files.writeString(path("backups").resolve("backup-000004"), "damaged");
      assertEquals(0, backups.keep(3));
      assertEquals(2, backups.keep(1));
      assertEquals(List.of(3L), backups.list().stream().map(Backup::id).toList());
      assertEquals(1, backups.verify().size());
      backups.delete(4);
      assertEquals(List.of(), backups.verify());
      backups.restore(3, path("restored"));
    }
  }

  @Test
  void oneChangesADirectoryWhileOthersReadIt() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups first = Backups.open(path("backups"));
        Backups second = Backups.open(path("backups"))) {
      fill(store.openTree("t"), 0, 1000, "value");
      long id = first.create(store).id();
      try (DirectoryStorage changing = DirectoryStorage.open(path("backups"), false)) {
        changing.lock();
        assertThrows(StoreLockedException.class, () -> second.create(store));
        assertThrows(StoreLockedException.class, () -> second.keep(1));
        assertThrows(StoreLockedException.class, () -> second.delete(id));
        assertEquals(first.list(), second.list());
        assertEquals(List.of(), second.verify());
        second.restore(id, path("restored"));
      }
      assertEquals(id + 1, second.create(store).id());
      first.delete(id);
      assertEquals(1, second.list().size());
    }
  }

  /** A reader finds that a backup is gone, wherever it stands when another process deletes it. */
  @Test
  void aBackupThatIsDeletedWhileItIsReadIsNoDamage() throws Exception {
    for (boolean restored : new boolean[] {true, false}) {
      SimulatedClock clock = new SimulatedClock();
      SimulatedStorage place = new SimulatedStorage(clock);
      try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
        fill(store.openTree("t"), 0, 1000, "value");
        try (Backups backups = Inside.backups(place, Long.MAX_VALUE)) {
          backups.create(store);
        }
      }
      BackupDirectory other = BackupDirectory.open(place);
      BackupDirectory reading = BackupDirectory.open(deletingAtATable(place, other));
      if (restored) {
        SimulatedStorage target = new SimulatedStorage(clock);
        assertThrows(IllegalArgumentException.class, () -> reading.restore(1, target));
        assertEquals(List.of(), target.list());
      } else {
        assertEquals(List.of(), reading.verify());
      }
      assertEquals(List.of(), reading.list());
      reading.close();
      other.close();
    }
  }

  /** A directory whose first backup goes just before an SSTable is read. */
  private static Storage deletingAtATable(Storage place, BackupDirectory other) {
    return new ForwardingStorage(place) {
      @Override
      protected DataFile wrap(DataFile file, IoMode mode) {
        return file;
      }

      @Override
      public DataFile open(String name, IoMode mode) throws IOException {
        if (name.endsWith(".table") && place.exists("backup-000001")) {
          other.delete(1);
        }
        return super.open(name, mode);
      }
    };
  }

  @Test
  void backupsThatCanOnlyBeReadAreListedVerifiedAndRestored() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      fill(store.openTree("t"), 0, 1000, "value");
      backups.create(store);
    }
    Path place = path("backups").toRealPath();
    Path mounted =
        GuardedFiles.guard(
            place,
            (access, path) -> {
              if (access.compareTo(GuardedFiles.Access.WRITE) >= 0 && path.startsWith(place)) {
                throw new FileSystemException(path.toString(), null, "Read-only file system");
              }
            });
    for (boolean lock : new boolean[] {true, false}) {
      if (!lock) {
        Files.delete(place.resolve("LOCK"));
      }
      try (Backups first = Backups.open(mounted);
          Backups second = Backups.open(mounted)) {
        assertEquals(1, first.list().size());
        assertEquals(List.of(), second.verify());
        Path target = path("restored" + lock);
        first.restore(1, target);
        try (Store restored = Store.open(target, OPTIONS)) {
          assertEquals(1000, contents(restored.tree("t")).size());
        }
        UncheckedIOException e = assertThrows(UncheckedIOException.class, () -> first.delete(1));
        assertTrue(e.getMessage().contains("read-only file system"), e.getMessage());
        assertEquals(1, first.list().size());
      }
    }
  }

  /** Makes a backup one of another release, which would be the same but for its first line. */
  private static void changeHeader(Path file, String header) throws Exception {
    String text = Files.readString(file);
    String lines = header + text.substring(text.indexOf('\n'), text.lastIndexOf("end "));
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(lines.getBytes(UTF_8));
    Files.writeString(file, lines + "end " + HexFormat.of().formatHex(hash) + "\n");
  }

  @Test
  void aBackupOfAnEarlierReleaseIsRestoredAndOneOfALaterReleaseIsRefused() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS);
        Backups backups = Backups.open(path("backups"))) {
      fill(store.openTree("t"), 0, 10, "value");
      backups.create(store);
    }
    Path file = path("backups").resolve("backup-000001");
    assertTrue(Files.readString(file).startsWith("isobar backup 2\n"));
    changeHeader(file, "isobar backup 1");
    try (Backups backups = Backups.open(path("backups"))) {
      backups.restore(1, path("restored"));
    }
    try (Store store = Store.open(path("restored"), OPTIONS)) {
      assertEquals("value9", new String(store.tree("t").get(SimulatedStores.key(9)), UTF_8));
    }
    changeHeader(file, "isobar backup 3");
    try (Backups backups = Backups.open(path("backups"))) {
      assertThrows(FormatException.class, () -> backups.restore(1, path("refused")));
    }
  }

  @Test
  void aDirectoryHasNothingElseInIt() throws Exception {
    try (Store store = Store.open(path("store"), OPTIONS)) {
      store.openTree("t");
    }
    assertThrows(FormatException.class, () -> Backups.open(path("store")));
    assertThrows(IllegalArgumentException.class, () -> Backups.open(path("backups"), 0));
  }

  @Test
  void theRateIsLimited() throws Exception {
    SimulatedClock clock = new SimulatedClock();
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
      fill(store.openTree("t"), 0, 20_000, "value");
      store.flush();
      store.awaitQuiet();
      long begun = clock.nanos();
      try (Backups backups = Inside.backups(new SimulatedStorage(clock), RATE)) {
        assertLimited(backups.create(store), clock.nanos() - begun);
      }
    }
  }

  @Test
  void theRateOfABackupByJmxIsLimited() throws Exception {
    SimulatedClock clock = new SimulatedClock();
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
      fill(store.openTree("t"), 0, 20_000, "value");
      store.flush();
      store.awaitQuiet();
      BackupMXBean bean =
          JMX.newMXBeanProxy(
              ManagementFactory.getPlatformMBeanServer(),
              store.registerMXBean(),
              BackupMXBean.class);
      String place = path("backups").toAbsolutePath().toString();
      long begun = clock.nanos();
      long free = bean.backup(place);
      final long freeNanos = clock.nanos() - begun;
      begun = clock.nanos();
      final long limited = bean.backup(place, RATE);
      final long nanos = clock.nanos() - begun;
      try (Backups backups = Backups.open(path("backups"))) {
        List<Backup> list = backups.list();
        assertEquals(List.of(free, limited), list.stream().map(Backup::id).toList());
        assertLimited(list.get(1), nanos);
      }
      assertTrue(freeNanos * 10 < nanos, freeNanos + " ns without a limit");
    }
  }

  /** The store has been read at {@link #RATE}, by its own clock. */
  private static void assertLimited(Backup made, long nanos) {
    double due = (double) made.sizeBytes() / RATE * 1e9;
    assertTrue(nanos >= due && nanos < 1.1 * due, nanos + " ns, not " + due + ": " + made);
  }

  /** The disk of the backups as it may be after a failure before any of its changes. */
  @Test
  void aFailureAtAnyCallLeavesEarlierBackupsWhole() throws Exception {
    SplittableRandom random = new SplittableRandom(11);
    SimulatedStorage disk = new SimulatedStorage();
    SimulatedClock clock = new SimulatedClock();
    List<SimulatedStorage> crashed = new ArrayList<>();
    Map<Long, Map<String, String>> expected = new HashMap<>();
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1);
        Backups backups = Inside.backups(disk, Long.MAX_VALUE)) {
      Tree tree = store.openTree("t");
      disk.onMutation(
          before -> crashed.add(before.crash(random, CrashMode.values()[random.nextInt(4)])));
      for (long round = 1; round <= 4; round++) {
        fill(tree, 0, (int) round * 300, "round" + round + "-");
        if (round % 2 == 0) {
          store.flush();
        }
        expected.put(round, contents(tree));
        int from = crashed.size();
        Backup made = backups.create(store);
        assertEquals(round, made.id());
        for (SimulatedStorage image : crashed.subList(from, crashed.size())) {
          check(image, round - 1, round, expected);
        }
        crashed.clear();
      }
      backups.delete(2);
      for (SimulatedStorage image : crashed) {
        try (BackupDirectory after = BackupDirectory.open(image)) {
          assertEquals(List.of(), after.verify());
          List<Long> ids = after.list().stream().map(BackupDirectory.Entry::id).toList();
          assertTrue(ids.containsAll(List.of(1L, 3L, 4L)), ids::toString);
        }
      }
    }
  }

  private static void check(
      SimulatedStorage image, long least, long most, Map<Long, Map<String, String>> expected)
      throws IOException {
    SimulatedClock clock = new SimulatedClock();
    try (Backups backups = Inside.backups(image, Long.MAX_VALUE)) {
      assertEquals(List.of(), backups.verify());
      List<Backup> list = backups.list();
      assertTrue(list.size() == least || list.size() == most, list::toString);
      try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1)) {
        fill(store.openTree("t"), 0, 10, "after");
        assertEquals(list.size() + 1, backups.create(store).id());
      }
      assertEquals(List.of(), backups.verify());
    }
    assertNothingIsLeftOver(image);
    try (BackupDirectory directory = BackupDirectory.open(image)) {
      for (BackupDirectory.Entry entry : directory.list()) {
        if (expected.containsKey(entry.id()) && entry.id() <= least) {
          SimulatedStorage target = new SimulatedStorage(clock);
          directory.restore(entry.id(), target);
          target.close();
          try (Store store = SimulatedStores.open(target, clock, 2)) {
            assertEquals(expected.get(entry.id()), contents(store.tree("t")));
          }
        }
      }
    }
  }

  /** Each file belongs to a backup. */
  private static void assertNothingIsLeftOver(SimulatedStorage place) throws IOException {
    Set<String> expected = new TreeSet<>(Set.of("BACKUPS", "SWEPT"));
    for (String name : place.list()) {
      if (name.startsWith("backup-")) {
        expected.add(name);
        for (String line : new String(DamagedStore.read(place, name), UTF_8).split("\n")) {
          if (line.startsWith("table ")) {
            expected.add(line.split(" ")[3] + ".table");
          }
        }
      }
    }
    assertEquals(expected, new TreeSet<>(place.list()));
  }

  /** Whatever made it go: an older release, a user, or a disk that lost it. */
  @Test
  void aFileThatCameOrWentMakesTheNextBackupLookForWhatIsLeft() throws Exception {
    SimulatedClock clock = new SimulatedClock();
    SimulatedStorage place = new SimulatedStorage(clock);
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1);
        Backups backups = Inside.backups(place, Long.MAX_VALUE)) {
      Tree tree = store.openTree("t");
      for (String value : List.of("one", "two", "three", "four")) {
        fill(tree, 0, 100, value);
        backups.create(store);
        assertNothingIsLeftOver(place);
      }
      place.delete("backup-000002");
      backups.create(store);
      assertNothingIsLeftOver(place);
      place.delete("SWEPT");
      assertEquals(0, backups.keep(9));
      assertNothingIsLeftOver(place);
      place.create("1.sst", IoMode.BUFFERED).close();
      backups.create(store);
      assertNothingIsLeftOver(place);
      backups.delete(6);
      assertEquals(2, backups.keep(2));
      assertNothingIsLeftOver(place);
      assertEquals(List.of(), backups.verify());
    }
  }

  @Test
  void aFullDiskLeavesEarlierBackupsWholeAndTheStoreUnharmed() throws Exception {
    SimulatedStorage disk = new SimulatedStorage();
    SimulatedClock clock = new SimulatedClock();
    try (Store store = SimulatedStores.open(new SimulatedStorage(clock), clock, 1);
        Backups backups = Inside.backups(disk, Long.MAX_VALUE)) {
      Tree tree = store.openTree("t");
      fill(tree, 0, 1000, "value");
      Backup first = backups.create(store);
      fill(tree, 0, 5000, "other");
      long used = disk.usedBytes();
      for (int room = 0; room < 16; room += 2) {
        disk.capacityBytes(used + room * 4096L);
        assertThrows(DiskFullException.class, () -> backups.create(store));
        assertEquals(List.of(first), backups.list());
        assertEquals(List.of(), backups.verify());
        assertTrue(disk.usedBytes() <= used, "what was not finished is deleted");
      }
      disk.capacityBytes(Long.MAX_VALUE);
      tree.put(bytes("later"), bytes("1"));
      assertEquals(2, backups.create(store).id());
      assertEquals(List.of(), backups.verify());
    }
  }
}
