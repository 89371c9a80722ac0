package io.isobardb.lsm.flush;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

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
 * there is no other: small flushes, one after another, cost more than they free. For the same
 * reason several small trees are chosen at once: what they have in common is paid for once.
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
   * The trees to flush because memory runs short, the best first; none if none has anything to give
   * that is not busy, or if those that have the minimum are busy: what the others have would make
   * groups of a page or two, and soon L0 would be full of them everywhere.
   *
   * @param trees all trees with write memory, busy ones too
   * @param minimumBytes what each should give back at least
   * @param bytes what they should give back together: where one tree is not enough, others that
   *     have the minimum follow in the order of preference
   */
  public List<FlushChoice> choose(List<TreeMemory> trees, long minimumBytes, long bytes) {
    Comparator<TreeMemory> order =
        bestFirst(trees).thenComparingLong(TreeMemory::minLsn).thenComparingInt(TreeMemory::treeId);
    Predicate<TreeMemory> idle = tree -> !tree.busy() && tree.flushableBytes() > 0;
    List<TreeMemory> worthwhile =
        trees.stream()
            .filter(idle)
            .filter(tree -> tree.flushableBytes() >= minimumBytes)
            .sorted(order)
            .toList();
    if (!worthwhile.isEmpty()) {
      return first(worthwhile, bytes).stream()
          .map(tree -> new FlushChoice(tree.treeId(), name() + ": " + reason(tree, trees)))
          .toList();
    }
    if (trees.stream().anyMatch(tree -> tree.flushableBytes() >= minimumBytes)) {
      return List.of();
    }
    List<TreeMemory> small =
        trees.stream()
            .filter(idle)
            .sorted(
                Comparator.comparingLong(TreeMemory::flushableBytes)
                    .reversed()
                    .thenComparing(order))
            .toList();
    return first(small, bytes).stream()
        .map(
            tree ->
                new FlushChoice(
                    tree.treeId(),
                    "only small ones left: " + mega(tree.flushableBytes()) + " to give back"))
        .toList();
  }

  /** So many of the first trees that together they give back so many bytes, and no more. */
  private static List<TreeMemory> first(List<TreeMemory> trees, long bytes) {
    int count = 0;
    for (long sum = 0; count < trees.size() && (count == 0 || sum < bytes); count++) {
      sum += trees.get(count).flushableBytes();
    }
    return trees.subList(0, count);
  }

  /**
   * The trees to flush because the log is too long, the one with the lowest LSN first, whatever
   * their sizes; none if all that hold it are busy.
   *
   * @param belowLsn where the log should begin; trees with nothing older are left alone
   * @param bytes as for {@link #choose}
   */
  public static List<FlushChoice> chooseForLog(List<TreeMemory> trees, long belowLsn, long bytes) {
    List<TreeMemory> oldest =
        trees.stream()
            .filter(tree -> !tree.busy() && tree.memoryBytes() > 0 && tree.minLsn() < belowLsn)
            .sorted(
                Comparator.comparingLong(TreeMemory::minLsn).thenComparingInt(TreeMemory::treeId))
            .toList();
    return first(oldest, bytes).stream()
        .map(
            tree ->
                new FlushChoice(
                    tree.treeId(), "the log: LSN " + tree.minLsn() + " is below " + belowLsn))
        .toList();
  }

  abstract Comparator<TreeMemory> bestFirst(List<TreeMemory> trees);

  abstract String reason(TreeMemory tree, List<TreeMemory> trees);

  private static String mega(double bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / (1 << 20));
  }
}
