package io.isobardb.bench.crash;

import io.isobardb.bench.crash.CrashScript.Violation;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Backups of a store under a random workload, which goes on while each is made: between calls that
 * change the directory of backups there are writes, flushes and merges. Each backup is restored,
 * and must be of one moment of its making, over all trees.
 *
 * <p>At some of those calls the power fails. Then all earlier backups must be whole, the one under
 * way whole or absent, and the store must hold what it has acknowledged. Mostly this is looked at
 * in copies, as in {@link CrashScript}; at times the script goes on with what is left.
 *
 * <p>All is drawn from the seed. Thread rule: one thread.
 */
final class BackupScript {
  private static final int KEPT = 3;
  private static final String ORPHANS = ".*\\.(tmp|sst)";

  private final long seed;
  private final int count;
  private final Stage stage;
  private final SplittableRandom random;
  private final Expected expected;
  private final Verifier verifier;

  /** The disk that the backups are on. */
  private SimulatedStorage disk;

  private BackupDirectory directory;

  /** What those backups hold that are kept, by their IDs. */
  private final TreeMap<Long, Held> held = new TreeMap<>();

  /** The write before the backup under way began. */
  private long from;

  private boolean busy;
  private @Nullable Crashed crashed;
  private @Nullable Throwable wrong;
  private long restored;
  private long crashes;

  /**
   * What a backup has held since it was made.
   *
   * @param all but what had expired by then
   * @param lasting of these what does not expire
   */
  private record Held(
      Map<String, ? extends Map<byte[], byte[]>> all,
      Map<String, ? extends Map<byte[], byte[]>> lasting) {}

  /** What a power failure has left of store and backups. */
  private record Crashed(Survival survival, SimulatedStorage store, SimulatedStorage backups) {}

  /**
   * @param count how many backups to make
   */
  BackupScript(long seed, int count, Coverage coverage) throws IOException {
    this.seed = seed;
    this.count = count;
    this.stage = new Stage(seed, coverage, () -> false, (world, random) -> {});
    this.random = stage.random;
    this.expected = stage.expected;
    this.verifier = stage.verifier;
    stage.open();
    this.disk = new SimulatedStorage(stage.world().clock());
    this.directory = BackupDirectory.open(disk);
  }

  /** Backups that were restored right after they were made. */
  long restored() {
    return restored;
  }

  /** Power failures after which backups and store were looked at. */
  long crashes() {
    return crashes;
  }

  /** Makes the backups, or as many as there are up to the first violation, which it returns. */
  @Nullable Violation run() {
    try {
      stage.workload.begin();
      for (int i = 0; i < count; i++) {
        operations();
        backup();
      }
      stage.close();
      stage.world().checkClosed();
      directory.close();
      return null;
    } catch (Throwable e) {
      abandon(e);
      return new Violation("--backups " + count, seed, -1, null, e);
    }
  }

  private void abandon(Throwable why) {
    try {
      stage.store().close();
    } catch (RuntimeException | Error e) {
      why.addSuppressed(e);
    }
  }

  private void operations() {
    for (int i = 4 + random.nextInt(16); i > 0; i--) {
      stage.workload.operation();
    }
    if (random.nextInt(8) == 0) {
      stage.close();
      stage.reopenWithOtherOptions();
    }
  }

  private void backup() throws IOException {
    Watchdog.mark("a backup");
    from = expected.begun();
    disk.onMutation(storage -> meanwhile());
    BackupDirectory.Entry made = Inside.of(stage.store()).backup(directory, Long.MAX_VALUE);
    disk.onMutation(storage -> {});
    if (wrong != null) {
      throw new AssertionError("while a backup was made", wrong);
    }
    Crashed left = crashed;
    if (left != null) {
      crashed = null;
      goOn(left);
      return;
    }
    if (disk.list().stream().anyMatch(name -> name.matches(ORPHANS))) {
      throw new AssertionError("left among the backups: " + disk.list());
    }
    hold(made.id(), directory);
    restored++;
    while (held.size() > KEPT) {
      long gone = random.nextBoolean() ? held.firstKey() : held.lastKey();
      directory.delete(gone);
      held.remove(gone);
    }
  }

  /** A backup is there that must be of a moment since {@link #from}. */
  private void hold(long id, BackupDirectory in) throws IOException {
    Expected.Found found = restore(in, id);
    expected.checkOneMoment(found, from, expected.begun());
    held.put(id, new Held(found.trees(), verifier.lasting(found)));
  }

