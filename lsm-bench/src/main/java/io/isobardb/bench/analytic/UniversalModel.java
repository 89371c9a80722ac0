package io.isobardb.bench.analytic;

import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import io.isobardb.tuner.model.WriteModel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * RocksDB's universal merging: a list of tables by age, neighbours of which are merged by three
 * rules (section 5 of the paper). It is simulated table by table, with the sizes that the
 * popularity predicts.
 *
 * <p>Once there are as many tables as {@code tables} says, the first rule that applies decides:
 *
 * <ol>
 *   <li>all are merged, if those before the oldest have at least {@code spacePercent} of its size;
 *   <li>the longest sequence, beginning with the newest table possible, in which no table is larger
 *       than all newer ones of the sequence together by more than {@code ratioPercent};
 *   <li>the newest, so many that there are fewer tables than {@code tables}.
 * </ol>
 */
public final class UniversalModel implements WriteModel {
  /** Random requests per key that are simulated once every key is there. */
  private static final int ROUNDS = 10;

  private static final int MIN_TABLES = 2;
  private static final int MIN_WIDTH = 2;

  private final double bufferEntries;
  private final int tables;
  private final double ratioPercent;
  private final double spacePercent;

  /**
   * @param bufferEntries requests that a memtable takes; more than 0
   * @param tables tables at which merging begins, 2 or more
   * @param ratioPercent 0 or more; RocksDB's default is 1
   * @param spacePercent more than 0; RocksDB's default is 200
   */
  public UniversalModel(
      double bufferEntries, int tables, double ratioPercent, double spacePercent) {
    if (!(bufferEntries > 0) || !(ratioPercent >= 0) || !(spacePercent > 0)) {
      throw new IllegalArgumentException(
          "buffer and space must be more than 0 and the ratio 0 or more, not "
              + (bufferEntries + ", " + spacePercent + " and " + ratioPercent));
    }
    if (tables < MIN_TABLES) {
      throw new IllegalArgumentException("merging begins with 2 tables or more, not " + tables);
    }
    this.bufferEntries = bufferEntries;
    this.tables = tables;
    this.ratioPercent = ratioPercent;
    this.spacePercent = spacePercent;
  }

  @Override
  public WriteCost cost(Popularity popularity) {
    double flushed = popularity.unique(bufferEntries);
    double requests = ROUNDS * popularity.keys();
    // Sizes from the oldest table to the newest, so that flushes append.
    double[] sizes = new double[tables + 1];
    sizes[0] = popularity.keys();
    int count = 1;
    double merged = 0;
    double done = 0;
    for (; done < requests; done += bufferEntries) {
      sizes[count++] = flushed;
      for (Merge merge = choose(sizes, count); merge != null; merge = choose(sizes, count)) {
        double size = mergedSize(popularity, sizes, merge);
        merged += size;
        sizes[merge.from()] = size;
        System.arraycopy(sizes, merge.to(), sizes, merge.from() + 1, count - merge.to());
        count -= merge.to() - merge.from() - 1;
      }
    }
    return new WriteCost(1, flushed / bufferEntries, new double[] {merged / done});
  }

  private static double mergedSize(Popularity popularity, double[] sizes, Merge merge) {
    double requests = 0;
    for (int i = merge.from(); i < merge.to(); i++) {
      requests += popularity.uniqueInverse(sizes[i]);
    }
    return popularity.unique(requests);
  }

  /**
   * Which tables are merged next.
   *
   * @param sizes of the tables, from the oldest to the newest
   * @return null if none are
   */
  public @Nullable Merge choose(double[] sizes, int count) {
    if (count < tables) {
      return null;
    }
    double newer = Arrays.stream(sizes, 1, count).sum();
    if (newer * 100 >= sizes[0] * spacePercent) {
      return new Merge(0, count);
    }
    for (int newest = count - 1; newest > 0; newest--) {
      double sum = sizes[newest];
      int from = newest;
      while (from > 0 && sizes[from - 1] <= sum * (100 + ratioPercent) / 100) {
        sum += sizes[--from];
      }
      if (newest - from + 1 >= MIN_WIDTH) {
        return new Merge(from, newest + 1);
      }
    }
    return new Merge(Math.max(0, tables - 2), count);
  }

  /** Tables to merge, counted from the oldest: from one of them up to before another. */
  public record Merge(int from, int to) {}
}
