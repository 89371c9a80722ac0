package io.isobardb.tuner.memory;

import java.util.List;

/**
 * What a store did in one tuning cycle: all that the tuner knows of it.
 *
 * @param cycle number of the cycle, rising
 * @param budgetBytes write memory and buffer cache together: M
 * @param writeMemoryBytes where the wall stood: x; the cache had the rest
 * @param pageBytes size of a page, at least 1
 * @param operations what clients did: op
 * @param queryReadPages pages read from disk for clients: read<sub>q</sub>, times operations
 * @param mergeReadPages pages read from disk for merges: read<sub>m</sub>, times operations
 * @param queryGhostPages those of {@code queryReadPages} that the ghost cache knew:
 *     saved<sub>q</sub>
 * @param mergeGhostPages those of {@code mergeReadPages} that the ghost cache knew:
 *     saved<sub>m</sub>
 * @param ghostBytes by how much more of the budget the cache would have had the pages that the
 *     ghost cache knows: sim; 0 if there is none
 * @param trees the trees; one that wrote, merged and flushed nothing may be left out: its floor is
 *     to be in the tuner's then
 */
public record StoreCycle(
    long cycle,
    long budgetBytes,
    long writeMemoryBytes,
    int pageBytes,
    long operations,
    long queryReadPages,
    long mergeReadPages,
    long queryGhostPages,
    long mergeGhostPages,
    long ghostBytes,
    List<TreeCycle> trees) {

  /**
   * Checks the numbers, and copies the list.
   *
   * @param cycle 0 or more
   * @param budgetBytes 0 or more
   * @param writeMemoryBytes 0 or more
   * @param pageBytes 1 or more
   * @param operations 0 or more
   * @param queryReadPages 0 or more
   * @param mergeReadPages 0 or more
   * @param queryGhostPages 0 or more
   * @param mergeGhostPages 0 or more
   * @param ghostBytes 0 or more
   * @param trees in any order
   * @throws IllegalArgumentException if a number is negative, or there is no page size
   */
  public StoreCycle {
    Check.notNegative("cycle", cycle);
    Check.notNegative("budgetBytes", budgetBytes);
    Check.notNegative("writeMemoryBytes", writeMemoryBytes);
    Check.positive("pageBytes", pageBytes);
    Check.notNegative("operations", operations);
    Check.notNegative("queryReadPages", queryReadPages);
    Check.notNegative("mergeReadPages", mergeReadPages);
    Check.notNegative("queryGhostPages", queryGhostPages);
    Check.notNegative("mergeGhostPages", mergeGhostPages);
    Check.notNegative("ghostBytes", ghostBytes);
    trees = List.copyOf(trees);
  }

  /** {@return what the buffer cache had, in bytes; 0 while the budget is below the write memory} */
  public long cacheBytes() {
    return Math.max(0, budgetBytes - writeMemoryBytes);
  }

  /** {@return bytes that clients wrote per operation, 0 without operations} */
  public double writtenPerOperation() {
    double written = trees.stream().mapToDouble(TreeCycle::writtenBytes).sum();
    return operations > 0 ? written / operations : 0;
  }
}
