package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.model.CombinedModel.Found;
import io.isobardb.lsm.model.CombinedModel.Known;
import io.isobardb.lsm.model.CombinedState.ModelSnapshot;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.Watchdog;
import io.isobardb.memory.stats.Ledger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A history in which many features meet: trees that change their runs, space, compression and time
 * to live while they are written, compacted, copied and backed up; with crashes at any call, in the
 * middle of each of these, and restarts with other options.
 *
 * <p>A line is {@code KIND N B}, as of a {@link HistoryScript}.
 */
final class CombinedHistory {
  private static final int NUMBERS = 1_000_000;
  private static final long LENT_BYTES = 1 << 20;

  /** What is done; shares of the sum of all. */
  enum Kind {
    WRITE(140),
    BATCH(50),
    BURST(70),
    RANGE(40),
    PILE(25),
    READ(60),
    READS(15),
    CURSOR(30),
    MOVE(110),
    SNAPSHOT(25),
    END(25),
    TRANSACTION(40),
    SHAPE(50),
    ADAPT(20),
    WISH(20),
    SETTLE(20),
    COMPACT(25),
    FLUSH(20),
    QUIET(8),
    SYNC(10),
    CHECKPOINT(12),
    BULK(15),
    CREATE(15),
    DROP(10),
    RENAME(8),
    BUDGET(8),
    BACKUP(8),
    COPY(5),
    RESTORE(3),
    REOPEN(10),
    CRASH(8),
    FAULT(12),
    CHECK(15),
    TIME(15);

    final int share;

    Kind(int share) {
      this.share = share;
    }
  }

  static List<String> random(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    int sum = Arrays.stream(Kind.values()).mapToInt(kind -> kind.share).sum();
    List<String> lines = new ArrayList<>(List.of("store " + seed));
    while (lines.size() <= count) {
      int dice = random.nextInt(sum);
      for (Kind kind : Kind.values()) {
        dice -= kind.share;
        if (dice < 0) {
          int background = random.nextInt(3) == 0 ? 0 : random.nextInt(random.nextInt(8) + 1);
          lines.add(
              kind.name().toLowerCase(Locale.ROOT)
                  + " "
                  + random.nextInt(NUMBERS)
                  + " "
                  + background);
          break;
        }
      }
    }
    return lines;
  }

  private final List<String> lines;
  private final CombinedState state;
  private final CombinedModel model;
  private final CombinedShapes shapes;
  private final CombinedReads reads;
  private final CombinedWrites writes;
  private final CombinedEndings endings;
  private final SimulatedStorage backupDisk;
  private final BackupDirectory backups;
  private final TreeMap<Long, Map<String, TreeMap<byte[], byte[]>>> held = new TreeMap<>();
  private int step;

  CombinedHistory(List<String> lines) throws IOException {
    this.lines = lines;
    long seed = HistoryScript.store(lines);
    state = new CombinedState(seed);
    model = state.model;
    shapes = new CombinedShapes(state);
    reads = new CombinedReads(state);
    writes = new CombinedWrites(state);
    endings = new CombinedEndings(state, shapes, reads, seed);
    state.options = state.someOptions().toBuilder().pageSize(state.pageSize).build();
    backupDisk = new SimulatedStorage(state.world.clock());
    backups = BackupDirectory.open(backupDisk);
    state.store = state.world.open(state.options);
    state.isOpen = true;
    endings.hook();
  }

  /** Crashes that were looked at. */
  long states() {
    return endings.states();
  }

  long merges() {
    return endings.merges();
  }

