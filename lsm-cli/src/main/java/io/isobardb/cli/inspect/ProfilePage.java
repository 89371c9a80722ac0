package io.isobardb.cli.inspect;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.HeatMap;
import io.isobardb.cli.report.Page;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.lsm.observe.StoreProfile.RunProfile;
import io.isobardb.lsm.observe.StoreProfile.TableProfile;
import io.isobardb.lsm.observe.StoreProfile.TableReadStats;
import io.isobardb.lsm.observe.StoreProfile.TreeProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

/** Where the reads of a store went, as a page to look at: keys across, runs down. */
final class ProfilePage {
  private ProfilePage() {}

  static Page of(String store, StoreProfile profile, TextTable table) {
    Page page =
        new Page("Reads of " + store)
            .lead(profile.trees().stream().map(ProfilePage::lead).toList())
            .table(table);
    for (TreeProfile tree : profile.trees()) {
      if (!tree.runs().isEmpty()) {
        page.heading("Tree " + tree.name())
            .paragraph(
                "From left to right: the keys at which SSTables begin or end, in their order and"
                    + " equally far from each other. From top to bottom: runs, the newest first. The"
                    + " darkest SSTable has the most per megabyte.")
            .heatMap(map("Gets that came to it", tree, TableReadStats::asked))
            .heatMap(
                map("Gets that a filter let pass in vain", tree, TableReadStats::falsePositives))
            .heatMap(map("Cursors placed in it", tree, TableReadStats::cursors))
            .heatMap(map("Pages read from its file", tree, TableReadStats::pagesRead));
      }
    }
    return page;
  }

  private static String lead(TreeProfile tree) {
    double all = Math.max(1, tree.lookups());
    return String.format(
        Locale.ROOT,
        "Tree %s: of %,d gets that were counted, runs on disk answered %.0f %%, and nothing %.0f %%.",
        tree.name(),
        tree.lookups(),
        100 * tree.foundOnDisk() / all,
        100 * tree.absent() / all);
  }

  private static HeatMap map(
      String title, TreeProfile tree, ToLongFunction<TableReadStats> figure) {
    List<String> bounds = bounds(tree);
    List<HeatMap.Row> rows = new ArrayList<>();
    for (RunProfile run : tree.runs()) {
      List<HeatMap.Cell> cells = new ArrayList<>();
      for (TableProfile table : run.tables()) {
        long value = figure.applyAsLong(table.reads());
        cells.add(
            new HeatMap.Cell(
                place(bounds, table.minKey()),
                place(bounds, table.maxKey()),
                value / Math.max(1.0, table.bytes() / (double) (1 << 20)),
                table.file() + ", " + ByteSize.format(table.bytes()) + ": " + value));
      }
      rows.add(new HeatMap.Row(run.place(), cells));
    }
    return new HeatMap(title, rows);
  }

  /** The first and last keys of all SSTables, ascending by bytes. */
  private static List<String> bounds(TreeProfile tree) {
    TreeSet<String> all = new TreeSet<>();
    for (RunProfile run : tree.runs()) {
      for (TableProfile table : run.tables()) {
        all.add(table.minKey());
        all.add(table.maxKey());
      }
    }
    return List.copyOf(all);
  }

  private static double place(List<String> bounds, String key) {
    return bounds.indexOf(key) / Math.max(1.0, bounds.size() - 1.0);
  }
}
