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
    int chosen = 0;
    for (int i = 0; i < runs.size(); i++) {
      bytes[i + 1] = runs.get(i).run().sizeBytes();
      presence[i + 1] = runs.get(i).place().inL0() ? GROUP_PRESENCE : 1;
      chosen = runs.get(i).place().equals(place) ? i + 1 : chosen;
    }
    // The group or tier that is still to come.
    boolean tier = Place.TIERS.equals(place);
    bytes[0] = freshBytes(version, tier ? version.tiers() : version.groups(), tier);
    presence[0] = tier ? 1 : GROUP_PRESENCE;
    return bytes[chosen] == 0 ? mean : FilterBits.of(bytes, presence, mean)[chosen];
  }

  /** About as much as the others; a first tier gets what L0 holds. */
  private static double freshBytes(Version version, List<PlacedRun> like, boolean tier) {
    if (like.isEmpty()) {
      return tier ? version.l0Bytes() : tableBytes(version);
    }
    return like.stream().mapToDouble(run -> run.run().sizeBytes()).sum() / like.size();
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
