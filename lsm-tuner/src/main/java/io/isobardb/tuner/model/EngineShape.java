package io.isobardb.tuner.model;

/**
 * What {@link EngineModel} has to know of a store: trees of equal size that get equal shares of the
 * writes. Sizes are in entries.
 *
 * @param trees how many, 1 or more
 * @param whole whether flushes take all of a tree, as they do for memory's sake if there are three
 *     or more; otherwise they take slices, round the key space
 * @param memoryEntries what all trees hold together when memory calls for a flush
 * @param activeEntries the size at which a tree's active SSTable is sealed
 * @param logEntries the length of the log, in requests to all trees, at which it calls for a flush
 * @param disk what is known of SSTables and levels
 */
public record EngineShape(
    int trees,
    boolean whole,
    double memoryEntries,
    double activeEntries,
    double logEntries,
    Disk disk) {

  /**
   * SSTables and levels.
   *
   * @param sliceEntries of an SSTable that a flush writes
   * @param tableEntries of an SSTable that a merge writes
   * @param memoryWeight bytes of an entry in memory by those on disk, 1 or more
   * @param l0Groups groups of L0 from which on it is merged down
   * @param sizeRatio how many times larger a level is than the one above it
   * @param tierWeight bytes of an entry in an SSTable of a tier by those in one of a level, 1 or
   *     more
   */
  public record Disk(
      double sliceEntries,
      double tableEntries,
      double memoryWeight,
      int l0Groups,
      double sizeRatio,
      double tierWeight) {
    /**
     * SSTables and levels with entries that take as much in tiers as elsewhere.
     *
     * @param sliceEntries above 0
     * @param tableEntries above 0
     * @param memoryWeight 1 or more
     * @param l0Groups 1 or more
     * @param sizeRatio above 1
     */
    public Disk(
        double sliceEntries,
        double tableEntries,
        double memoryWeight,
        int l0Groups,
        double sizeRatio) {
      this(sliceEntries, tableEntries, memoryWeight, l0Groups, sizeRatio, 1);
    }

    /**
     * Checks the numbers.
     *
     * @param sliceEntries above 0
     * @param tableEntries above 0
     * @param memoryWeight 1 or more
     * @param l0Groups 1 or more
     * @param sizeRatio above 1
     * @param tierWeight 1 or more
     */
    public Disk {
      if (!(sliceEntries > 0 && tableEntries > 0)) {
        throw new IllegalArgumentException(
            "SSTables must hold more than 0, not " + sliceEntries + " and " + tableEntries);
      }
      if (!(memoryWeight >= 1 && tierWeight >= 1) || l0Groups < 1 || !(sizeRatio > 1)) {
        throw new IllegalArgumentException(
            "an entry weighs 1 or more, L0 has 1 group or more, and levels grow, not by "
                + (memoryWeight + ", " + tierWeight + ", " + l0Groups + " and " + sizeRatio));
      }
    }
  }

  /**
   * Checks the numbers.
   *
   * @param trees 1 or more
   * @param whole whether flushes take all of a tree
   * @param memoryEntries above 0
   * @param activeEntries above 0
   * @param logEntries above 0
   * @param disk the same for all trees
   */
  public EngineShape {
    if (trees < 1) {
      throw new IllegalArgumentException("there must be 1 tree or more, not " + trees);
    }
    if (!(activeEntries > 0 && logEntries > 0 && logEntries < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "the active SSTable and the log must hold more than 0, and the log has an end, not "
              + (activeEntries + " and " + logEntries));
    }
    double least = whole ? 0 : trees * activeEntries + disk.sliceEntries() / 2;
    if (!(memoryEntries > least)) {
      throw new IllegalArgumentException(
          "memory must hold more than active SSTables and half a slice, "
              + (least + ", not " + memoryEntries));
    }
  }

  /**
   * {@return the same store, given how much its memory holds on average: half a slice less than at
   * most}
   *
   * @param meanEntries of all trees together
   */
  public EngineShape holding(double meanEntries) {
    double most = meanEntries + (whole ? 0 : disk.sliceEntries() / 2);
    return new EngineShape(trees, whole, most, activeEntries, logEntries, disk);
  }

  /**
   * {@return the same store, given what an entry takes in a tier by what it takes in a level}
   *
   * @param tierWeight 1 or more
   */
  public EngineShape weighing(double tierWeight) {
    Disk same =
        new Disk(
            disk.sliceEntries,
            disk.tableEntries,
            disk.memoryWeight,
            disk.l0Groups,
            disk.sizeRatio,
            tierWeight);
    return new EngineShape(trees, whole, memoryEntries, activeEntries, logEntries, same);
  }
}
