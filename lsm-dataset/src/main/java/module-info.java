/**
 * Records with secondary indexes ({@link io.isobardb.lsm.dataset.Dataset}), keys and values with
 * types ({@link io.isobardb.lsm.typed.TypedTree}), and {@link io.isobardb.lsm.recipe recipes}.
 * Built on the public API of a store alone.
 */
module io.isobardb.dataset {
  requires transitive io.isobardb.lsm;
  requires static org.jspecify;

  exports io.isobardb.lsm.dataset;
  exports io.isobardb.lsm.recipe;
  exports io.isobardb.lsm.typed;
}
