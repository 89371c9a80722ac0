package io.isobardb.bench.latency;

import io.isobardb.bench.engine.IsobarEngine;
import io.isobardb.bench.record.RecordOption;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Recording;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.policy.TreeShape;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** Isobar as a target. */
final class Stores {
  private static final String PREFIX = "isobar.";

  /** Not those of the machine, since runs are to be alike on any. */
  private static final int BACKGROUND_THREADS = 2;

  private static final int MAX_OPEN_FILES = 1000;

  private Stores() {}

  /**
   * The store's options.
   *
   * @throws UsageException if one is unknown, or out of its range
   */
  static StoreOptions options(LatencySpec spec) {
    Properties properties = new Properties();
    properties.setProperty(PREFIX + "memoryBudget", Long.toString(spec.machine().memoryBytes()));
    properties.setProperty(PREFIX + "backgroundThreads", Integer.toString(BACKGROUND_THREADS));
    properties.setProperty(PREFIX + "maxOpenFiles", Integer.toString(MAX_OPEN_FILES));
    spec.options().forEach((name, value) -> properties.setProperty(PREFIX + name, value));
    return UsageException.ofArguments(() -> StoreOptions.fromProperties(properties, PREFIX));
  }

  /**
   * The options of its tree.
   *
   * @throws UsageException if the store's space does not allow its runs
   */
  static TreeOptions treeOptions(LatencySpec spec) {
    double space = options(spec).maxSpace();
    UsageException.ofArguments(() -> new TreeShape(spec.tree().runs(), space).check());
    return spec.tree();
  }

  /** Begins to record a store, if the run is to be recorded. */
  static @Nullable Recording record(Store store, LatencySpec spec) {
    LatencySpec.RecordingFile file = spec.recording();
    return file == null ? null : RecordOption.start(store, file.path(), file.oneKeyIn());
  }

  /** A target for one client. */
  static Target target(Store store, Tree tree) {
    return new Target(
        IsobarEngine.session(List.of(tree)), (keys, values) -> write(store, tree, keys, values));
  }

  private static void write(Store store, Tree tree, byte[][] keys, byte[][] values) {
    WriteBatch batch = store.newBatch();
    for (int i = 0; i < keys.length; i++) {
      batch.put(tree, keys[i], values[i]);
    }
    store.write(batch, Durability.SYNC);
  }
}
