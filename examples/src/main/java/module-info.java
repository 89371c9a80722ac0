/** Small programs on Isobar, which see of it what every user does. */
module io.isobardb.examples {
  requires io.isobardb.dataset;
  requires io.isobardb.micrometer;
  requires io.isobardb.netty;
  requires io.netty.codec;
  requires io.netty.common;
  requires io.netty.transport;
  requires static org.jspecify;
}
