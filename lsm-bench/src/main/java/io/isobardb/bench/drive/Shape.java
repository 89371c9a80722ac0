package io.isobardb.bench.drive;

import io.isobardb.lsm.TreeOptions;

/**
 * What a store holds when a load begins: as many records in each of some trees.
 *
 * @param trees from 1
 * @param records in each tree
 * @param keyBytes length of every key
 * @param valueBytes length of every value
 * @param logged whether the trees' writes go to the log
 */
public record Shape(int trees, long records, int keyBytes, int valueBytes, boolean logged) {
  /** Length of the experiments' keys. */
  public static final int KEY_BYTES = 16;

  /** With the key and the entry's header a record of 1 KB. */
  public static final int VALUE_BYTES = 1000;

  /** Length of a key and a value of the experiments together. */
  public static final int RECORD_BYTES = KEY_BYTES + VALUE_BYTES;

  /** Logged trees of records of 1 KB. */
  public static Shape of(int trees, long records) {
    return new Shape(trees, records, KEY_BYTES, VALUE_BYTES, true);
  }

  /** The same trees, unlogged. */
  public Shape unlogged() {
    return new Shape(trees, records, keyBytes, valueBytes, false);
  }

  /** The options of each tree. */
  public TreeOptions treeOptions() {
    return TreeOptions.builder().logged(logged).build();
  }
}
