package io.isobardb.bench.experiment;

import io.isobardb.lsm.TreeOptions;

/**
 * What a store holds when a point begins: as many records in each of some trees.
 *
 * @param trees from 1
 * @param records in each tree
 * @param logged whether the trees' writes go to the log
 */
record Shape(int trees, long records, boolean logged) {
  static final int KEY_BYTES = 16;

  /** With the key and the entry's header a record of 1 KB. */
  static final int VALUE_BYTES = 1000;

  static final int RECORD_BYTES = KEY_BYTES + VALUE_BYTES;

  /** Logged trees. */
  static Shape of(int trees, long records) {
    return new Shape(trees, records, true);
  }

  TreeOptions treeOptions() {
    return TreeOptions.builder().logged(logged).build();
  }
}