  private Expected.Found restore(BackupDirectory in, long id) throws IOException {
    SimulatedStorage target = new SimulatedStorage(stage.world().clock());
    in.restore(id, target);
    target.close();
    if (random.nextInt(4) == 0) {
      Verifier.checkFiles(target.copy(), stage.options());
    }
    SimulatedWorld other = new SimulatedWorld(target, random.nextLong());
    StoreOptions others = stage.anyOptions(random);
    try (Store opened = other.open(others)) {
      return verifier.read(opened, random);
    }
  }

  /** Between two changes of the directory of backups. */
  private void meanwhile() {
    if (busy || wrong != null || crashed != null) {
      return;
    }
    busy = true;
    try {
      int dice = random.nextInt(64);
      if (dice < 24 && hasRoom()) {
        stage.workload.writeMeanwhile();
      } else if (dice < 28) {
        stage.world().background(random.nextInt(20));
      } else if (dice < 31) {
        look(crash());
      } else if (dice == 31) {
        crashed = crash();
      }
    } catch (Throwable e) {
      // Kept for later: the engine would take it for an error of the disk.
      wrong = e;
    } finally {
      busy = false;
    }
  }

  /** Whether no writer has to wait for memory that the backup may hold: it is this thread's. */
  private boolean hasRoom() {
    StoreStats stats = stage.store().stats();
    return stats.writeMemoryBytes() * 2 < stats.writeMemoryLimitBytes();
  }

  private Crashed crash() {
    Survival[] all = Survival.values();
    Survival survival = all[random.nextInt(all.length)];
    return new Crashed(
        survival, survival.crash(stage.world().storage(), random), survival.crash(disk, random));
  }

  private void look(Crashed left) throws IOException {
    crashes++;
    verifier.verify(left.survival(), left.store(), stage.options(), random);
    try (BackupDirectory after = BackupDirectory.open(left.backups())) {
      look(after);
    }
  }

  /**
   * What a crash has left of the backups.
   *
   * @return the ID of the one under way, if it is there
   */
  private @Nullable Long look(BackupDirectory after) throws IOException {
    List<Finding> findings = after.verify();
    if (!findings.isEmpty()) {
      throw new AssertionError("backups are damaged after a crash: " + findings);
    }
    List<Long> ids = after.list().stream().map(BackupDirectory.Entry::id).toList();
    long newest = held.isEmpty() ? 0 : held.lastKey();
    List<Long> fresh = ids.stream().filter(id -> !held.containsKey(id)).toList();
    if (!ids.containsAll(held.keySet())
        || fresh.size() > 1
        || fresh.stream().anyMatch(id -> id <= newest)) {
      throw new AssertionError("backups " + held.keySet() + " and one more, not " + ids);
    }
    if (!held.isEmpty()) {
      List<Long> known = List.copyOf(held.keySet());
      checkHeld(after, known.get(random.nextInt(known.size())));
    }
    if (fresh.isEmpty()) {
      return null;
    }
    expected.checkOneMoment(restore(after, fresh.get(0)), from, expected.begun());
    return fresh.get(0);
  }

  /** A backup must hold what it has held before; meanwhile some of it may have expired. */
  private void checkHeld(BackupDirectory in, long id) throws IOException {
    Held before = Objects.requireNonNull(held.get(id));
    Expected.Found found = restore(in, id);
    Map<String, ? extends Map<byte[], byte[]>> now = found.trees();
    // What had expired by a clock that was ahead is there again.
    Map<String, ? extends Map<byte[], byte[]>> known =
        stage.workload.hasLeapt() ? verifier.lasting(found) : now;
    if (!before.all().keySet().equals(now.keySet())) {
      throw new AssertionError("backup " + id + " has trees " + now.keySet());
    }
    now.forEach(
        (name, entries) -> {
          if (!contains(
                  Objects.requireNonNull(before.all().get(name)),
                  Objects.requireNonNull(known.get(name)))
              || !contains(entries, Objects.requireNonNull(before.lasting().get(name)))) {
            throw new AssertionError("backup " + id + " has changed: tree " + name);
          }
        });
  }

  private static boolean contains(Map<byte[], byte[]> all, Map<byte[], byte[]> some) {
    return some.entrySet().stream()
        .allMatch(entry -> Arrays.equals(entry.getValue(), all.get(entry.getKey())));
  }

  /** The power has failed while a backup was made; the script goes on with what is left. */
  private void goOn(Crashed left) throws IOException {
    Watchdog.mark("going on after a crash");
    crashes++;
    directory.close();
    stage.store().close();
    disk = left.backups();
    directory = BackupDirectory.open(disk);
    Long underWay = look(directory);
    if (underWay != null) {
      hold(underWay, directory);
    }
    stage.goOn(left.survival(), left.store());
    stage.workload.begin();
  }
}
