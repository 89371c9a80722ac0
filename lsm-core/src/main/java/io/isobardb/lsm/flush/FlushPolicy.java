package io.isobardb.lsm.flush;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which tree to flush when write memory runs short ("Breaking Down Memory Walls in LSM-based
 * Storage Systems", 4.2). Pure functions; any thread.
 *
 * <p>{@link #OPTIMAL} is the default of a store: as a flush takes a slice of a tree, whatever its
 * size, all trees give back the same; and memory in proportion to the writes makes for the fewest
 * bytes written. {@link #MIN_LSN} comes near to it, and cuts the log best. {@link #MAX_MEMORY}
 * takes from the trees with the most writes what idle ones keep, until the log drives those out; it
 * is what others do, and there to compare with.
 *
 * <p>A tree that is busy is never chosen, and one that would give back less than a minimum only if
 * there is no other: small flushes, one after another, cost more than they free.
 */
public enum FlushPolicy {
  /** The tree that holds the most memory. */
  MAX_MEMORY {
    @Override
    Comparator<TreeMemory> bestFirst(List<TreeMemory> trees) {
      return Comparator.comparingLong(TreeMemory::memoryBytes).reversed();
    }

    @Override
    String reason(TreeMemory tree, List<TreeMemory> trees) {
      return mega(tree.memoryBytes()) + ", the most memory";
    }
  },

  /** The tree with the oldest entry in memory. */
  MIN_LSN {
    @Override
    Comparator<TreeMemory> bestFirst(List<TreeMemory> trees) {
      return Comparator.comparingLong(TreeMemory::minLsn);
    }

    @Override
    String reason(TreeMemory tree, List<TreeMemory> trees) {
      return "LSN " + tree.minLsn() + ", the lowest";
    }
  },

  /**
   * The tree that holds most above its share, a tree's share of the memory being its share of the
   * writes in the window.
   */
  OPTIMAL {
    @Override
    Comparator<TreeMemory> bestFirst(List<TreeMemory> trees) {
      double perWrite = memoryPerWrite(trees);
      return Comparator.comparingDouble((TreeMemory tree) -> excess(tree, perWrite)).reversed();
    }

    @Override
    String reason(TreeMemory tree, List<TreeMemory> trees) {
      double share = tree.bytesWrittenInWindow() * memoryPerWrite(trees);
      return mega(tree.memoryBytes()) + ", with a share of " + mega(share);
    }

    private double memoryPerWrite(List<TreeMemory> trees) {
      double memory = trees.stream().mapToLong(TreeMemory::memoryBytes).sum();
      double written = trees.stream().mapToLong(TreeMemory::bytesWrittenInWindow).sum();
      return written == 0 ? 0 : memory / written;
    }

    private double excess(TreeMemory tree, double perWrite) {
      return tree.memoryBytes() - tree.bytesWrittenInWindow() * perWrite;
    }
  };

  /**
   * The tree to flush because memory runs short, or null if none has anything to give that is not
   * busy.
   *
   * @param trees all trees with write memory, busy ones too
   * @param minimumBytes what a flush should give back at least
   */
  @Nullable FlushChoice choose(List<TreeMemory> trees, long minimumBytes) {
    Comparator<TreeMemory> order =
        bestFirst(trees).thenComparingLong(TreeMemory::minLsn).thenComparingInt(TreeMemory::treeId);
    Predicate<TreeMemory> idle = tree -> !tree.busy() && tree.flushableBytes() > 0;
    TreeMemory best =
        trees.stream()
            .filter(idle)
            .filter(tree -> tree.flushableBytes() >= minimumBytes)
            .min(order)
            .orElse(null);
    if (best != null) {
      return new FlushChoice(best.treeId(), name() + ": " + reason(best, trees));
    }
    TreeMemory largest =
        trees.stream()
            .filter(idle)
            .min(
                Comparator.comparingLong(TreeMemory::flushableBytes)
                    .reversed()
                    .thenComparing(order))
            .orElse(null);
    return largest == null
        ? null
        : new FlushChoice(
            largest.treeId(),
            "only small ones left: " + mega(largest.flushableBytes()) + " to give back");
  }

  /**
   * The tree to flush because the log is too long, or null if all that hold it are busy: the one
   * with the lowest LSN, whatever its size.
   *
   * @param belowLsn where the log should begin; trees with nothing older are left alone
   */
  static @Nullable FlushChoice chooseForLog(List<TreeMemory> trees, long belowLsn) {
    return trees.stream()
        .filter(tree -> !tree.busy() && tree.memoryBytes() > 0 && tree.minLsn() < belowLsn)
        .min(Comparator.comparingLong(TreeMemory::minLsn).thenComparingInt(TreeMemory::treeId))
        .map(
            tree ->
                new FlushChoice(
                    tree.treeId(), "the log: LSN " + tree.minLsn() + " is below " + belowLsn))
        .orElse(null);
  }

  abstract Comparator<TreeMemory> bestFirst(List<TreeMemory> trees);

  abstract String reason(TreeMemory tree, List<TreeMemory> trees);

  private static String mega(double bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / (1 << 20));
  }
}
