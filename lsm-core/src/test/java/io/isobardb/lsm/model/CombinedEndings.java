package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.PrivateStorage;
import io.isobardb.lsm.model.CombinedModel.Found;
import io.isobardb.lsm.model.CombinedModel.Moment;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How the stores of a {@link CombinedHistory} end, and how the next ones begin: closed, crashed at
 * any call, or after a call that failed.
 */
final class CombinedEndings {
  private static final long READING_BYTES = 24 << 20;

  private final CombinedState state;
  private final CombinedModel model;
  private final CombinedShapes shapes;
  private final CombinedReads reads;
  private final SplittableRandom crashes;

  /** Whether calls fail, and whether one has. */
  private final boolean faulty;

  private boolean hit;

  /** Whether files may be left that could not be deleted, until the store is opened again. */
  private boolean littered;

  private String fault = "";
  private long states;
  private long merges;

  CombinedEndings(CombinedState state, CombinedShapes shapes, CombinedReads reads, long seed) {
    this.state = state;
    this.model = state.model;
    this.shapes = shapes;
    this.reads = reads;
    this.crashes = new SplittableRandom(~seed);
    this.faulty = state.random.nextInt(3) == 0;
  }

  /** Crashes that were looked at. */
  long states() {
    return states;
  }

  /** Merges of the stores that have ended. */
  long merges() {
    return merges;
  }

  /** Whether a call has failed since the last look. */
  boolean isHit() {
    return hit;
  }

  /** Looks at crashes from now on. */
  void hook() {
    state.world.storage().onMutation(this::mayCrash);
  }

  void closeStore() throws IOException {
    state.doing = "closing the store";
    merges += state.store.stats().merges();
    if (state.random.nextBoolean()) {
      state.cursors.forEach(ModelCursor::close);
      state.snapshots.forEach(snapshot -> snapshot.snapshot().close());
    }
    model.nextCheckpoint = model.now;
    state.isOpen = false;
    state.store.close();
    model.settled();
    state.cursors.clear();
    state.snapshots.clear();
    state.world.storage().faults(FaultPlan.NONE);
    boolean clean = !hit && !littered;
    hit = false;
    littered = false;
    if (clean) {
      state.world.checkClosed();
    }
    assertEquals(0, state.world.storage().openFiles(), "open files");
  }

  void open() {
    state.doing = "opening again";
    state.options = state.someOptions();
    try {
      state.store = state.world.open(state.options);
    } catch (IsobarException e) {
      state.options = HistoryOptions.withMemory(state.options, e);
      state.store = state.world.open(state.options);
    }
    state.isOpen = true;
    hook();
  }

  void reopen() throws IOException {
    closeStore();
    if (state.random.nextInt(3) != 0) {
      state.world.decided(state.random.nextDouble());
    }
    open();
    reads.checkAll();
  }

  void crash() throws IOException {
    SplittableRandom dice = state.random.split();
    int which = dice.nextInt(5);
    state.doing = "a crash";
    SimulatedStorage disk = crashed(which, dice);
    state.world.storage().onMutation(storage -> {});
    state.world.storage().faults(FaultPlan.NONE);
    merges += state.store.stats().merges();
    state.isOpen = false;
    try {
      state.store.close();
    } catch (IsobarException e) {
      if (!hit) {
        throw e;
      }
    }
    hit = false;
    state.cursors.clear();
    state.snapshots.clear();
    state.world = new SimulatedWorld(disk, dice.nextLong());
    goOn(which == 4);
  }

  /** Opens what was left, checks it, and goes on with what there is. */
  private void goOn(boolean killed) throws IOException {
    open();
    Found found = CombinedModel.find(state.store);
    Moment moment = model.check(found, killed);
    model.closing.clear();
    model.cut(moment, found);
    model.clock.put(++model.now, state.millis());
    model.settled();
    while (model.live().size() < 2) {
      shapes.createTree();
    }
    reads.checkAll();
  }

  private SimulatedStorage crashed(int which, SplittableRandom dice) {
    return which == 4
        ? state.world.storage().copy()
        : state.world.storage().crash(dice, CrashMode.values()[which]);
  }

