package io.isobardb.lsm.recovery;

import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.version.VersionEdit;
import java.util.Map;

/** What a manifest notes, by name, of the store as a whole. */
final class StoreProperties {
  private static final String PAGE_SIZE = "pageSize";
  private static final int MIN_PAGE_SIZE = 4096;
  private static final int MAX_PAGE_SIZE = 65536;

  private StoreProperties() {}

  /** Whether the page size is noted: not so if a crash came before that, and there is no page. */
  static boolean hasPageSize(Map<String, String> properties) {
    return properties.containsKey(PAGE_SIZE);
  }

  /**
   * The size of the store's pages in bytes, or {@code ifMissing} if it is not noted.
   *
   * @throws FormatException if it is none that this release knows
   */
  static int pageSize(Map<String, String> properties, int ifMissing) {
    String noted = properties.get(PAGE_SIZE);
    if (noted == null) {
      return ifMissing;
    }
    for (int size = MIN_PAGE_SIZE; size <= MAX_PAGE_SIZE; size *= 2) {
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

  /** An edit that notes the size of the store's pages in bytes. */
  static VersionEdit.Builder notePageSize(int bytes) {
    return VersionEdit.store().property(PAGE_SIZE, Integer.toString(bytes));
  }
}
