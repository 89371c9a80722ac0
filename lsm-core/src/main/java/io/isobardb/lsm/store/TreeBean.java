package io.isobardb.lsm.store;

import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.observe.TreeMXBean;

/** A tree seen by JMX. Thread rule: all methods may be called by any thread. */
final class TreeBean implements TreeMXBean {
  private final String name;
  private final Beans source;

  TreeBean(String name, Beans source) {
    this.name = name;
    this.source = source;
  }

  private StoreStats.TreeStats stats() {
    return source.tree(name);
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public long getGets() {
    return stats().operations().gets();
  }

  @Override
  public long getPuts() {
    return stats().operations().puts();
  }

  @Override
  public long getDeletes() {
    return stats().operations().deletes();
  }

  @Override
  public long getScans() {
    return stats().operations().scans();
  }

  @Override
  public long getSteps() {
    return stats().operations().steps();
  }

  @Override
  public long getUserBytesWritten() {
    return stats().operations().bytesWritten();
  }

  @Override
  public double getWriteAmplification() {
    return stats().writeAmplification();
  }

  @Override
  public long getFlushBytesWritten() {
    return stats().flushBytesWritten();
  }

  @Override
  public long getMergeBytesWritten() {
    return stats().mergeBytesWritten();
  }

  @Override
  public long getMergeDebt() {
    return stats().mergeDebtBytes();
  }

  @Override
  public long getMemory() {
    return stats().memoryBytes();
  }

  @Override
  public int getMemoryRuns() {
    return stats().memoryRuns();
  }

  @Override
  public int getL0Groups() {
    return stats().l0Groups();
  }

  @Override
  public int getLevels() {
    return stats().levelBytes().size();
  }

  @Override
  public int getTables() {
    return stats().tables();
  }

  @Override
  public long getDisk() {
    return stats().diskBytes();
  }
}