  /** Looks at what crashes before this call would leave. */
  private void mayCrash(SimulatedStorage storage) {
    if (state.looking
        || state.wrong != null
        || state.crashEvery == 0
        || crashes.nextInt(state.crashEvery) != 0) {
      return;
    }
    state.looking = true;
    String before = state.doing;
    SplittableRandom dice = crashes.split();
    int which = dice.nextInt(5);
    SplittableRandom kept = state.random;
    state.random = dice;
    try {
      state.doing = before + ", a crash before call " + storage.mutations() + ", mode " + which;
      verify(crashed(which, dice), which == 4, dice, 1);
      state.doing = before;
    } catch (Throwable e) {
      state.wrong = e;
    } finally {
      state.random = kept;
      state.looking = false;
    }
  }

  private void verify(SimulatedStorage disk, boolean killed, SplittableRandom dice, int depth)
      throws IOException {
    states++;
    List<SimulatedStorage> twice = new ArrayList<>();
    List<Boolean> killedTwice = new ArrayList<>();
    if (depth < 3 && dice.nextInt(3) == 0) {
      SplittableRandom second = dice.split();
      int at = second.nextInt(30);
      long first = disk.mutations();
      disk.onMutation(
          recovering -> {
            if (recovering.mutations() - first == at) {
              int which = second.nextInt(5);
              twice.add(
                  which == 4
                      ? recovering.copy()
                      : recovering.crash(second, CrashMode.values()[which]));
              killedTwice.add(which == 4);
            }
          });
    }
    if (dice.nextInt(2) == 0) {
      lookOnly(disk.copy(), killed, dice);
    }
    SimulatedWorld other = new SimulatedWorld(disk, dice.nextLong());
    StoreOptions with = dice.nextBoolean() ? state.options : state.someOptions();
    Store opened = CombinedState.openPatiently(other, with);
    try (opened) {
      disk.onMutation(hooked -> {});
      other.background(dice.nextInt(12));
      Moment moment = model.check(CombinedModel.find(opened), killed);
      switch (dice.nextInt(6)) {
        case 0 -> {
          opened.awaitQuiet();
          model.check(CombinedModel.find(opened), killed);
        }
        case 1 -> {
          opened.treeNames().stream()
              .limit(6)
              .forEach(name -> opened.tree(name).compact(null, null));
          model.check(CombinedModel.find(opened), killed);
        }
        case 2 -> {
          SimulatedWorld again =
              new SimulatedWorld(disk.crash(dice, CrashMode.ONLY_SYNCED), dice.nextLong());
          try (Store third = CombinedState.openPatiently(again, with)) {
            Moment later = model.check(CombinedModel.find(third), killed);
            assertTrue(
                later.log() >= moment.log() || model.same(moment, later),
                () -> moment + ", " + later);
          }
        }
        default -> {}
      }
    }
    if (dice.nextInt(4) == 0) {
      other.checkClosed();
      try (Store third = CombinedState.openPatiently(other, with)) {
        model.check(CombinedModel.find(third), killed);
      }
      other.checkClosed();
    }
    for (int i = 0; i < twice.size(); i++) {
      verify(twice.get(i), killed && killedTwice.get(i), dice, depth + 1);
    }
  }

  /** Opens a disk to be read only, which changes nothing. */
  private void lookOnly(SimulatedStorage disk, boolean killed, SplittableRandom dice)
      throws IOException {
    SimulatedClock time = disk.newClock();
    // With little memory much of the log goes to the heap.
    long budget = dice.nextBoolean() ? READING_BYTES : READING_BYTES / 3;
    StoreOptions with =
        state.someOptions().toBuilder()
            .memoryBudget(budget)
            .writeMemory(0)
            .createIfMissing(false)
            .build();
    long before = disk.mutations();
    try (Store opened =
        Inside.open(
            new Environment(
                new PrivateStorage(disk, READING_BYTES),
                time,
                new SimulatedScheduler(time, dice.nextLong()),
                dice.split()),
            with)) {
      model.check(CombinedModel.find(opened), killed);
    } catch (IsobarException | UncheckedIOException e) {
      if (!e.getMessage().contains("memoryBudget")) {
        throw e;
      }
    }
    assertEquals(before, disk.mutations(), "changed by reading");
    assertEquals(0, disk.openFiles(), "open files");
  }