  void run() {
    try {
      state.tick();
      shapes.createTree();
      shapes.createTree();
      for (int i = 0; state.many && i < 198; i++) {
        shapes.createTree();
      }
      for (step = 1; step < lines.size(); step++) {
        String[] words = lines.get(step).split(" ");
        Watchdog.mark(lines.get(step));
        state.random = new SplittableRandom(Long.parseLong(words[1]));
        Kind kind = Kind.valueOf(words[0].toUpperCase(Locale.ROOT));
        state.tick();
        try {
          operation(kind);
          state.doing += ", then background work";
          state.world.background(Integer.parseInt(words[2]));
          checkLedger();
        } catch (IsobarException | UncheckedIOException e) {
          if (!endings.isHit() || state.wrong != null) {
            throw e;
          }
          endings.afterFault(e);
        }
        state.checkWrong();
        if (endings.isHit() && state.random.nextInt(4) == 0) {
          endings.endFault();
        }
      }
      Watchdog.mark("opening again and closing");
      state.doing = "the end";
      if (endings.isHit() && state.store.failure() != null) {
        endings.afterFault(state.store.failure());
      }
      endings.endFault();
      endings.reopen();
      endings.closeStore();
      state.checkWrong();
      backups.close();
      if (backupDisk.openFiles() != 0) {
        throw new AssertionError("files of backups are open");
      }
    } catch (IOException | RuntimeException | Error e) {
      Throwable first = state.wrong != null ? state.wrong : e;
      AssertionError told = new AssertionError(this + ": " + first, first);
      try {
        state.world.storage().onMutation(storage -> {});
        state.store.close();
        backups.close();
      } catch (IOException | RuntimeException | Error more) {
        told.addSuppressed(more);
      }
      throw told;
    }
  }

  private void checkLedger() {
    Ledger ledger = state.store.stats().ledger();
    // A slab may be lent to a write that all others wait for.
    if (ledger.allocatedBytes() > ledger.limitBytes() + LENT_BYTES) {
      throw new AssertionError("the ledger is above its limit: " + ledger);
    }
  }

  private void operation(Kind kind) throws IOException {
    state.doing = kind.name();
    switch (kind) {
      case WRITE -> writes.write();
      case BATCH -> writes.batch();
      case BURST -> writes.burst();
      case RANGE -> writes.deleteRange();
      case PILE -> writes.pileUp();
      case READ -> reads.read();
      case READS -> reads.reads();
      case CURSOR -> reads.openCursor();
      case MOVE -> reads.moveCursor();
      case SNAPSHOT -> {
        if (state.snapshots.size() < 6) {
          state.snapshots.add(new ModelSnapshot(state.store.snapshot(), model.now));
        }
      }
      case END -> reads.endSomething();
      case TRANSACTION -> writes.transaction();
      case SHAPE -> shapes.changeShape();
      case ADAPT -> shapes.adapt();
      case WISH -> shapes.wish();
      case SETTLE -> shapes.settle();
      case COMPACT -> shapes.compact();
      case FLUSH -> {
        state.store.flush();
        model.acked = model.now;
        model.manifestAcked = model.now;
      }
      case QUIET -> state.store.awaitQuiet();
      case SYNC -> {
        state.store.sync();
        model.acked = model.now;
        model.manifestAcked = model.now;
      }
      case CHECKPOINT -> shapes.checkpoint();
      case BULK -> writes.bulkLoad();
      case CREATE -> shapes.createTree();
      case DROP -> shapes.dropTree();
      case RENAME -> shapes.renameTree();
      case BUDGET -> shapes.changeBudget();
      case BACKUP -> backup();
      case COPY -> copy();
      case RESTORE -> restore();
      case REOPEN -> endings.reopen();
      case CRASH -> endings.crash();
      case FAULT -> endings.planFault();
      case CHECK -> reads.checkAll();
      case TIME -> state.world.pass(state.random.nextLong(400_000_000));
    }
  }

  // Copies.

  private void meanwhile() {
    if (state.looking || state.wrong != null || state.many && state.random.nextInt(40) != 0) {
      return;
    }
    StoreStats stats = state.store.stats();
    if (stats.writeMemoryBytes() * 2 >= stats.writeMemoryLimitBytes()) {
      return;
    }
    state.looking = true;
    SplittableRandom before = state.random;
    state.random = state.random.split();
    try {
      switch (state.random.nextInt(12)) {
        case 0, 1, 2 -> writes.write();
        case 3 -> writes.deleteRange();
        case 4 -> writes.batch();
        case 5 -> shapes.changeShape();
        case 6 -> {
          state.store.flush();
          model.acked = model.now;
        }
        case 7, 8 -> state.world.background(state.random.nextInt(20));
        default -> {}
      }
    } catch (Throwable e) {
      state.wrong = e;
    } finally {
      state.random = before;
      state.looking = false;
    }
  }

