/** The commands for those who run a store. */
module io.isobardb.cli {
  requires transitive io.isobardb.lsm;
  requires io.isobardb.repair;
  requires transitive info.picocli;
  requires io.isobardb.tuner;
  requires com.fasterxml.jackson.jr.ob;
  requires java.logging;
  requires org.apache.logging.log4j;
  requires org.apache.logging.log4j.core;
  // Found by their names, if a log is asked for.
  requires org.apache.logging.log4j.jul;
  requires org.apache.logging.log4j.layout.template.json;
  requires static org.jspecify;

  exports io.isobardb.cli;
  exports io.isobardb.cli.console;

  opens io.isobardb.cli to
      info.picocli;
  opens io.isobardb.cli.console to
      info.picocli;
  opens io.isobardb.cli.inspect to
      info.picocli;
  opens io.isobardb.cli.report to
      info.picocli;
}
