package io.isobardb.lsm.schedule;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.io.Storage;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Deletes files by a job, in pieces. The system takes some 0.2 ms for each megabyte of a file, and
 * the thread that releases an SSTable last may be a reader.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Deletions {
  /** Less than half a millisecond. */
  private static final long PIECE_BYTES = 2 << 20;

  private final Storage storage;
  private final Scheduler scheduler;

  // Guarded by this.
  private final Queue<String> names = new ArrayDeque<>();
  private boolean hasJob;

  Deletions(Storage storage, Scheduler scheduler) {
    this.storage = storage;
    this.scheduler = scheduler;
  }

  /** Has a file deleted that nobody uses any more. */
  void delete(String name) {
    synchronized (this) {
      names.add(name);
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

  private synchronized @Nullable String first() {
    return names.peek();
  }

  /** The first file is gone, or can't be deleted; whether there are others. */
  private synchronized boolean next() {
    names.remove();
    hasJob = !names.isEmpty();
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

    @Override
    public boolean step() {
      String name = first();
      return name != null && (shrinks(name) || deletes(name));
    }

    /** Whether the file is smaller now; if so, this is to be called again. */
    private boolean shrinks(String name) {
      try {
        return storage.shrink(name, PIECE_BYTES);
      } catch (IOException e) {
        return false; // Whatever it is, deleting the file will tell.
      }
    }

    /** Deletes the first file; whether there are others. */
    private boolean deletes(String name) {
      try {
        storage.delete(name);
      } catch (IOException | DiskFullException e) {
        // Nobody needs the file any more; if it stays, the next open of the store deletes it.
        System.getLogger(Deletions.class.getName())
            .log(Level.WARNING, "could not delete " + name, e);
      }
      return next();
    }

    @Override
    public void onFailed(Throwable cause) {
      String name = first();
      while (name != null) {
        deletes(name);
        name = first();
      }
    }
  }
}
