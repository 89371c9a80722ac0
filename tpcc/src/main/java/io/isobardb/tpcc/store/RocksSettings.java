package io.isobardb.tpcc.store;

import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * RocksDB as it does best here, under one memory limit: for all that compare with it.
 *
 * @param memoryBytes for one block cache, to which write buffers, filters and indexes are charged
 * @param writeBytes size of all write buffers
 * @param bufferBytes size of one write buffer
 * @param fileBytes size of a file that compactions write
 * @param directIo whether data files bypass the page cache
 * @param log how the log is kept
 */
public record RocksSettings(
    long memoryBytes,
    long writeBytes,
    long bufferBytes,
    long fileBytes,
    boolean directIo,
    RocksLog log) {
  private static final long MIB = 1 << 20;

  /** The least size of a file if the write buffers are small by order, as it is Isobar's. */
  private static final long LEAST_FILE = 256 << 10;

  /** With a quarter for write buffers: more takes from the cache what reads need. */
  public static RocksSettings of(long memoryBytes, boolean directIo, RocksLog log) {
    long writeBytes = Math.min(memoryBytes / 4, 512 * MIB);
    long bufferBytes = Math.max(2 * MIB, Math.min(64 * MIB, writeBytes / 4));
    long fileBytes = Math.max(8 * MIB, bufferBytes);
    return new RocksSettings(memoryBytes, writeBytes, bufferBytes, fileBytes, directIo, log);
  }

  /**
   * With so much for write buffers. One of them takes all of it, since fewer and larger files are
   * better here. Files and levels follow it.
   */
  public RocksSettings withWriteBytes(long bytes) {
    return new RocksSettings(memoryBytes, bytes, bytes, Math.max(LEAST_FILE, bytes), directIo, log);
  }

  /** Sets what column families are to have, save their table format. */
  public ColumnFamilyOptions set(ColumnFamilyOptions options) {
    return options
        .setWriteBufferSize(bufferBytes)
        // The write buffer manager flushes; the count must not stall before it does.
        .setMaxWriteBufferNumber(6)
        .setLevelCompactionDynamicLevelBytes(true)
        // L1 as large as the L0 that goes into it: the least rewriting.
        .setMaxBytesForLevelBase(4 * bufferBytes)
        .setTargetFileSizeBase(fileBytes)
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setBottommostCompressionType(CompressionType.NO_COMPRESSION)
        // Absent from a memtable without a walk of its skip list.
        .setMemtablePrefixBloomSizeRatio(0.05)
        .setMemtableWholeKeyFiltering(true)
        // No rewriting of old files for their age during a run.
        .setTtl(0)
        .setPeriodicCompactionSeconds(0);
  }

  /** Options of the database. */
  public DBOptions dbOptions(WriteBufferManager writeBuffers) {
    return new DBOptions()
        .setCreateIfMissing(true)
        .setCreateMissingColumnFamilies(true)
        .setWriteBufferManager(writeBuffers)
        .setUseDirectReads(directIo)
        .setUseDirectIoForFlushAndCompaction(directIo)
        .setMaxBackgroundJobs(2)
        .setAllowConcurrentMemtableWrite(true)
        .setManualWalFlush(log == RocksLog.BUFFERED)
        .setMaxOpenFiles(-1)
        .setStatsDumpPeriodSec(0)
        .setStatsPersistPeriodSec(0);
  }

  /** How each write is done. */
  public WriteOptions writeOptions() {
    return new WriteOptions().setSync(log == RocksLog.SYNC_EACH_WRITE);
  }

  /** The table format; the filter's bits are the caller's. */
  public BlockBasedTableConfig tableConfig(Cache cache, BloomFilter filter) {
    return new BlockBasedTableConfig()
        .setBlockCache(cache)
        // The unit of a direct read: larger blocks read and search more for one small entry.
        .setBlockSize(4096)
        .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash)
        .setDataBlockHashTableUtilRatio(0.75)
        .setFilterPolicy(filter)
        .setWholeKeyFiltering(true)
        .setOptimizeFiltersForMemory(true)
        .setCacheIndexAndFilterBlocks(true)
        .setCacheIndexAndFilterBlocksWithHighPriority(true)
        .setPinL0FilterAndIndexBlocksInCache(true)
        .setPinTopLevelIndexAndFilter(true)
        .setFormatVersion(6);
  }
}
