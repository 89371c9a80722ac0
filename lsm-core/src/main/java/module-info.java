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
  requires org.lz4.java;
  requires jdk.jfr;
  requires jdk.management;
  // For I/O past the system's page cache: com.sun.nio.file.ExtendedOpenOption.
  requires jdk.unsupported;
  requires static org.jspecify;

  exports io.isobardb.lsm;
  exports io.isobardb.lsm.error;
  exports io.isobardb.lsm.inspect;
  exports io.isobardb.lsm.observe;
  exports io.isobardb.lsm.option;
  // The tuner's file, for tune-report.
  exports io.isobardb.lsm.tuning to
      io.isobardb.cli;
}
