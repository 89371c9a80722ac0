package io.isobardb.lsm.api;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.observe.Metric;
import io.isobardb.lsm.observe.StoreMXBean;
import io.isobardb.lsm.observe.TreeMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
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
        assertEquals(1, bean.getGets());
        assertEquals(0, bean.getFailed());
        assertEquals(0, bean.getDiskFull());
        assertEquals(Set.of("0.5", "0.99", "0.999"), bean.getGetNanos().keySet());
        for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
          assertTrue(attribute.isReadable() && !attribute.isWritable(), attribute.getName());
          Object read = server.getAttribute(name, attribute.getName());
          assertTrue(read != null || attribute.getName().equals("Failure"), attribute.getName());
        }
        checkDescriptions(name, StoreMXBean.class);
        assertFalse(((TabularData) server.getAttribute(name, "Stalls")).isEmpty());
        assertFalse(cursor.isValid());
      }
    }
    assertFalse(server.isRegistered(name));
    assertThrows(StoreClosedException.class, store::registerMXBean);
  }

  private void checkDescriptions(ObjectName name, Class<?> type) throws Exception {
    Set<String> metrics = new HashSet<>();
    for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
      Metric metric = type.getMethod("get" + attribute.getName()).getAnnotation(Metric.class);
      assertEquals(metric.value(), attribute.getDescription());
      assertEquals(metric.unit(), attribute.getDescriptor().getFieldValue("units"));
      boolean text = metric.kind() == Metric.Kind.TEXT;
      assertEquals(text, metric.name().isEmpty(), attribute.getName());
      assertEquals(
          text,
          metric.unit().isEmpty()
              && !metric.name().endsWith("failed")
              && !metric.name().endsWith("full"),
          attribute.getName());
      assertTrue(text || metrics.add(metric.name()), metric.name() + " twice");
    }
  }

  @Test
  void treesComeAndGo() throws Exception {
    ObjectName all = new ObjectName("io.isobardb:type=Tree,*");
    Path path = dir.resolve("b");
    try (Store store = Store.open(path)) {
      store.openTree("first").put(key(1), value(1, 10));
      store.registerMXBean();
      assertEquals(1, server.queryNames(all, null).size());
      store.openTree("odd, \"name\"*").put(key(1), value(1, 10));
      store.openTree("odd, \"name\"*").get(key(1));
      assertEquals(Set.of("first", "odd, \"name\"*"), store.treeMetrics().keySet());
      for (ObjectName name : server.queryNames(all, null)) {
        TreeMXBean bean = JMX.newMXBeanProxy(server, name, TreeMXBean.class);
        assertEquals(ObjectName.unquote(name.getKeyProperty("name")), bean.getName());
        assertEquals(1, bean.getPuts());
        assertEquals(bean.getName().equals("first") ? 0 : 1, bean.getGets());
        assertEquals(key(1).length + 10, bean.getUserBytesWritten());
        checkDescriptions(name, TreeMXBean.class);
      }
      TreeMXBean gone = store.treeMetrics().get("first");
      store.dropTree("first");
      assertEquals(1, server.queryNames(all, null).size());
      assertEquals(Set.of("odd, \"name\"*"), store.treeMetrics().keySet());
      assertThrows(TreeDroppedException.class, gone::getGets);
    }
    assertEquals(0, server.queryNames(all, null).size());
  }
}
