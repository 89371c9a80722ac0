package io.isobardb.lsm.schedule;

import io.isobardb.lsm.io.Storage;

/**
 * Deletes files by a job, in pieces. The system takes some 0.2 ms for each megabyte of a file, and
 * the thread that releases an SSTable last may be a reader.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Deletions {
  /** Less than half a millisecond. */
  private static final long PIECE_BYTES = 2 << 20;

  private final DoomedFiles files;
  private final Scheduler scheduler;

  // Guarded by this.
  private boolean hasJob;

  Deletions(Storage storage, Scheduler scheduler) {
    this.files = new DoomedFiles(storage);
    this.scheduler = scheduler;
  }

  /** Has a file deleted that nobody uses any more. */
  void delete(String name) {
    synchronized (this) {
      files.add(name);
      if (hasJob) {
        return;
      }
      hasJob = true;
    }
    try {
      scheduler.submit(new DeletionJob());
    } catch (Throwable e) {
      synchronized (this) {
        hasJob = false; // The next one to be deleted has a job begun for all.
      }
      throw e;
    }
  }

  /** Whether there are others. */
  private synchronized boolean hasNext() {
    hasJob = files.first() != null;
    return hasJob;
  }

  private final class DeletionJob implements Job {
    /** Behind flushes and merges of L0, before deeper merges: these take seconds. */
    @Override
    public Priority priority() {
      return Priority.MERGE_MEMORY;
    }

    @Override
    public String name() {
      return "delete files";
    }

    /**
     * To merges in memory: a flush may wait for the tree that one of them has, and what a large
     * merge leaves can take seconds to delete.
     */
    @Override
    public boolean givesWay() {
      return true;
    }

    @Override
    public boolean step() {
      String name = files.first();
      return name != null && (files.shrink(name, PIECE_BYTES) || deletes(name));
    }

    /** Deletes the first file; whether there are others. */
    private boolean deletes(String name) {
      files.delete(name);
      return hasNext();
    }

    @Override
    public void onFailed(Throwable cause) {
      String name = files.first();
      while (name != null) {
        deletes(name);
        name = files.first();
      }
    }
  }
}