  // Faults.

  void planFault() {
    if (hit || !faulty) {
      return;
    }
    SimulatedStorage storage = state.world.storage();
    long first = storage.operations() + state.random.nextInt(1 + state.random.nextInt(400));
    boolean[] over = {false};
    int which = state.random.nextInt(9);
    fault =
        List.of(
                "EIO read",
                "short read",
                "EIO sync",
                "EIO write",
                "EIO rename",
                "EIO delete",
                "ENOSPC",
                "ENOSPC short",
                "EIO create")
            .get(which);
    storage.faults(
        (operation, file, index) -> {
          if (index < first || over[0]) {
            return Fault.NONE;
          }
          boolean allocates = operation == Operation.CREATE || operation == Operation.WRITE;
          Fault happens =
              switch (which) {
                case 0 -> operation == Operation.READ ? Fault.EIO : Fault.NONE;
                case 1 -> operation == Operation.READ ? Fault.SHORT_READ : Fault.NONE;
                case 2 -> operation == Operation.SYNC ? Fault.EIO : Fault.NONE;
                case 3 -> operation == Operation.WRITE ? Fault.SHORT_THEN_EIO : Fault.NONE;
                case 4 -> operation == Operation.RENAME ? Fault.EIO : Fault.NONE;
                case 5 -> operation == Operation.DELETE ? Fault.EIO : Fault.NONE;
                case 6 -> allocates ? Fault.ENOSPC : Fault.NONE;
                case 7 -> allocates ? Fault.SHORT_THEN_ENOSPC : Fault.NONE;
                default -> operation == Operation.CREATE ? Fault.EIO : Fault.NONE;
              };
          hit |= happens != Fault.NONE;
          over[0] |= happens != Fault.NONE && which != 6 && which != 7;
          return happens;
        });
  }

  void endFault() {
    state.world.storage().faults(FaultPlan.NONE);
    if (hit) {
      hit = false;
      littered = fault.equals("EIO delete");
      state.world.pass(2_000_000_000L);
      if (state.isOpen && state.store.failure() != null) {
        try {
          goOnAfterFault();
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  /** An exception has told of it: reads go on, and what was acknowledged stays. */
  void afterFault(Throwable told) throws IOException {
    String before = state.doing;
    state.world.storage().faults(FaultPlan.NONE);
    hit = false;
    if (state.isOpen) {
      state.doing = before + ", " + fault + ", reading after " + told;
      Found found = CombinedModel.find(state.store);
      boolean fits = false;
      for (long at = model.now; at >= Math.min(model.returned, model.now - 1) && !fits; at--) {
        for (long manifest = model.now;
            manifest >= Math.min(model.returned, model.now - 1);
            manifest--) {
          fits |=
              model.find(
                      found,
                      at,
                      manifest,
                      at,
                      new HashMap<>(),
                      Math.min(model.returned, model.now - 1))
                  != null;
        }
      }
      if (!fits) {
        throw new AssertionError(
            "what is there fits neither with nor without the last write: "
                + model.describe(found, model.returned, model.now),
            told);
      }
    }
    state.doing = before + ", " + fault + ", going on after " + told;
    goOnAfterFault();
  }

  private void goOnAfterFault() throws IOException {
    SplittableRandom dice = state.random.split();
    state.world.storage().onMutation(storage -> {});
    int which = dice.nextInt(8);
    SimulatedStorage disk = which < 4 ? crashed(which, dice) : null;
    state.cursors.clear();
    state.snapshots.clear();
    merges += state.isOpen ? state.store.stats().merges() : 0;
    model.closing.clear();
    if (disk == null) {
      model.closing.add(model.now);
      model.closing.add(Math.max(0, model.now - 1));
    }
    try {
      state.store.close();
    } catch (IsobarException e) {
      // It may say so again.
    }
    assertEquals(0, state.world.storage().openFiles(), "open files");
    SimulatedStorage left = disk == null ? state.world.storage().copy() : disk;
    state.world = new SimulatedWorld(left, dice.nextLong());
    goOn(disk == null);
  }
}
