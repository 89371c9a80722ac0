package io.isobardb.lsm.error;

/**
 * The tree was dropped, or is being dropped: thrown by whatever reads from it, writes to it or was
 * taken from it.
 */
public final class TreeDroppedException extends StoreClosedException {
  private static final long serialVersionUID = 1L;

  /** The name of the tree. */
  private final String tree;

  /**
   * The tree is gone.
   *
   * @param tree the name of the tree
   */
  public TreeDroppedException(String tree) {
    super(
        "tree '"
            + tree
            + "' was dropped: Store.createTree and Store.openTree give a new, empty one of this"
            + " name; write batches and transactions that name the old one have to be made anew");
    this.tree = tree;
  }

  /** {@return the name of the tree} */
  public String tree() {
    return tree;
  }
}
