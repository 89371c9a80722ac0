package io.isobardb.lsm.state;

import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.model.FilterBits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How many bits of filter a key gets in a new SSTable on disk: by the size of the run that it goes
 * to, so that the tree's filters take the mean that its option says ({@link FilterBits}). Sizes are
 * those of the moment, in bytes. Pure functions; any thread.
 *
 * <p>A lookup asks only the runs that lie over its key. So in a tree with tiers, a run over a part
 * of the keys counts as one over all of them that is as thin, and is there for that part of the
 * lookups ({@link KeyShare}). Otherwise a tier of a few SSTables would get larger filters than a
 * thinner one over all keys, and the last level would pay for them.
 *
 * <p>Without tiers runs count by their bytes alone. Groups of L0 would have smaller filters
 * otherwise, for the benefit of the last level, where most lookups find their keys anyway (decision
 * 0034).
 */
final class FilterSizes {
  /**
   * The part of what L0 holds that counts. Groups come and go, and L0 is fuller than in the mean
   * when merges write. With this value filters take about the mean (decision 0034).
   */
  private static final double GROUP_PRESENCE = 0.6;

  private FilterSizes() {}

  /**
   * Bits per key.
   *
   * @param place where the SSTable goes; null for L0, if the group is not known yet
   * @param mean bits per key over the whole tree
   */
  static double bits(Version version, @Nullable Place place, int mean) {
    List<PlacedRun> runs = version.placedRuns();
    double[] bytes = new double[1 + runs.size()];
    double[] presence = new double[bytes.length];
    boolean tier = Place.TIERS.equals(place);
    boolean thin = tier || !version.tiers().isEmpty();
    // The group or tier that is still to come is about as the others are.
    double freshBytes = 0;
    double freshShare = 0;
    int alike = 0;
    int chosen = 0;
    for (int i = 0; i < runs.size(); i++) {
      PlacedRun run = runs.get(i);
      double share = thin ? KeyShare.of(version, run.run()) : 1;
      bytes[i + 1] = run.run().sizeBytes() / share;
      presence[i + 1] = run.place().inL0() ? share * GROUP_PRESENCE : share;
      chosen = run.place().equals(place) ? i + 1 : chosen;
      if (tier ? run.place().kind() == Place.Kind.TIER : run.place().inL0()) {
        freshBytes += run.run().sizeBytes();
        freshShare += share;
        alike++;
      }
    }
    boolean first = alike == 0;
    bytes[0] = first ? firstBytes(version, tier) : freshBytes / freshShare;
    double fresh = first ? 1 : freshShare / alike;
    presence[0] = tier ? fresh : fresh * GROUP_PRESENCE;
    return bytes[chosen] == 0 ? mean : FilterBits.of(bytes, presence, mean)[chosen];
  }

  /** A first tier gets what L0 holds, and a first group about an SSTable. */
  private static double firstBytes(Version version, boolean tier) {
    return tier ? version.l0Bytes() : tableBytes(version);
  }

  /** What an SSTable takes in the first level that has any; 0 if none has. */
  private static double tableBytes(Version version) {
    for (int i = 1; i <= version.levelCount(); i++) {
      Level<SSTableMeta> level = version.level(i);
      if (!level.isEmpty()) {
        return (double) level.sizeBytes() / level.size();
      }
    }
    return 0;
  }
}
