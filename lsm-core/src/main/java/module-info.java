/**
 * An embedded, ordered, durable key-value storage engine: {@link io.isobardb.lsm.Store} is where to
 * begin.
 *
 * <p>What is exported is the API. All else is the engine, and may change.
 */
module io.isobardb.lsm {
  requires transitive io.isobardb.memory;
  requires transitive java.management;
  requires io.isobardb.tuner;
  requires com.dynatrace.hash4j;
  requires jdk.jfr;
  requires jdk.management;
  // For I/O past the system's page cache: com.sun.nio.file.ExtendedOpenOption.
  requires jdk.unsupported;
  requires static org.jspecify;

  uses io.isobardb.lsm.option.PageCodec;

  exports io.isobardb.lsm;
  exports io.isobardb.lsm.error;
  exports io.isobardb.lsm.observe;
  exports io.isobardb.lsm.option;
  // The engine, for those who look at a store that is not open.
  exports io.isobardb.lsm.commit to
      io.isobardb.repair;
  exports io.isobardb.lsm.component to
      io.isobardb.repair;
  exports io.isobardb.lsm.entry to
      io.isobardb.repair;
  exports io.isobardb.lsm.expiry to
      io.isobardb.repair;
  exports io.isobardb.lsm.operand to
      io.isobardb.repair;
  exports io.isobardb.lsm.range to
      io.isobardb.repair;
  exports io.isobardb.lsm.store to
      io.isobardb.repair;
  exports io.isobardb.lsm.io to
      io.isobardb.repair;
  exports io.isobardb.lsm.recovery to
      io.isobardb.repair;
  exports io.isobardb.lsm.sstable to
      io.isobardb.repair;
  exports io.isobardb.lsm.state to
      io.isobardb.repair;
  exports io.isobardb.lsm.version to
      io.isobardb.repair;
  exports io.isobardb.lsm.wal to
      io.isobardb.repair;
  // Sizes as options are given, and the tuner's file, for the command line.
  exports io.isobardb.lsm.setting to
      io.isobardb.cli;
  exports io.isobardb.lsm.tuning to
      io.isobardb.cli;
}
