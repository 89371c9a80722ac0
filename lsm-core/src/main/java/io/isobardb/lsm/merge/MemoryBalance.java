package io.isobardb.lsm.merge;

import io.isobardb.lsm.component.MemoryComponent;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Which runs in memory are merged, and when: the balance of processor time against I/O, which
 * "Breaking Down Memory Walls in LSM-based Storage Systems" leaves open (8). A pure function; any
 * thread.
 *
 * <p>Many runs of a size are merged once they fill memory: it makes room, and so saves I/O, and
 * costs each entry one merge per tier. When room is wanted all are merged if that has made much of
 * it lately. Fewer are merged only for the time that reads lose with them. Nobody knows how many
 * reads are to come, so that is done when those that were have lost as much as the merge will cost:
 * about twice what would have been best if the worst comes, and nothing where nobody reads. See
 * docs/decisions/0011.
 */
final class MemoryBalance {
  /** Runs of about the same size that are merged for the sake of room. */
  static final int MANY = 8;

  private MemoryBalance() {}

  /**
   * Neighbouring runs.
   *
   * @param from place of the youngest, from the youngest run of all
   * @param to behind the place of the oldest
   */
  record Neighbours(int from, int to) {
    int count() {
      return to - from;
    }
  }

  /**
   * What to merge now.
   *
   * @param sizes bytes of the runs that get no writes any more, from the youngest to the oldest
   * @param mergedBytes what of them was merged before
   * @param unit bytes of the smallest runs there are, when they are new
   * @param full whether a merge of many is worth it for room alone
   * @param wanted whether others could use the room that a merge of all is hoped to make
   * @param lostNanos what reads have lost since the last merge
   * @return null to leave all as it is
   */
  static @Nullable Neighbours choose(
      long[] sizes, long mergedBytes, long unit, boolean full, boolean wanted, long lostNanos) {
    long all = LongStream.of(sizes).sum();
    // As much is new as was merged before: so no byte is merged more than twice on the average.
    if (sizes.length > 1 && (wanted && all >= 2 * mergedBytes || paidFor(all, lostNanos))) {
      return new Neighbours(0, sizes.length);
    }
    for (int from = 0; from < sizes.length; ) {
      long tier = tier(sizes[from], unit);
      long bytes = 0;
      int to = from;
      while (to < sizes.length && tier(sizes[to], unit) <= tier) {
        bytes += sizes[to++];
      }
      Neighbours alike = new Neighbours(from, to);
      if (full && alike.count() >= MANY
          || alike.count() > 1 && lost(alike, sizes.length, lostNanos) >= price(bytes)) {
        return alike;
      }
      from = to;
    }
    return null;
  }

  /** What of it is for those runs not being one. */
  private static double lost(Neighbours runs, int all, double lostNanos) {
    return lostNanos * (runs.count() - 1) / (all - 1);
  }

  /**
   * Whether reads have lost what it costs to merge all, the active SSTable too.
   *
   * @param bytes of all that is in memory
   */
  static boolean paidFor(long bytes, long lostNanos) {
    return lostNanos >= price(bytes);
  }

  private static double price(double bytes) {
    return bytes * MemoryComponent.MERGE_NANOS_PER_BYTE;
  }

  /** How often a run of this size can have been merged, {@link #MANY} of a tier at a time. */
  private static long tier(long bytes, long unit) {
    long tier = 0;
    for (long size = bytes / unit; size >= MANY / 2; size /= MANY) {
      tier++;
    }
    return tier;
  }
}
