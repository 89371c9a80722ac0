package io.isobardb.lsm.event;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.FailingLog;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemLogTest {
  @Test
  void aStoreWritesAndFlushesThoughNothingCanBeLogged(@TempDir Path dir) {
    try (FailingLog log = new FailingLog("io.isobardb.lsm")) {
      try (Store store = Store.open(dir.resolve("store"), SimulatedStores.SMALL)) {
        Tree tree = store.openTree("t");
        // What is flushed for memory's sake is told, for whoever debugs it.
        for (int i = 0; i < 20_000; i++) {
          tree.put(bytes("k" + i), new byte[1000]);
        }
        store.flush();
        assertTrue(log.isAsked());
        assertFalse(store.stats().failed());
        assertTrue(store.stats().flushes() > 0);
        assertEquals(1000, tree.get(bytes("k7")).length);
      }
    }
  }

  @Test
  void aTextThatCanNotBeMadeIsLeftOut() {
    SystemLog.Subject nameless =
        () -> {
          throw new ExceptionInInitializerError("planted");
        };
    SystemLog.tell(Level.ERROR, SystemLogTest.class, nameless, " failed", null);
    SystemLog.tell(Level.ERROR, SystemLogTest.class, nameless::name, null);
  }
}
