package io.isobardb.lsm.dataset;

import java.util.List;

/**
 * What a check of a dataset found.
 *
 * @param records in the primary tree
 * @param indexes those that were ready, each with what was found of it
 */
public record DatasetCheck(long records, List<IndexCheck> indexes) {
  /**
   * Copies the list.
   *
   * @param records in the primary tree
   * @param indexes those that were ready
   */
  public DatasetCheck {
    indexes = List.copyOf(indexes);
  }

  /**
   * What was found of an index.
   *
   * @param index its name
   * @param entries in its tree
   * @param stale entries of an index with validation that do not fit their records any more: no
   *     error
   * @param errors how many entries are missing, or should not be there
   * @param findings the first of the errors, in words
   */
  public record IndexCheck(
      String index, long entries, long stale, long errors, List<String> findings) {
    /**
     * Copies the list.
     *
     * @param index its name
     * @param entries in its tree
     * @param stale entries that do not fit their records any more: no error
     * @param errors how many entries are missing, or should not be there
     * @param findings the first of the errors, in words
     */
    public IndexCheck {
      findings = List.copyOf(findings);
    }
  }

  /** {@return whether nothing is wrong} */
  public boolean isSound() {
    return indexes.stream().allMatch(index -> index.errors() == 0);
  }
}
