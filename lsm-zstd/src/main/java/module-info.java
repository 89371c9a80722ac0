/** The codec {@code ZSTD} for trees of a store: being on the module path is all it needs. */
module io.isobardb.zstd {
  requires transitive io.isobardb.lsm;
  requires com.github.luben.zstd_jni;
  requires static org.jspecify;

  exports io.isobardb.zstd;

  provides io.isobardb.lsm.option.PageCodec with
      io.isobardb.zstd.ZstdCodec;
}
