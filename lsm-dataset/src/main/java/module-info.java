/**
 * Records with secondary indexes ({@link io.isobardb.lsm.dataset.Dataset}), and keys and values
 * with types ({@link io.isobardb.lsm.typed.TypedTree}). Built on the public API of a store alone.
 */
module io.isobardb.dataset {
  requires transitive io.isobardb.lsm;
  requires static org.jspecify;

  exports io.isobardb.lsm.dataset;
  exports io.isobardb.lsm.typed;
}
