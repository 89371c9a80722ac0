package io.isobardb.lsm.recovery;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.state.Adjustments;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.LogExtent;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What a manifest notes, by name, of the store as a whole. */
public final class StoreProperties {
  private static final String PAGE_SIZE = "pageSize";

  /** Before the number of a tree. */
  private static final String TIME_TO_LIVE = "timeToLive.";

  private static final String RUNS = "runs.";
  private static final String MAX_SPACE = "maxSpace.";
  private static final String COMPRESSION = "compression.";
  private static final List<String> OF_TREES = List.of(TIME_TO_LIVE, RUNS, MAX_SPACE, COMPRESSION);

  private static final int MIN_PAGE_SIZE = 4096;
  private static final int MAX_PAGE_SIZE = 65536;

  private StoreProperties() {}

  /** Whether the page size is noted: not so if a crash came before that, and there is no page. */
  public static boolean hasPageSize(Map<String, String> properties) {
    return properties.containsKey(PAGE_SIZE);
  }

  /**
   * The size of the store's pages in bytes, or {@code ifMissing} if it is not noted.
   *
   * @throws FormatException if it is none that this release knows
   */
  public static int pageSize(Map<String, String> properties, int ifMissing) {
    String noted = properties.get(PAGE_SIZE);
    if (noted == null) {
      return ifMissing;
    }
    for (int size = MIN_PAGE_SIZE; isPageSize(size); size *= 2) {
      if (noted.equals(Integer.toString(size))) {
        return size;
      }
    }
    throw new FormatException(
        "the manifest says that pages have '"
            + noted
            + "' bytes, and this release knows 4096 to 65536; open the store with the release that"
            + " wrote it, or with a later one");
  }

  /** Whether pages of a store can have this size. */
  public static boolean isPageSize(int bytes) {
    return bytes >= MIN_PAGE_SIZE && bytes <= MAX_PAGE_SIZE && Integer.bitCount(bytes) == 1;
  }

  /** The last time that the store's clock told, in milliseconds; 0 if it is not noted. */
  public static long time(Map<String, String> properties) {
    return millis(Catalog.TIME, properties.getOrDefault(Catalog.TIME, "0"));
  }

  /**
   * What was changed of a tree since it was created.
   *
   * @throws FormatException if it is nothing that this release knows
   */
  public static Adjustments adjustments(Map<String, String> properties, int treeId) {
    String life = TIME_TO_LIVE + treeId;
    String runs = RUNS + treeId;
    String space = MAX_SPACE + treeId;
    String packing = properties.get(COMPRESSION + treeId);
    return new Adjustments(
        millis(life, properties.getOrDefault(life, "0")),
        known(runs, properties.getOrDefault(runs, "LEVELED"), OptionKind.RUNS::read),
        known(space, properties.getOrDefault(space, "0"), OptionKind.NUMBER::read),
        packing == null ? null : known(COMPRESSION + treeId, packing, Compression::parse));
  }

  /** How often trees were created or dropped. */
  static long treeChanges(Map<String, String> properties) {
    return number(Catalog.TREE_CHANGES, properties.getOrDefault(Catalog.TREE_CHANGES, "0"), "");
  }

  /** What the manifest knows of the log. */
  public static LogExtent logExtent(Recovered recovered) {
    return new LogExtent(
        Math.max(recovered.counters().logStartLsn(), Lsn.FIRST),
        recovered.counters().syncedLsn(),
        treeChanges(recovered.properties()));
  }

  private static <T> T known(String name, String noted, Function<String, T> kind) {
    try {
      return kind.apply(noted);
    } catch (IllegalArgumentException e) {
      throw new FormatException(
          "the manifest says that "
              + name
              + " is '"
              + noted
              + "', and "
              + e.getMessage()
              + "; open the store with the release that wrote it, or with a later one");
    }
  }

  /** Has an edit note that; nothing is noted of what was not changed, or was changed back. */
  public static void noteAdjustments(VersionEdit.Builder edit, int treeId, Adjustments all) {
    Adjustments none = Adjustments.NONE;
    edit.property(
        TIME_TO_LIVE + treeId,
        all.timeToLive() == none.timeToLive() ? "" : Long.toString(all.timeToLive()));
    edit.property(RUNS + treeId, all.runs().equals(none.runs()) ? "" : all.runs().toString());
    edit.property(
        MAX_SPACE + treeId,
        all.maxSpace() == none.maxSpace() ? "" : Double.toString(all.maxSpace()));
    Compression compression = all.compression();
    edit.property(COMPRESSION + treeId, compression == null ? "" : compression.toString());
  }

  /** Has an edit note the last time that a store's clock told; nothing if it told none. */
  public static void noteTime(VersionEdit.Builder edit, long millis) {
    if (millis > 0) {
      edit.property(Catalog.TIME, Long.toString(millis));
    }
  }

  /** Has an edit note of another store how far its clock was, and what was changed of its trees. */
  public static void noteOthers(VersionEdit.Builder edit, Map<String, String> properties) {
    properties.forEach(
        (name, value) -> {
          if (name.equals(Catalog.TIME) || OF_TREES.stream().anyMatch(name::startsWith)) {
            edit.property(name, value);
          }
        });
  }

  private static long millis(String name, String noted) {
    return number(name, noted, " of milliseconds");
  }

  private static long number(String name, String noted, String unit) {
    try {
      long number = Long.parseLong(noted);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new FormatException(
        "the manifest says that "
            + name
            + " is '"
            + noted
            + "', and this release knows numbers"
            + unit
            + "; open the store with the release that wrote it, or with a later one");
  }

  /** An edit that notes the size of the store's pages in bytes. */
  public static VersionEdit.Builder notePageSize(int bytes) {
    return VersionEdit.store().property(PAGE_SIZE, Integer.toString(bytes));
  }
}
