package io.isobardb.lsm.error;

import org.jspecify.annotations.Nullable;

/**
 * A tree's merge operator threw, or gave too long a value. The operands of the key stay as they
 * are: the key can be read once the operator is mended, or after it was put or deleted.
 */
public final class MergeException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /** The name of the tree. */
  private final String tree;

  /** The key. */
  private final byte[] key;

  /** The name of the operator. */
  private final String operator;

  /**
   * A merge operator has thrown.
   *
   * @param tree the name of the tree
   * @param key the key whose value it was to make
   * @param operator the name of the operator
   * @param what what it did
   * @param cause what it threw; null if it threw nothing
   */
  public MergeException(
      String tree, byte[] key, String operator, String what, @Nullable Throwable cause) {
    super(
        "the merge operator '"
            + operator
            + "' of tree '"
            + tree
            + "' "
            + what
            + " for the key "
            + ShownKey.of(key)
            + "; the operands stay: mend the operator, or put or delete the key");
    if (cause != null) {
      initCause(cause);
    }
    this.tree = tree;
    this.key = key.clone();
    this.operator = operator;
  }

  /** {@return the name of the tree} */
  public String tree() {
    return tree;
  }

  /** {@return the key} */
  public byte[] key() {
    return key.clone();
  }

  /** {@return the name of the operator} */
  public String operator() {
    return operator;
  }
}
