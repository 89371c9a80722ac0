/** Keys and values as Netty's buffers: {@link io.isobardb.netty.NettyTree}. */
module io.isobardb.netty {
  requires transitive io.isobardb.lsm;
  requires transitive io.netty.buffer;
  requires io.netty.common;
  requires static org.jspecify;

  exports io.isobardb.netty;
}
