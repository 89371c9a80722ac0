/**
 * The memory of a store: pages, their pool and its budget, the buffer cache. Users of a store meet
 * its statistics alone.
 */
module io.isobardb.memory {
  requires java.management;
  requires jdk.management;
  // For sun.misc.Unsafe, which frees direct buffers before Java 24.
  requires jdk.unsupported;
  requires static org.jspecify;

  exports io.isobardb.memory.stats;
  exports io.isobardb.memory.cache to
      io.isobardb.lsm,
      io.isobardb.repair;
  exports io.isobardb.memory.page to
      io.isobardb.lsm,
      io.isobardb.repair;
  exports io.isobardb.memory.pool to
      io.isobardb.lsm,
      io.isobardb.repair;
  exports io.isobardb.memory.system to
      io.isobardb.lsm;
}
