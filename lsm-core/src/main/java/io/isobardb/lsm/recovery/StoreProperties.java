package io.isobardb.lsm.recovery;

import io.isobardb.lsm.version.VersionEdit;
import java.util.Map;

/** What a manifest notes, by name, of the store as a whole. */
final class StoreProperties {
  private static final String PAGE_SIZE = "pageSize";

  private StoreProperties() {}

  /** Whether the page size is noted: not so if a crash came before that, and there is no page. */
  static boolean hasPageSize(Map<String, String> properties) {
    return properties.containsKey(PAGE_SIZE);
  }

  /** The size of the store's pages in bytes, or {@code ifMissing} if it is not noted. */
  static int pageSize(Map<String, String> properties, int ifMissing) {
    String noted = properties.get(PAGE_SIZE);
    return noted == null ? ifMissing : Integer.parseInt(noted);
  }

  /** An edit that notes the size of the store's pages in bytes. */
  static VersionEdit.Builder notePageSize(int bytes) {
    return VersionEdit.store().property(PAGE_SIZE, Integer.toString(bytes));
  }
}
