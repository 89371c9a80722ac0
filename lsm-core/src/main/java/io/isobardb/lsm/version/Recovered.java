package io.isobardb.lsm.version;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.range.SavedRanges;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a manifest said when it was opened.
 *
 * @param manifest open for further edits; the caller closes it
 * @param trees all trees, by ascending ID
 * @param counters the store's numbers
 * @param properties of the store
 * @param droppedBytes length of the torn tail that was left out, usually 0
 */
public record Recovered(
    Manifest manifest,
    List<Tree> trees,
    Counters counters,
    Map<String, String> properties,
    long droppedBytes) {

  /** Name of the tree that an SSTable's file belongs to; null if none does. */
  public @Nullable String treeOf(String fileName) {
    for (Tree tree : trees) {
      for (VersionEdit.Added table : tree.tables()) {
        if (table.meta().fileName().equals(fileName)) {
          return tree.definition().name();
        }
      }
    }
    return null;
  }

  /**
   * A tree's version.
   *
   * @param order the order named in the tree's definition
   * @throws CorruptionException if the manifest says what can't be under this order
   */
  public Version version(Tree tree, KeyOrder order) {
    return version(tree, order, Long.MAX_VALUE);
  }

  /** As {@link #version(Tree, KeyOrder)}, with the range deletes up to an LSN alone. */
  public Version version(Tree tree, KeyOrder order, long upTo) {
    try {
      return tree.version(order, upTo);
    } catch (IllegalArgumentException e) {
      throw new CorruptionException(
          manifest.fileName(),
          0,
          "SSTables that can't be: " + e.getMessage(),
          tree.definition().name());
    }
  }

  /**
   * One tree.
   *
   * @param definition what was said when it was created
   * @param flushedLsn entries of this tree with lower LSNs are in SSTables; replay leaves them out
   * @param levels how many levels there are below L0
   * @param tables the SSTables and their places
   * @param ranges the range deletes
   */
  public record Tree(
      TreeDefinition definition,
      long flushedLsn,
      int levels,
      List<VersionEdit.Added> tables,
      Ranges ranges) {

    /** A tree without range deletes. */
    public Tree(
        TreeDefinition definition, long flushedLsn, int levels, List<VersionEdit.Added> tables) {
      this(definition, flushedLsn, levels, tables, Ranges.NONE);
    }

    /**
     * The tree's version.
     *
     * @param order the order named in the definition
     * @throws IllegalArgumentException if an invariant does not hold under this order
     */
    public Version version(KeyOrder order) {
      return version(order, Long.MAX_VALUE);
    }

    private Version version(KeyOrder order, long upTo) {
      List<RangeDelete> deletes =
          ranges.deletes().stream().filter(delete -> delete.lsn() <= upTo).toList();
      return Version.of(order, levels, tables)
          .withRanges(SavedRanges.of(RangeDeletes.of(order, deletes), ranges.deletes().size()));
    }
  }

  /**
   * The range deletes of a tree.
   *
   * @param deletes in the order they came
   * @param lsn all up to this one came, so replay leaves them out
   */
  public record Ranges(List<RangeDelete> deletes, long lsn) {
    static final Ranges NONE = new Ranges(List.of(), 0);
  }

  /**
   * The store's numbers.
   *
   * @param nextFileNumber above all file numbers the manifest was ever told of
   * @param nextTreeId above all IDs of trees that were ever created
   * @param checkpointLsn where unlogged trees stand
   * @param logStartLsn entries of all trees with lower LSNs are in SSTables
   * @param syncedLsn the log was synced up to here; 0 if that is not known
   */
  public record Counters(
      long nextFileNumber, int nextTreeId, long checkpointLsn, long logStartLsn, long syncedLsn) {}
}
