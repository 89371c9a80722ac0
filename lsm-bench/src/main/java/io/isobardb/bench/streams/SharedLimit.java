package io.isobardb.bench.streams;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.WriteBufferManager;

/**
 * One cache and one write buffer manager for all of RocksDB's state stores, as Kafka's
 * documentation describes it. Half of the memory is for write buffers, which are counted in the
 * cache.
 */
public final class SharedLimit implements RocksDBConfigSetter {
  /** How many bytes all state stores share; a property of the application's configuration. */
  static final String MEMORY = "bench.rocksdb.memory";

  private static final double INDEX_AND_FILTER_SHARE = 0.1;

  private static Cache cache;
  private static WriteBufferManager writeBuffers;

  /** Kafka makes one for each state store. */
  public SharedLimit() {}

  private static synchronized void share(long bytes) {
    if (cache == null) {
      cache = new LRUCache(bytes, -1, false, INDEX_AND_FILTER_SHARE);
      writeBuffers = new WriteBufferManager(bytes / 2, cache);
    }
  }

  @Override
  public void setConfig(String storeName, Options options, Map<String, Object> configs) {
    share(Long.parseLong(String.valueOf(configs.get(MEMORY))));
    BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
    table.setBlockCache(cache);
    table.setCacheIndexAndFilterBlocks(true);
    table.setCacheIndexAndFilterBlocksWithHighPriority(true);
    table.setPinTopLevelIndexAndFilter(true);
    options.setWriteBufferManager(writeBuffers);
    options.setTableFormatConfig(table);
  }

  @Override
  public void close(String storeName, Options options) {
    // The cache and the write buffers are those of all.
  }
}
