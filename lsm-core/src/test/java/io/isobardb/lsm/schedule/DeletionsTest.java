package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.isobardb.lsm.ForwardingScheduler;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.merge.VirtualWorld;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.Inside;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who deletes files, and how. */
@Tag("any-jdk")
class DeletionsTest {
  private static final int ENTRIES = 60_000;

  @TempDir Path dir;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(64 << 20).writeMemory(40 << 20).build();

  /** Tells which threads delete SSTables, and which pieces of them went before. */
  private static final class WatchedStorage extends ForwardingStorage {
    private final ConcurrentLinkedQueue<String> threads = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Long> pieces = new ConcurrentLinkedQueue<>();
    private final Storage storage;

    WatchedStorage(Storage storage) {
      super(storage);
      this.storage = storage;
    }

    @Override
    protected DataFile wrap(DataFile file, IoMode mode) {
      return file;
    }

    @Override
    public boolean link(Storage from, String name) throws IOException {
      return storage.link(from.origin(), name);
    }

    @Override
    public Storage origin() {
      return storage.origin();
    }

    @Override
    public boolean shrink(String name, long bytes) throws IOException {
      boolean shrinks = super.shrink(name, bytes);
      if (shrinks) {
        pieces.add(bytes);
      }
      return shrinks;
    }

    @Override
    public void delete(String name) throws IOException {
      super.delete(name);
      if (name.endsWith(".sst")) {
        threads.add(Thread.currentThread().getName());
      }
    }
  }

  private static Store open(Storage storage) {
    return Inside.open(
        new Environment(
            storage, Clock.SYSTEM, new ThreadScheduler("t", 2), new SplittableRandom(1)),
        OPTIONS);
  }

  private static byte[] value(int i, int round) {
    byte[] value = new byte[700];
    byte[] text = (i + " in round " + round).getBytes(UTF_8);
    System.arraycopy(text, 0, value, 0, text.length);
    return value;
  }

  /** Writes all keys, and merges them. */
  private static void write(Store store, Tree tree, int round) {
    for (int i = 0; i < ENTRIES; i++) {
      tree.put(key(i), value(i, round));
    }
    store.flush();
    tree.compact(null, null);
    store.awaitQuiet();
  }

