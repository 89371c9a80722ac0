package io.isobardb.lsm;

import io.isobardb.lsm.handle.Session;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.recovery.OpenOptions;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.tuning.MemoryWall;
import java.io.IOException;

/** What tests outside of this package need of a store that users do not get. */
public final class OpenStore {
  private OpenStore() {}

  /** Opens a store in an environment, which it closes; so does an open that fails. */
  public static Store in(Environment environment, StoreOptions options) {
    return Store.open(environment, options);
  }

  /** A store as what users take from it knows it. */
  public static Session session(Store store) {
    return store.session();
  }

  /** The same of the store that a tree is in. */
  public static Session session(Tree tree) {
    return tree.session();
  }

  /** A tree as the engine knows it. */
  public static TreeHandle handle(Tree tree) {
    return tree.handle();
  }

  /** What moves the border between a store's write memory and its cache, as the tuner does. */
  public static MemoryWall wall(Store store) {
    return session(store).parts().wall();
  }

  /** Whether a cursor was closed, by whomever. */
  public static boolean isClosed(Cursor cursor) {
    return cursor.isClosed();
  }

  /** Options as the engine takes them. */
  public static OpenOptions options(StoreOptions options) {
    return options.toOpenOptions();
  }

  /** Backups in a storage. */
  public static Backups backups(Storage storage, long bytesPerSecond) throws IOException {
    return Backups.open(storage, bytesPerSecond);
  }
}
