package io.isobardb.lsm.recovery;

import io.isobardb.memory.cache.CacheNeighbours;
import org.jspecify.annotations.Nullable;

/**
 * What the cache asks and tells the other parts of a store. It is made before them, and is alone
 * until there are some. Any thread.
 */
final class CacheLinks implements CacheNeighbours {
  private final Readers readers;
  private volatile @Nullable StoreParts parts;

  CacheLinks(Readers readers) {
    this.readers = readers;
  }

  Readers readers() {
    return readers;
  }

  /** The parts are there. */
  void set(StoreParts made) {
    parts = made;
  }

  @Override
  public int sparePages() {
    StoreParts made = parts;
    return made == null ? 0 : made.wall().sparePages();
  }

  @Override
  public void askForPages() {
    readers.letGo(true);
  }

  @Override
  public void onMissed() {
    StoreParts made = parts;
    if (made != null) {
      made.onCacheMiss();
    }
  }
}