  @Test
  void whoLetsGoLastDeletesNothingItself() throws IOException {
    WatchedStorage storage = new WatchedStorage(DirectoryStorage.open(dir, true));
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      write(store, tree, 0);
      storage.threads.clear();
      assertFalse(sstables().isEmpty());
      store.dropTree("t");
      // Files go once the drop is durable.
      store.sync();
      store.awaitQuiet();
      assertEquals(List.of(), sstables());
      List<String> threads = new ArrayList<>(storage.threads);
      assertFalse(threads.isEmpty());
      assertTrue(threads.stream().allMatch(name -> name.contains("-worker-")), threads::toString);
      assertFalse(storage.pieces.isEmpty(), "no file went in pieces");
    }
  }

  @Test
  void whatACheckpointSharesIsLeftWhole() throws IOException {
    Path copy = dir.resolve("copy");
    WatchedStorage storage = new WatchedStorage(DirectoryStorage.open(dir.resolve("store"), true));
    try (Store store = open(storage)) {
      Tree tree = store.openTree("t");
      write(store, tree, 0);
      store.checkpointTo(copy);
      assertTrue(sizes(copy) > 10 << 20, sizes(copy) + " bytes");
      storage.threads.clear();
      write(store, tree, 1);
      assertFalse(storage.threads.isEmpty());
    }
    try (Store store = Store.open(copy, OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < ENTRIES; i++) {
        assertArrayEquals(value(i, 0), tree.get(key(i)));
      }
    }
  }

  private static final long RATE = 4 << 20;

  /** Files of a world in virtual time, of which some calls have other answers. */
  private abstract static class FakeStorage extends ForwardingStorage {
    private final Storage storage;

    FakeStorage(VirtualWorld world) {
      super(world.storage);
      this.storage = world.storage;
    }

    @Override
    protected DataFile wrap(DataFile file, IoMode mode) {
      return file;
    }

    @Override
    public Storage origin() {
      return storage.origin();
    }
  }

  /** Files of a megabyte each, which go in pieces, at moments of virtual time. */
  private static final class Megabytes extends FakeStorage {
    private final Map<String, Long> left = new TreeMap<>();
    private final List<String> gone = new ArrayList<>();
    private long freedBytes;

    Megabytes(VirtualWorld world) {
      super(world);
    }

    @Override
    public boolean exists(String name) {
      return true;
    }

    @Override
    public void rename(String from, String to) {
      assertEquals(from + ".dropped", to);
    }

    @Override
    public boolean shrink(String name, long bytes) {
      long rest = left.merge(name, (1L << 20) - bytes, (before, all) -> before - bytes);
      freedBytes += rest > 0 ? bytes : 0;
      return rest > 0;
    }

    @Override
    public void delete(String name) {
      freedBytes += bytes(name);
      gone.add(name);
    }

    private long bytes(String name) {
      return RATE / 20 + left.get(name);
    }
  }

  @Test
  void aRateIsKeptAndTheNameIsFreeAtOnce() throws IOException {
    VirtualWorld world = new VirtualWorld(1, 100 << 20, 2);
    Megabytes storage = new Megabytes(world);
    boolean[] hurried = {false};
    PacedDeletions deletions =
        new PacedDeletions(
            storage,
            new Environment(storage, world.clock, world.scheduler, new SplittableRandom(1)),
            new PacedDeletions.Pace(RATE, () -> hurried[0]));
    long begun = world.clock.nanos();
    for (int i = 0; i < 8; i++) {
      deletions.delete(i + ".sst");
    }
    for (int i = 1; i <= 10; i++) {
      world.scheduler.sleepUntil(begun + i * VirtualWorld.SECOND / 10);
      double most = RATE * i / 10.0 + RATE / 20.0;
      assertTrue(storage.freedBytes <= most, storage.freedBytes + " bytes by then");
      assertTrue(storage.freedBytes >= most / 2, storage.freedBytes + " bytes only");
    }
    assertTrue(storage.gone.size() >= 3 && storage.gone.size() <= 4, storage.gone::toString);
    hurried[0] = true;
    world.scheduler.sleepUntil(begun + VirtualWorld.SECOND * 11 / 10);
    assertEquals(8, storage.gone.size(), "a full disk needs the room");
    world.scheduler.close();
  }

  @Test
  void whatComesOnceTheStoreIsClosedIsLeftForTheNextOpening() throws IOException {
    VirtualWorld world = new VirtualWorld(1, 100 << 20, 2);
    Megabytes storage = new Megabytes(world);
    ThreadScheduler closed = new ThreadScheduler("closed", 1);
    closed.close();
    PacedDeletions deletions =
        new PacedDeletions(
            storage,
            new Environment(storage, world.clock, closed, new SplittableRandom(1)),
            new PacedDeletions.Pace(RATE, () -> false));
    // A job that is cancelled gives its output up.
    deletions.delete("1.sst");
    assertEquals(List.of(), storage.gone);
    world.scheduler.close();
  }

  /** The process may have no more of them; whoever releases a file last is no one to be told. */
  @Test
  void whatHasNoThreadToGoAtAPaceGoesWithTheNextOne() throws IOException {
    VirtualWorld world = new VirtualWorld(1, 100 << 20, 2);
    Megabytes storage = new Megabytes(world);
    boolean[] exhausted = {true};
    Scheduler scheduler =
        new ForwardingScheduler(world.scheduler) {
          @Override
          public Service.Handle start(Service service) {
            if (exhausted[0]) {
              throw new OutOfMemoryError("planted: unable to create native thread");
            }
            return super.start(service);
          }
        };
    PacedDeletions deletions =
        new PacedDeletions(
            storage,
            new Environment(storage, world.clock, scheduler, new SplittableRandom(1)),
            new PacedDeletions.Pace(RATE, () -> true));
    try {
      deletions.delete("1.sst");
    } catch (OutOfMemoryError e) {
      fail("it may stay for a while", e); // JUnit would end with the error itself.
    }
    exhausted[0] = false;
    deletions.delete("2.sst");
    world.scheduler.sleepUntil(world.clock.nanos() + VirtualWorld.SECOND);
    assertEquals(2, storage.gone.size());
    world.scheduler.close();
  }

  @Test
  void aMergeInMemoryDoesNotWaitUntilALargeFileIsGone() throws IOException {
    VirtualWorld world = new VirtualWorld(1, 100 << 20, 1);
    List<String> done = new ArrayList<>();
    int[] pieces = {100};
    Storage large =
        new FakeStorage(world) {
          @Override
          public boolean shrink(String name, long bytes) {
            done.add("piece");
            return --pieces[0] > 0;
          }

          @Override
          public void delete(String name) {
            done.add("deleted");
          }
        };
    new Deletions(large, world.scheduler).delete("1.sst");
    world.scheduler.submit(
        new Job() {
          @Override
          public Priority priority() {
            return Priority.MERGE_MEMORY;
          }

          @Override
          public String name() {
            return "memory merge";
          }

          @Override
          public boolean step() {
            done.add("merged");
            return false;
          }

          @Override
          public void onFailed(Throwable cause) {}
        });
    world.scheduler.sleepUntil(world.clock.nanos() + VirtualWorld.SECOND);
    assertTrue(done.indexOf("merged") <= 2, () -> "merged after " + done.indexOf("merged"));
    assertEquals("deleted", done.get(done.size() - 1));
    assertEquals(102, done.size());
    world.scheduler.close();
  }

  /** Files that can't be renamed, or not be deleted for a while. */
  private static final class Stubborn extends FakeStorage {
    private final Set<String> there = new TreeSet<>();
    private final Set<String> held = new TreeSet<>();
    private boolean renames = true;

    Stubborn(VirtualWorld world, String... names) {
      super(world);
      there.addAll(List.of(names));
    }

    @Override
    public boolean exists(String name) {
      return there.contains(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      if (!renames) {
        throw new IOException("cannot rename " + from);
      }
      there.remove(from);
      there.add(to);
    }

    @Override
    public boolean shrink(String name, long bytes) {
      return false;
    }

    @Override
    public void delete(String name) throws IOException {
      if (held.contains(name)) {
        throw new IOException("cannot delete " + name);
      }
      there.remove(name);
    }
  }

  private static PacedDeletions paced(VirtualWorld world, Storage storage) {
    return new PacedDeletions(
        storage,
        new Environment(storage, world.clock, world.scheduler, new SplittableRandom(1)),
        new PacedDeletions.Pace(RATE, () -> true));
  }

  @Test
  void whatCannotBeRenamedGoesAtOnce() throws IOException {
    VirtualWorld world = new VirtualWorld(1, 100 << 20, 2);
    Stubborn storage = new Stubborn(world, "1.sst", "2.sst", "3.log");
    storage.renames = false;
    storage.held.add("2.sst");
    storage.held.add("3.log");
    PacedDeletions deletions = paced(world, storage);
    deletions.delete("1.sst");
    assertEquals(Set.of("2.sst", "3.log"), storage.there);
    deletions.delete("2.sst");
    storage.held.remove("2.sst");
    world.scheduler.sleepUntil(world.clock.nanos() + VirtualWorld.SECOND);
    assertEquals(Set.of("3.log"), storage.there);
    // The log may use its name again.
    assertThrows(IOException.class, () -> deletions.delete("3.log"));
    storage.held.clear();
    world.scheduler.sleepUntil(world.clock.nanos() + VirtualWorld.SECOND);
    assertEquals(Set.of("3.log"), storage.there);
    world.scheduler.close();
  }

  @Test
  void whatCannotBeDeletedIsTriedAgainAfterAnother() throws IOException {
    VirtualWorld world = new VirtualWorld(1, 100 << 20, 2);
    Stubborn storage = new Stubborn(world, "1.sst", "2.sst", "3.sst");
    storage.held.addAll(List.of("1.sst.dropped", "2.sst.dropped"));
    PacedDeletions deletions = paced(world, storage);
    for (int i = 1; i <= 3; i++) {
      deletions.delete(i + ".sst");
    }
    world.scheduler.sleepUntil(world.clock.nanos() + VirtualWorld.SECOND);
    assertEquals(storage.held, storage.there);
    storage.held.clear();
    storage.there.add("4.sst");
    deletions.delete("4.sst");
    world.scheduler.sleepUntil(world.clock.nanos() + VirtualWorld.SECOND);
    assertEquals(Set.of(), storage.there);
    world.scheduler.close();
  }

  @Test
  void aCloseWaitsForNoPaceAndTheNextOpeningDeletesWhatIsLeft() throws IOException {
    StoreOptions paced = OPTIONS.toBuilder().deleteRate(1 << 20).build();
    try (Store store = Store.open(dir, paced)) {
      write(store, store.openTree("t"), 0);
      store.dropTree("t");
      store.sync();
      store.awaitQuiet();
      assertEquals(List.of(), sstables());
    }
    // About 40 MB, of which a second takes one.
    assertFalse(files(".dropped").isEmpty(), "all is gone");
    try (Store store = Store.open(dir, OPTIONS)) {
      store.awaitQuiet();
      assertEquals(List.of(), files(".dropped"));
    }
  }

  private List<String> sstables() throws IOException {
    return files(".sst");
  }

  private List<String> files(String end) throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return new ArrayList<>(
          files.map(file -> file.getFileName().toString()).filter(n -> n.endsWith(end)).toList());
    }
  }

  private static long sizes(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      long sum = 0;
      for (Path file : files.filter(f -> f.toString().endsWith(".sst")).toList()) {
        sum += Files.size(file);
      }
      return sum;
    }
  }
}
