package io.isobardb.lsm.merge;

import io.isobardb.lsm.version.Version;
import java.util.List;

/**
 * What a merge policy looks at: one tree.
 *
 * @param version its disk SSTables
 * @param writeMemoryBytes the write memory it holds, averaged over some time so that levels do not
 *     come and go with every flush
 * @param targetBytes the size of an SSTable
 * @param batchBytes what L0 delivers to the levels at a time, without what is overwritten within
 *     it; 0 if that is not known
 * @param running choices for this tree that were made and are not yet in {@code version}
 */
public record MergeView(
    Version version,
    long writeMemoryBytes,
    long targetBytes,
    long batchBytes,
    List<MergeChoice> running) {
  /** Checks the numbers. */
  public MergeView {
    if (writeMemoryBytes < 0 || targetBytes <= 0 || batchBytes < 0) {
      throw new IllegalArgumentException(
          "write memory " + writeMemoryBytes + ", target " + targetBytes + ", batch " + batchBytes);
    }
    running = List.copyOf(running);
  }
}
