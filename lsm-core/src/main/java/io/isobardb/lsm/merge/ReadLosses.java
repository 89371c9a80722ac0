package io.isobardb.lsm.merge;

import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import java.util.HashMap;
import java.util.Map;

/**
 * What reads have lost by passing SSTables of a tree, and what it costs to merge them down.
 * Immutable.
 *
 * <p>Nobody knows how many reads are to come. So SSTables are merged down once those that were have
 * lost as much as that costs, as {@link MemoryMerging} does in memory. That comes to about twice
 * what would have been best if the worst comes, and to nothing where nobody reads, or where filters
 * and the cache answer. What an SSTable has lost goes with it: what is merged anew has to lose as
 * much again.
 *
 * @param pages lost, by the number of the SSTable's file
 * @param lossBytes bytes that a merge rewrites in the time that a lost page takes
 * @param written weight of a page that a merge writes
 * @param read weight of a page that is read, by readers or merges
 */
public record ReadLosses(Map<Long, Double> pages, int lossBytes, double written, double read) {
  /** Copies the map. */
  public ReadLosses {
    pages = Map.copyOf(pages);
  }

  /** What reads have lost by passing SSTables of a tree, by the numbers of their files. */
  public static Map<Long, Double> pagesLost(TreeHandle tree) {
    Map<Long, Double> lost = new HashMap<>();
    double passedPart = tree.memory().readLoss().scans().passedPart();
    for (Run run : tree.states().current().disk()) {
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored) {
          double pages = stored.content().reads().pagesLost(passedPart);
          if (pages > 0) {
            lost.put(stored.content().meta().fileNumber(), pages);
          }
        }
      }
    }
    return lost;
  }

  /** Pages that were read for readers from a tree's files. */
  static long pagesRead(TreeHandle tree) {
    long all = 0;
    for (Run run : tree.states().current().disk()) {
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored) {
          all += stored.content().reads().pagesRead();
        }
      }
    }
    return all;
  }

  double of(SSTableMeta table) {
    return of(table.fileNumber());
  }

  double of(long file) {
    return pages.getOrDefault(file, 0.0);
  }

  /** What reads have lost by passing what a merge takes down, by the merge's price. */
  double worth(MergeChoice choice) {
    double lost = 0;
    for (MergeChoice.Input input : choice.inputs()) {
      if (!input.place().equals(choice.output())) {
        lost += input.tables().stream().mapToDouble(table -> of(table)).sum();
      }
    }
    // What moves is not rewritten.
    double bytes = choice.kind() == MergeChoice.Kind.MOVE ? 0 : choice.inputBytes();
    return lost * read / Math.max(1, bytes / lossBytes * (written + read));
  }
}