  private void backup() throws IOException {
    endings.endFault();
    state.doing = "a backup";
    long from = model.now;
    int every = state.crashEvery;
    state.crashEvery = 0;
    backupDisk.onMutation(storage -> meanwhile());
    BackupDirectory.Entry made = Inside.of(state.store).backup(backups, Long.MAX_VALUE);
    backupDisk.onMutation(storage -> {});
    state.crashEvery = every;
    state.checkWrong();
    List<Finding> findings = backups.verify();
    assertTrue(findings.isEmpty(), () -> "backups: " + findings);
    SimulatedStorage target = new SimulatedStorage(state.world.clock());
    backups.restore(made.id(), target);
    target.close();
    Found found = look(target);
    model.checkOneMoment(found, from);
    model.trees.forEach(Known::settle);
    held.put(made.id(), found.trees());
    while (held.size() > 3) {
      long gone = state.random.nextBoolean() ? held.firstKey() : held.lastKey();
      backups.delete(gone);
      held.remove(gone);
    }
  }

  /** Opens a copy with other options. */
  private Found look(SimulatedStorage target) throws IOException {
    SimulatedWorld other = new SimulatedWorld(target, state.random.nextLong());
    Found found;
    Store opened = CombinedState.openPatiently(other, state.someOptions());
    try (opened) {
      if (state.random.nextInt(3) == 0) {
        opened.treeNames().stream().limit(6).forEach(name -> opened.tree(name).compact(null, null));
      }
      found = CombinedModel.find(opened);
    }
    other.checkClosed();
    return found;
  }

  private void copy() throws IOException {
    endings.endFault();
    state.doing = "a copy";
    long from = model.now;
    SimulatedStorage target = new SimulatedStorage(state.world.clock());
    int every = state.crashEvery;
    state.crashEvery = 0;
    target.onMutation(storage -> meanwhile());
    Inside.of(state.store).checkpointTo(target);
    target.onMutation(storage -> {});
    target.close();
    state.crashEvery = every;
    state.checkWrong();
    model.checkOneMoment(look(target.crash(state.random, CrashMode.ONLY_SYNCED)), from);
    model.trees.forEach(Known::settle);
    if (state.random.nextInt(3) == 0) {
      goOnWith(target);
    }
  }

  private void restore() throws IOException {
    if (held.isEmpty()) {
      return;
    }
    state.doing = "restoring";
    List<Long> ids = List.copyOf(held.keySet());
    long id = ids.get(state.random.nextInt(ids.size()));
    SimulatedStorage target = new SimulatedStorage(state.world.clock());
    backups.restore(id, target);
    target.close();
    goOnWith(target);
    Map<String, TreeMap<byte[], byte[]>> before = held.get(id);
    assertEquals(before.keySet(), new TreeSet<>(state.store.treeNames()));
    // What has expired since is gone.
    CombinedModel.contents(state.store)
        .forEach(
            (name, entries) ->
                entries.forEach(
                    (key, value) ->
                        assertArrayEquals(before.get(name).get(key), value, "restored")));
  }

  /** The store is closed, and another disk's goes on, of which the model is made anew. */
  private void goOnWith(SimulatedStorage disk) throws IOException {
    endings.closeStore();
    state.world = new SimulatedWorld(disk, state.random.nextLong());
    endings.open();
    model.trees.clear();
    model.clock.put(++model.now, state.millis());
    for (String name : state.store.treeNames()) {
      Tree tree = state.store.tree(name);
      Known known = new Known(name, tree.options(), model.clock, 0);
      known.adjusted.add(CombinedModel.adjusted(tree.options()));
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          Instant expires = cursor.expires();
          known.write(
              cursor.key(),
              ModelValue.made(cursor.value()),
              model.now,
              expires == null ? ModelTree.NEVER : expires.toEpochMilli());
        }
      }
      model.trees.add(known);
    }
    model.settled();
    while (model.live().size() < 2) {
      shapes.createTree();
    }
  }

  @Override
  public String toString() {
    return "line " + (step + 1) + ", " + state.doing + "; " + state.options;
  }
}
