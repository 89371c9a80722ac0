package io.isobardb.lsm.state;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Runs;
import org.jspecify.annotations.Nullable;

/**
 * What can be changed of a tree while it is open. It is stored, so it lasts. Immutable.
 *
 * @param timeToLive of entries that are written from now on, in milliseconds; 0 for ever
 * @param runs how many runs each level has
 * @param maxSpace how many times the last level all of them may hold together; 0 as the store says
 * @param compression of new SSTables; null as the tree was created
 */
public record Adjustments(
    long timeToLive, Runs runs, double maxSpace, @Nullable Compression compression) {
  private static final TreeOptions LEVELED = TreeOptions.builder().runs(Runs.leveled()).build();
  private static final TreeOptions OTHER = TreeOptions.builder().runs(Runs.lazy(2)).build();

  /** What holds for a tree of which nothing was said. */
  public static final Adjustments NONE = new Adjustments(0, Runs.leveled(), 0, null);

  /** Whether these options say how many runs there are to be, be it what holds anyway. */
  public static boolean givesRuns(TreeOptions options) {
    return options.changesRuns(LEVELED) || options.changesRuns(OTHER);
  }

  /** What these options say; what they do not say is the default. */
  public static Adjustments of(TreeOptions options) {
    return new Adjustments(
        options.timeToLive().toMillis(), options.runs(), options.maxSpace(), null);
  }

  /** Whether nothing was said of the tree. */
  public boolean isNone() {
    return timeToLive == 0 && runs.isLeveled() && maxSpace == 0 && compression == null;
  }
}
