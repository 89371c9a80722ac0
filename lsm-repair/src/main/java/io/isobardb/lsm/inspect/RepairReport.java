package io.isobardb.lsm.inspect;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a repair saved, and what not.
 *
 * @param trees of the new store
 * @param losses what is, or may be, lost; empty if nothing is
 * @param notes what was damaged without harm, or is unusual
 */
public record RepairReport(List<SavedTree> trees, List<Loss> losses, List<String> notes) {
  /**
   * A tree of the new store.
   *
   * @param entries keys that it holds
   */
  public record SavedTree(String name, long entries) {}

  /**
   * Something that can't be read. Keys in the range may be missing from the new store, or have
   * older values there.
   *
   * @param file in the damaged store
   * @param from offset of the first byte
   * @param to offset behind the last byte; below 0 if that is not known, or the file is missing
   * @param tree the tree's name, or null if it may concern any tree
   * @param after all keys lost are behind this one; null if that is not known
   * @param before all keys lost are in front of this one; null if that is not known
   * @param what is wrong
   */
  public record Loss(
      String file,
      long from,
      long to,
      @Nullable String tree,
      byte @Nullable [] after,
      byte @Nullable [] before,
      String what) {}

  /** {@return whether the new store holds all that the damaged one did} */
  public boolean isComplete() {
    return losses.isEmpty();
  }
}
