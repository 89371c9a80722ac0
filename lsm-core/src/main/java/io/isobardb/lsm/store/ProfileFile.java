package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.io.TextFile;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * What reads asked of a store, kept for whoever looks at it when it is closed: {@link
 * StoreProfile#FILE}. A closing before which nothing was read leaves what there is.
 */
final class ProfileFile {
  /** They take some 300 bytes each. */
  private static final int MOST_TABLES = 4096;

  private ProfileFile() {}

  /** Writes it, unless the store is not to be written to. A failure is told in the log alone. */
  static void write(Engine engine, PagePool pool) {
    boolean mayWrite = engine.failure().cause() == null && !engine.failure().isReadOnly();
    if (!mayWrite || !ProfileCollector.anyReads(engine)) {
      return;
    }
    Storage storage = engine.environment().storage();
    try {
      String json = ProfileCollector.collect(engine).asked(MOST_TABLES).toJson();
      new TextFile(storage, pool, StoreProfile.FILE).replace(json + "\n");
    } catch (IOException | RuntimeException e) {
      SystemLog.tell(
          Level.INFO,
          ProfileFile.class,
          () -> "the profile of reads is not kept: " + storage.path() + ": " + e,
          null);
    }
  }
}
