package io.isobardb.lsm.observe;

import io.isobardb.lsm.observe.Metric.Kind;

/**
 * What a store tells of one tree by JMX, once {@link io.isobardb.lsm.Store#registerMXBean} was
 * called, and by {@link io.isobardb.lsm.Store#treeMetrics}; see {@link StoreMXBean}.
 *
 * <p>Thread rule: all methods may be called by any thread. After the tree was dropped, or the store
 * closed, they throw {@code StoreClosedException}.
 */
public interface TreeMXBean {
  @Metric(value = "The name of the tree.", kind = Kind.TEXT)
  String getName();

  @Metric(value = "Keys looked up.", kind = Kind.COUNTER, unit = "operations", name = "tree.gets")
  long getGets();

  @Metric(
      value = "Keys set, in batches and commits, too.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "tree.puts")
  long getPuts();

  @Metric(
      value = "Keys removed, in batches and commits, too.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "tree.deletes")
  long getDeletes();

  @Metric(value = "Cursors opened.", kind = Kind.COUNTER, unit = "operations", name = "tree.scans")
  long getScans();

  @Metric(
      value = "Moves of cursors to the next entry or the one before.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "tree.scan.steps")
  long getSteps();

  @Metric(
      value = "Keys and values that users wrote.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "tree.user.written")
  long getUserBytesWritten();

  @Metric(
      value = "What flushes and merges wrote by what users wrote, since the store " + "was opened.",
      unit = "ratio",
      name = "tree.write.amplification")
  double getWriteAmplification();

  @Metric(
      value = "Written by flushes.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "tree.flush.written")
  long getFlushBytesWritten();

  @Metric(
      value = "Written by disk merges.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "tree.merge.written")
  long getMergeBytesWritten();

  @Metric(value = "About what waits for disk merges.", unit = "bytes", name = "tree.merge.debt")
  long getMergeDebt();

  @Metric(value = "Write memory in use.", unit = "bytes", name = "tree.memory")
  long getMemory();

  @Metric(value = "Sealed runs in memory.", unit = "runs", name = "tree.memory.runs")
  int getMemoryRuns();

  @Metric(value = "Groups in L0.", unit = "groups", name = "tree.l0.groups")
  int getL0Groups();

  @Metric(value = "Levels on disk below L0.", unit = "levels", name = "tree.levels")
  int getLevels();

  @Metric(value = "SSTables on disk.", unit = "tables", name = "tree.tables")
  int getTables();

  @Metric(value = "The size of its SSTables.", unit = "bytes", name = "tree.disk.used")
  long getDisk();
}
