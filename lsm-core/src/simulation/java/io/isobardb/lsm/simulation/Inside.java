package io.isobardb.lsm.simulation;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.store.OpenBackups;
import io.isobardb.lsm.store.OpenCursor;
import io.isobardb.lsm.store.OpenStore;
import io.isobardb.lsm.store.OpenTree;
import io.isobardb.lsm.tuning.MemoryWall;
import java.io.IOException;

/** What tests need of a store that users do not get. */
public final class Inside {
  private Inside() {}

  /** Opens a store in an environment, which it closes; so does an open that fails. */
  public static Store open(Environment environment, StoreOptions options) {
    return OpenStore.open(environment, options);
  }

  /** A store as the engine knows it. */
  public static OpenStore of(Store store) {
    return (OpenStore) store;
  }

  /** The same of the store that a tree is in. */
  public static OpenStore of(Tree tree) {
    return ((OpenTree) tree).store();
  }

  /** A tree as the engine knows it. */
  public static TreeHandle handle(Tree tree) {
    return ((OpenTree) tree).handle();
  }

  /** What moves the border between a store's write memory and its cache, as the tuner does. */
  public static MemoryWall wall(Store store) {
    return of(store).parts().wall();
  }

  /** Whether a cursor was closed, by whomever. */
  public static boolean isClosed(Cursor cursor) {
    return ((OpenCursor) cursor).isClosed();
  }

  /** Backups in a storage. */
  public static Backups backups(Storage storage, long bytesPerSecond) throws IOException {
    return new OpenBackups(BackupDirectory.open(storage), bytesPerSecond, FileAccess.OWNER);
  }
}
