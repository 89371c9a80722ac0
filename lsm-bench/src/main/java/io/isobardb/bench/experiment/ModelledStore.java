package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.simulate.StoreShape;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.popularity.KeyGroups;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What models are told of a simulated store with one tree, once it was seen what an entry takes in
 * its memory and on its disk. Immutable.
 *
 * @param full the store when memory calls for a flush
 * @param asFullAsItWas with as much in memory as there was in the mean
 * @param flushedBytes an entry in an SSTable of a flush, or of a tier, which is as small
 * @param mergedBytes the same in a level
 */
record ModelledStore(
    EngineShape full, EngineShape asFullAsItWas, double flushedBytes, double mergedBytes) {
  /**
   * What a flushed SSTable has beside its entries: header, index, filter and footer. Those that fit
   * into one write have two pages fewer; here they are larger.
   */
  private static final int FIXED_PAGES = 4;

  private static final long LEAST_WRITE_MEMORY = 1 << 20;

  private static final double SKEW = 0.99;

  /**
   * The store of a rig.
   *
   * @param figures what the rig has measured
   * @return null if it is too small for a model
   */
  static @Nullable ModelledStore of(
      StoreOptions options, Shape shape, Map<String, Double> figures) {
    if (options.writeMemory() < LEAST_WRITE_MEMORY || options.logLimit() < options.writeMemory()) {
      return null;
    }
    double entry = figures.getOrDefault(SimulatedRig.STORED_ENTRY, 0.0);
    double weight = Math.max(1, figures.getOrDefault(SimulatedRig.MEMORY_WEIGHT, 1.0));
    StoreShape.Room room =
        new StoreShape.Room(
            (long) entry, (long) (entry * weight), options.writeMemory(), options.logLimit());
    EngineShape full = StoreShape.of(room).modelled(1, shape.records());
    // What an entry takes was found in the last level; SSTables of flushes are smaller.
    double pages = FIXED_PAGES * options.pageSize();
    double flushed =
        entry + pages / full.disk().sliceEntries() - pages / full.disk().tableEntries();
    double used = figures.getOrDefault(SimulatedRig.OCCUPANCY, 0.0) / 100;
    EngineShape asItWas = full.holding(room.entries(used)).weighing(Math.max(1, flushed / entry));
    return new ModelledStore(full, asItWas, flushed, entry);
  }

  /** How often the keys of a workload are drawn. */
  static Popularity popularity(Shape shape, Keys keys) {
    double records = shape.records();
    return keys == Keys.UNIFORM ? KeyGroups.uniform(records) : KeyGroups.zipf(records, SKEW);
  }

  /** Bytes that flushes write per put. */
  double flushBytes(WriteCost cost) {
    return cost.flush() * flushedBytes;
  }

  /** Bytes that merges into tiers write per put, so many levels of the cost being such. */
  double tierBytes(WriteCost cost, int tiers) {
    return Arrays.stream(cost.levels()).limit(tiers).sum() * flushedBytes;
  }

  /** Bytes that flushes and merges write per put to a tree without tiers. */
  double bytes(WriteCost cost) {
    return bytes(cost, 0);
  }

  /** Bytes that flushes and merges write per put, so many levels of the cost being tiers. */
  double bytes(WriteCost cost, int tiers) {
    double leveled = Arrays.stream(cost.levels()).skip(tiers).sum() + cost.withinL0();
    return flushBytes(cost) + tierBytes(cost, tiers) + leveled * mergedBytes;
  }
}
