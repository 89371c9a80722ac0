package io.isobardb.lsm.recovery;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.LogExtent;
import java.util.Map;

/** What a manifest notes, by name, of the store as a whole. */
public final class StoreProperties {
  private static final String PAGE_SIZE = "pageSize";

  /** Before the number of a tree. */
  private static final String TIME_TO_LIVE = "timeToLive.";

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

  /** How long a tree's entries live, in milliseconds; 0 for ever. */
  public static long timeToLive(Map<String, String> properties, Recovered.Tree tree) {
    String name = TIME_TO_LIVE + tree.definition().id();
    return millis(name, properties.getOrDefault(name, "0"));
  }

  /** Has an edit note that; nothing is noted of what lives for ever. */
  public static void noteTimeToLive(VersionEdit.Builder edit, int treeId, long millis) {
    edit.property(TIME_TO_LIVE + treeId, millis == 0 ? "" : Long.toString(millis));
  }

  /** Has an edit note the last time that a store's clock told; nothing if it told none. */
  public static void noteTime(VersionEdit.Builder edit, long millis) {
    if (millis > 0) {
      edit.property(Catalog.TIME, Long.toString(millis));
    }
  }

  /** Has an edit note of another store how far its clock was, and how long entries live. */
  public static void noteTimes(VersionEdit.Builder edit, Map<String, String> properties) {
    properties.forEach(
        (name, value) -> {
          if (name.equals(Catalog.TIME) || name.startsWith(TIME_TO_LIVE)) {
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
