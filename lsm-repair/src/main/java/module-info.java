/**
 * Checks, lists and repairs the files of a store that is not open. A running store needs none of
 * it.
 */
module io.isobardb.repair {
  requires transitive io.isobardb.lsm;
  requires static org.jspecify;

  exports io.isobardb.lsm.inspect;
  exports io.isobardb.repair;
}
