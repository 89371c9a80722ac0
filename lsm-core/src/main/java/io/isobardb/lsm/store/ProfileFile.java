package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.io.TextFile;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * What reads asked of a store, kept for whoever looks at it when it is closed: {@link
 * StoreProfile#toJson} of the last closing. A closing before which nothing was read leaves what
 * there is.
 */
final class ProfileFile {
  private ProfileFile() {}

  /** Writes it, unless the store is not to be written to. A failure is told in the log alone. */
  static void write(Engine engine, PagePool pool) {
    if (engine.failure().cause() != null || engine.failure().isReadOnly()) {
      return;
    }
    StoreProfile profile = ProfileCollector.collect(engine);
    if (profile.isEmpty()) {
      return;
    }
    Storage storage = engine.environment().storage();
    try {
      new TextFile(storage, pool, StoreProfile.FILE).replace(profile.toJson() + "\n");
    } catch (IOException | RuntimeException e) {
      System.getLogger(ProfileFile.class.getName())
          .log(Level.INFO, "the profile of reads is not kept: " + storage.path() + ": " + e);
    }
  }
}
