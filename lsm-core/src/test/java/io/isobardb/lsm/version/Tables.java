package io.isobardb.lsm.version;

import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.nio.charset.StandardCharsets;

/** Makes descriptions of SSTables that do not exist. */
public final class Tables {
  private Tables() {}

  /** An SSTable of tree 1 over text keys. */
  public static SSTableMeta table(long file, String min, String max, long sizeBytes) {
    return table(1, file, bytes(min), bytes(max), sizeBytes, 100, 0);
  }

  public static SSTableMeta table(
      int tree, long file, byte[] min, byte[] max, long sizeBytes, long entries, long deletes) {
    return new SSTableMeta(
        file,
        tree,
        7,
        entries,
        deletes,
        min,
        max,
        4096,
        8192,
        5,
        1,
        6,
        3,
        sizeBytes,
        Packing.NONE,
        0,
        SSTableMeta.Expiring.NONE);
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
