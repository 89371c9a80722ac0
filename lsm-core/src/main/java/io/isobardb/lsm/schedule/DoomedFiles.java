package io.isobardb.lsm.schedule;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.Storage;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files that wait for their deletion, in the order in which they came. One that can't be
 * deleted is tried again after another was deleted. What stays until the store is closed, the next
 * opening deletes.
 *
 * <p>Thread rule: all methods may be called by any thread; one thread at a time deletes.
 */
final class DoomedFiles {
  private final Storage storage;

  // Guarded by this.
  private final Queue<String> names = new ArrayDeque<>();
  private final Set<String> failed = new LinkedHashSet<>();

  DoomedFiles(Storage storage) {
    this.storage = storage;
  }

  synchronized void add(String name) {
    names.add(name);
  }

  /** The file whose turn it is; null if there is none. */
  synchronized @Nullable String first() {
    return names.peek();
  }

  /** Makes the first file smaller by so many bytes; false if it is to be deleted now. */
  boolean shrink(String name, long bytes) {
    try {
      return storage.shrink(name, bytes);
    } catch (IOException e) {
      return false; // Whatever it is, deleting the file will tell.
    }
  }

  /** Deletes the first file, or leaves it for later. */
  void delete(String name) {
    boolean deleted = false;
    try {
      storage.delete(name);
      deleted = true;
    } catch (IOException | DiskFullException e) {
      // Nobody needs the file any more.
      if (isNew(name)) {
        SystemLog.tell(Level.WARNING, DoomedFiles.class, () -> "could not delete " + name, e);
      }
    } finally {
      onTried(name, deleted);
    }
  }

  private synchronized boolean isNew(String name) {
    return !failed.contains(name);
  }

  private synchronized void onTried(String name, boolean deleted) {
    names.remove();
    failed.remove(name);
    if (!deleted) {
      failed.add(name); // Behind the others.
      return;
    }
    failed.stream().filter(each -> !names.contains(each)).findFirst().ifPresent(names::add);
  }
}
