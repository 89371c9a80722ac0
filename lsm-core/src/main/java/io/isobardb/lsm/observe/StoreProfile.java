package io.isobardb.lsm.observe;

import java.util.ArrayList;
import java.util.List;

/**
 * Where reads of a store go: what they have asked of each run and SSTable on disk, since the store
 * was opened or the SSTable was written, whichever came later. One single get in 64 is counted, so
 * its figures are for comparing runs and SSTables with each other. A merge begins anew, as its
 * SSTables are others.
 *
 * <pre>{@code
 * for (StoreProfile.TreeProfile profile : store.profile().trees()) {
 *   for (StoreProfile.RunProfile run : profile.runs()) {
 *     long pages = run.reads().pagesRead();
 *     System.out.println(profile.name() + " " + run.place() + ": " + pages + " pages");
 *   }
 * }
 * }</pre>
 *
 * @param trees by name
 */
public record StoreProfile(List<TreeProfile> trees) {
  /**
   * The file in a store's directory that holds {@link #toJson} of the last closing, as far as
   * something was {@link #asked}.
   */
  public static final String FILE = "PROFILE";

  /**
   * One tree.
   *
   * @param name the tree's
   * @param lookups gets that were counted
   * @param foundOnDisk those of them that a run on disk answered
   * @param absent those of them that nothing answered
   * @param runs on disk, from the newest to the oldest
   */
  public record TreeProfile(
      String name, long lookups, long foundOnDisk, long absent, List<RunProfile> runs) {}

  /**
   * A run on disk.
   *
   * @param place where it stands: {@code L0/7} is group 7 of L0, {@code tier/3} a tier, {@code
   *     last} the last level, {@code last-1} the one above
   * @param bytes the size of its SSTables
   * @param tableCount how many it has
   * @param reads what was asked of all of them
   * @param tables its SSTables, in the order of keys
   */
  public record RunProfile(
      String place, long bytes, int tableCount, TableReadStats reads, List<TableProfile> tables) {}

  /**
   * An SSTable.
   *
   * @param file its name
   * @param bytes its size
   * @param minKey its first key in hexadecimal digits, {@value #MOST_KEY_BYTES} bytes of it at most
   * @param maxKey its last key, likewise
   * @param reads what was asked of it
   */
  public record TableProfile(
      String file, long bytes, String minKey, String maxKey, TableReadStats reads) {
    /** How much of a key is told. */
    public static final int MOST_KEY_BYTES = 24;
  }

  /**
   * What was asked of SSTables.
   *
   * @param asked lookups whose key lay between their first key and their last one
   * @param passed those of them that a filter let pass
   * @param found those of them that found the key
   * @param deleted those of them that found that the key is deleted
   * @param cursors how often cursors were placed in them
   * @param pagesRead pages that were read from their files for gets and cursors
   */
  public record TableReadStats(
      long asked, long passed, long found, long deleted, long cursors, long pagesRead) {
    /** Nothing was asked. */
    public static final TableReadStats NONE = new TableReadStats(0, 0, 0, 0, 0, 0);

    /** {@return lookups that a filter let pass in vain} */
    public long falsePositives() {
      return passed - found - deleted;
    }

    /**
     * {@return the sum of these and others}
     *
     * @param others of another SSTable, or of others
     */
    public TableReadStats plus(TableReadStats others) {
      return new TableReadStats(
          asked + others.asked,
          passed + others.passed,
          found + others.found,
          deleted + others.deleted,
          cursors + others.cursors,
          pagesRead + others.pagesRead);
    }
  }

  /**
   * {@return the same without trees and SSTables of which nothing was asked, and with so many
   * SSTables at most: what runs say counts all of them nevertheless}
   *
   * @param most how many SSTables, counted from the first tree and run on; 0 or more
   */
  public StoreProfile asked(int most) {
    List<TreeProfile> asked = new ArrayList<>();
    int left = most;
    for (TreeProfile tree : trees) {
      List<RunProfile> runs = new ArrayList<>();
      for (RunProfile run : tree.runs) {
        List<TableProfile> tables =
            run.tables.stream()
                .filter(table -> !table.reads.equals(TableReadStats.NONE))
                .limit(left)
                .toList();
        left -= tables.size();
        runs.add(new RunProfile(run.place, run.bytes, run.tableCount, run.reads, tables));
      }
      if (tree.lookups > 0 || runs.stream().anyMatch(run -> !run.tables.isEmpty())) {
        asked.add(new TreeProfile(tree.name, tree.lookups, tree.foundOnDisk, tree.absent, runs));
      }
    }
    return new StoreProfile(asked);
  }

  /** {@return all of it as one JSON object} */
  public String toJson() {
    return Json.of(this);
  }
}
