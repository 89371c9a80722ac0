/** Keys and values as Netty's buffers: {@link io.isobardb.netty.NettyTree}. */
module io.isobardb.netty {
  requires transitive io.isobardb.lsm;
  requires transitive io.netty.buffer;
  requires static org.jspecify;

  exports io.isobardb.netty;
}
