package io.isobardb.lsm.api;

/**
 * What a user's own program wants of a store's bean: it names what it uses, and JMX does the rest.
 */
public interface BackupMXBean {
  String getPath();

  long getMemoryBudget();

  long backup(String directory);

  long backup(String directory, long bytesPerSecond);
}
