package io.isobardb.lsm.model;

import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.model.CombinedModel.Known;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of a {@link CombinedHistory} share: the store that is open and its world, what the
 * details of a line are drawn from, and what is being done.
 */
final class CombinedState {
  private static final long SILK_BYTES = 20 << 20;

  record ModelSnapshot(Snapshot snapshot, long at) {}

  final CombinedModel model = new CombinedModel();
  final int pageSize;
  final boolean many;

  /** Says the details of the line that is being run. */
  SplittableRandom random;

  SimulatedWorld world;
  StoreOptions options;
  Store store;
  boolean isOpen;
  String doing = "opening";
  final List<ModelSnapshot> snapshots = new ArrayList<>();
  final List<ModelCursor> cursors = new ArrayList<>();

  /** One in so many mutating calls is looked at; 0 for none. */
  int crashEvery;

  /** Whether something else is done within a call of the store: nothing within that. */
  boolean looking;

  /** What was found wrong there. */
  @Nullable Throwable wrong;

  CombinedState(long seed) {
    random = new SplittableRandom(seed);
    world = new SimulatedWorld(random.nextLong());
    world.storage().supportsDirect(random.nextBoolean());
    int dice = random.nextInt(20);
    pageSize = dice < 14 ? 4096 : dice < 17 ? 8192 : dice < 19 ? 16384 : 65536;
    many = random.nextInt(40) == 0;
    crashEvery = many || random.nextInt(3) == 0 ? 0 : 40 << random.nextInt(5);
  }

  StoreOptions someOptions() {
    StoreOptions.Builder drawn = HistoryOptions.some(random, pageSize).toBuilder();
    SplittableRandom more = random.split();
    int adaptation = more.nextInt(4);
    ExperimentalOptions.set(
        drawn,
        e ->
            e.adaptation(
                adaptation == 0
                    ? Adaptation.OFF
                    : adaptation == 1 ? Adaptation.OBSERVE : Adaptation.ON));
    if (more.nextInt(3) == 0) {
      drawn.maxSpace(1.01 + more.nextInt(3) * 1.5);
    }
    if (more.nextInt(4) == 0) {
      drawn.deleteRate(1 << 20);
    }
    if (more.nextInt(4) == 0) {
      drawn.maxOpenFiles(16);
    }
    if (more.nextInt(6) == 0) {
      drawn.ioBandwidth(IoBandwidth.of(SILK_BYTES)).mergeSchedule(MergeSchedule.SILK);
      ExperimentalOptions.set(drawn, e -> e.ioMinimum(SILK_BYTES / 4).ioReserve(SILK_BYTES / 2));
    }
    if (more.nextInt(6) == 0) {
      // What is stored wins.
      drawn.pageSize(4096 << more.nextInt(4));
    }
    try {
      return drawn.build();
    } catch (IllegalArgumentException e) {
      // With larger pages there may be too little write memory for the static trees.
      return drawn.pageSize(pageSize).build();
    }
  }

  long millis() {
    return Inside.of(store).engine().snapshots().time().getAsLong();
  }

  void tick() {
    model.tick(millis());
  }

  Known anyTree() {
    List<Known> live = model.live();
    return live.get(random.nextBoolean() ? 0 : random.nextInt(live.size()));
  }

  Tree tree(Known of) {
    return store.tree(of.name());
  }

  byte[] anyKey(Known of) {
    return HistoryEntries.anyKey(random, of, pageSize, false);
  }

  byte @Nullable [][] anyRange(Known of) {
    return HistoryEntries.anyRange(random, of, 8, () -> anyKey(of));
  }

  @Nullable ModelSnapshot anySnapshot() {
    return snapshots.isEmpty() ? null : snapshots.get(random.nextInt(snapshots.size()));
  }

  static Store openPatiently(SimulatedWorld in, StoreOptions with) {
    StoreOptions patient = with.toBuilder().writeTimeout(OptionLimits.FOREVER).build();
    try {
      return in.open(patient);
    } catch (IsobarException e) {
      return in.open(HistoryOptions.withMemory(patient, e));
    }
  }

  void checkWrong() {
    if (wrong != null) {
      throw new AssertionError("found in a copy", wrong);
    }
  }
}
