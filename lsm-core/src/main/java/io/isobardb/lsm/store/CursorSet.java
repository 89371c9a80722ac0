package io.isobardb.lsm.store;

import io.isobardb.lsm.recovery.Readers;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The cursors that are open. Made before the store is, whose parts ask them for memory. */
public final class CursorSet implements Readers {
  final Set<OpenCursor> cursors = ConcurrentHashMap.newKeySet();

  @Override
  public void letGo(boolean pages) {
    for (OpenCursor cursor : cursors) {
      cursor.letGo(pages);
    }
  }
}
