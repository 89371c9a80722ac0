/** The metrics of a store for Micrometer: {@link io.isobardb.micrometer.IsobarMetrics}. */
@SuppressWarnings("requires-transitive-automatic")
module io.isobardb.micrometer {
  requires transitive io.isobardb.lsm;
  requires transitive micrometer.core;
  requires static org.jspecify;

  exports io.isobardb.micrometer;
}
