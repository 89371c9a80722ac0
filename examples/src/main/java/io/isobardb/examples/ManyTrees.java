package io.isobardb.examples;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.TypedTree;
import io.isobardb.micrometer.IsobarMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;

/** A tree for each of 200 tenants, on one memory budget, with the metrics of each by Micrometer. */
public final class ManyTrees {
  private ManyTrees() {}

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    // begin
    try (Store store = Store.open(Path.of(args[0]), options);
        IsobarMetrics metrics = new IsobarMetrics(store).withTrees()) {
      metrics.bindTo(registry);
      for (int tenant = 0; tenant < 200; tenant++) {
        TypedTree<Long, String> orders =
            TypedTree.of(store.openTree("orders-" + tenant), KeyCodec.ofLong(), Codec.string());
        for (long order = 0; order <= tenant; order++) {
          orders.put(order, "of tenant " + tenant);
        }
      }
      int metered = registry.find("isobar.tree.puts").functionCounters().size();
      System.out.println(store.treeNames().size() + " trees, with meters: " + metered);
    }
    // end
  }
}
