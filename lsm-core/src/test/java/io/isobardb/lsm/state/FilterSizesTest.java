package io.isobardb.lsm.state;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.version.GoldenFile;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Tables;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Bits per key of the filters of new SSTables, by where they go. */
class FilterSizesTest {
  @Test
  void bitsAreAsReviewed() throws IOException {
    GoldenFile.check(FilterSizesTest.class, "filter-bits.txt", FilterSizesTest::ask);
  }

  /**
   * The mean, then groups and tiers from the oldest and levels from L1 on with the sizes of their
   * tables. Those of a run have the keys 1, 2 and so on, or as in 3:50 the one that is given.
   */
  private static String ask(List<String> lines) {
    List<VersionEdit.Added> tables = new ArrayList<>();
    int mean = 0;
    int levels = (int) Math.max(1, lines.stream().filter(line -> line.startsWith("L")).count());
    int group = 0;
    int tier = 0;
    int level = 0;
    for (String line : lines) {
      String[] words = line.trim().split("\\s+");
      switch (words[0].charAt(0)) {
        case 'm' -> mean = Integer.parseInt(words[1]);
        case 'g' -> add(tables, Place.group(++group), words);
        case 't' -> add(tables, Place.tier(++tier), words);
        default -> add(tables, Place.level(levels - ++level), words);
      }
    }
    Version version = Version.of(KeyOrder.BYTES, levels, tables);
    StringBuilder answer = new StringBuilder();
    answer.append(line("a flush", FilterSizes.bits(version, null, mean)));
    for (PlacedRun each : version.groups()) {
      answer.append(line(each.place().toString(), FilterSizes.bits(version, each.place(), mean)));
    }
    if (tier > 0) {
      answer.append(line("a tier", FilterSizes.bits(version, Place.TIERS, mean)));
    }
    for (PlacedRun each : version.tiers()) {
      answer.append(line(each.place().toString(), FilterSizes.bits(version, each.place(), mean)));
    }
    for (int height = levels - 1; height >= 0; height--) {
      double bits = FilterSizes.bits(version, Place.level(height), mean);
      answer.append(line("L" + (levels - height), bits));
    }
    return answer.toString();
  }

  private static void add(List<VersionEdit.Added> tables, Place place, String[] words) {
    for (int i = 1; i < words.length; i++) {
      int colon = words[i].indexOf(':');
      int at = colon < 0 ? i : Integer.parseInt(words[i].substring(0, colon));
      String key = String.format(Locale.ROOT, "%03d", at);
      long file = tables.size() + 1;
      long bytes = Long.parseLong(words[i].substring(colon + 1));
      tables.add(new VersionEdit.Added(place, Tables.table(file, key, key, bytes)));
    }
  }

  private static String line(String place, double bits) {
    return String.format(Locale.ROOT, "%s: %.2f\n", place, bits);
  }
}
