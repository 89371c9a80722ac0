/** Small programs on Isobar, which see of it what every user does. */
module io.isobardb.examples {
  requires io.isobardb.dataset;
  requires io.isobardb.micrometer;
  requires static org.jspecify;
}
