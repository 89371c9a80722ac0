package io.isobardb.examples;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.TypedTree;
import java.nio.file.Path;

/** An import of sorted entries, which go to disk once, and are there all at once or not at all. */
public final class Import {
  private Import() {}

  record Reading(int sensor, double value) {}

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    // begin
    try (Store store = Store.open(Path.of(args[0]))) {
      Tree tree = store.openTree("readings");
      KeyCodec<Long> keys = KeyCodec.ofLong();
      Codec<Reading> values = Codec.of(Reading.class);
      try (BulkLoad load = store.bulkLoad(tree)) {
        for (long i = -50_000; i < 50_000; i++) {
          load.add(tree, keys.encode(i), values.encode(new Reading((int) i % 7, i / 10.0)));
        }
        System.out.println("before: " + tree.contains(keys.encode(5L)));
        load.commit();
      }
      System.out.println("after: " + TypedTree.of(tree, keys, values).get(5L));
    }
    // end
  }
}
