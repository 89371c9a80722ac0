package io.isobardb.lsm.dataset;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.ShownKey;

/**
 * A unique index would have had to lead from one index key to two records. Nothing was written, and
 * a transaction in which it happened can go on.
 */
public final class DuplicateKeyException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /** The dataset's name. */
  private final String dataset;

  /** The index's name. */
  private final String index;

  /** The key that two records would have. */
  private final byte[] indexKey;

  /** The key of the record that has it. */
  private final byte[] holder;

  DuplicateKeyException(String dataset, String index, byte[] indexKey, byte[] holder, byte[] key) {
    super(
        "index '"
            + index
            + "' of dataset '"
            + dataset
            + "' is unique, and its key "
            + ShownKey.of(indexKey)
            + " belongs to the record "
            + ShownKey.of(holder)
            + ": record "
            + ShownKey.of(key)
            + " can't have it, too");
    this.dataset = dataset;
    this.index = index;
    this.indexKey = indexKey.clone();
    this.holder = holder.clone();
  }

  /** {@return the name of the dataset} */
  public String dataset() {
    return dataset;
  }

  /** {@return the name of the index} */
  public String index() {
    return index;
  }

  /** {@return what would have been there twice} */
  public byte[] indexKey() {
    return indexKey.clone();
  }

  /** {@return the primary key of the record that has it} */
  public byte[] holder() {
    return holder.clone();
  }
}
