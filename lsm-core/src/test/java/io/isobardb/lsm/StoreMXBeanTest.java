package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.StoreMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.TabularData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreMXBeanTest {
  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

  @TempDir Path dir;

  @Test
  void jmxSeesWhatTheStatisticsSayUntilTheStoreIsClosed() throws Exception {
    ObjectName name;
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    Path path = dir.resolve("a, \"store\"");
    try (Store fresh = Store.open(path, options)) {
      Tree tree = fresh.openTree("t");
      for (int i = 0; i < 5000; i++) {
        tree.put(key(i), value(i, 100));
      }
      fresh.flush();
    }
    Store store = Store.open(path, options);
    try (store) {
      assertEquals(0, server.queryNames(new ObjectName("io.isobardb:*"), null).size());
      Tree tree = store.openTree("t");
      assertNotNull(tree.get(key(7)));
      try (Snapshot snapshot = store.snapshot();
          Cursor cursor = tree.cursor(CursorOptions.all().snapshot(snapshot))) {
        name = store.registerMXBean();
        assertThrows(IllegalStateException.class, store::registerMXBean);
        StoreMXBean bean = JMX.newMXBeanProxy(server, name, StoreMXBean.class);
        assertEquals(path.toRealPath().toString(), bean.getPath());
        assertEquals(8 << 20, bean.getMemoryBudget());
        assertEquals(
            bean.getMemoryAllocated(),
            bean.getMemoryByPurpose().values().stream().mapToLong(Long::longValue).sum());
        assertEquals(store.stats().logSyncs(), bean.getLogSyncs());
        assertEquals(1, bean.getOpenSnapshots());
        assertEquals(1, bean.getOpenCursors());
        assertTrue(bean.getOpenFiles() > 0);
        assertTrue(bean.getFileHeap() > 0);
        assertTrue(bean.getDisk() > 500_000);
        assertNull(bean.getFailure());
        assertEquals(0, bean.getOpenHandles().size());
        assertTrue(bean.getJson().contains("\"files\":{\"open\":"), bean.getJson());
        for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
          assertTrue(attribute.isReadable() && !attribute.isWritable(), attribute.getName());
          Object read = server.getAttribute(name, attribute.getName());
          assertTrue(read != null || attribute.getName().equals("Failure"), attribute.getName());
        }
        assertFalse(((TabularData) server.getAttribute(name, "Stalls")).isEmpty());
        assertFalse(cursor.isValid());
      }
    }
    assertFalse(server.isRegistered(name));
    assertThrows(StoreClosedException.class, store::registerMXBean);
  }
}
