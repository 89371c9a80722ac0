package io.isobardb.lsm.flush;

import io.isobardb.lsm.policy.FlushPolicy;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/**
 * Which trees are flushed: for memory's sake by a {@link FlushPolicy}, for the log's the oldest.
 * Pure functions; any thread.
 *
 * <p>A tree that is busy is never chosen, and one that would give back less than a minimum only if
 * there is no other: small flushes, one after another, cost more than they free. For the same
 * reason several small trees are chosen at once: what they have in common is paid for once.
 */
final class TreeChoice {
  private TreeChoice() {}

  /** A tree to flush, and why this one. */
  record Pick(TreeMemory tree, String reason) {}

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
  static List<Pick> choose(
      FlushPolicy policy, List<TreeMemory> trees, long minimumBytes, long bytes) {
    Comparator<TreeMemory> order =
        bestFirst(policy, trees)
            .thenComparingLong(TreeMemory::minLsn)
            .thenComparingInt(TreeMemory::treeId);
    Predicate<TreeMemory> idle = tree -> !tree.busy() && tree.flushableBytes() > 0;
    List<TreeMemory> worthwhile =
        trees.stream()
            .filter(idle)
            .filter(tree -> tree.flushableBytes() >= minimumBytes)
            .sorted(order)
            .toList();
    if (!worthwhile.isEmpty()) {
      return first(worthwhile, bytes).stream()
          .map(tree -> new Pick(tree, policy + ": " + reason(policy, tree, trees)))
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
                new Pick(
                    tree, "only small ones left: " + mega(tree.flushableBytes()) + " to give back"))
        .toList();
  }

  /** As many of the first trees as it takes to give back that many bytes, and no more. */
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
   * @param trees all that hold the log, those with range deletes alone among them
   * @param belowLsn where the log should begin; trees with nothing older are left alone
   * @param bytes as for {@link #choose}
   */
  static List<Pick> chooseForLog(List<TreeMemory> trees, long belowLsn, long bytes) {
    List<TreeMemory> oldest =
        trees.stream()
            .filter(tree -> !tree.busy() && tree.minLsn() < belowLsn)
            .sorted(
                Comparator.comparingLong(TreeMemory::minLsn).thenComparingInt(TreeMemory::treeId))
            .toList();
    return first(oldest, bytes).stream()
        .map(tree -> new Pick(tree, "the log: LSN " + tree.minLsn() + " is below " + belowLsn))
        .toList();
  }

  private static Comparator<TreeMemory> bestFirst(FlushPolicy policy, List<TreeMemory> trees) {
    return switch (policy) {
      case MAX_MEMORY -> Comparator.comparingLong(TreeMemory::memoryBytes).reversed();
      case MIN_LSN -> Comparator.comparingLong(TreeMemory::minLsn);
      case OPTIMAL -> {
        double perWrite = memoryPerWrite(trees);
        yield Comparator.comparingDouble((TreeMemory tree) -> excess(tree, perWrite)).reversed();
      }
    };
  }

  private static double memoryPerWrite(List<TreeMemory> trees) {
    double memory = trees.stream().mapToLong(TreeMemory::memoryBytes).sum();
    double written = trees.stream().mapToLong(tree -> tree.lately().writtenBytes()).sum();
    return written == 0 ? 0 : memory / written;
  }

  private static double excess(TreeMemory tree, double perWrite) {
    return tree.memoryBytes() - tree.lately().writtenBytes() * perWrite;
  }

  private static String reason(FlushPolicy policy, TreeMemory tree, List<TreeMemory> trees) {
    return switch (policy) {
      case MAX_MEMORY -> mega(tree.memoryBytes()) + ", the most memory";
      case MIN_LSN -> "LSN " + tree.minLsn() + ", the lowest";
      case OPTIMAL ->
          mega(tree.memoryBytes())
              + ", with a share of "
              + mega(tree.lately().writtenBytes() * memoryPerWrite(trees));
    };
  }

  private static String mega(double bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / (1 << 20));
  }
}
