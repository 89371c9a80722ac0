package io.isobardb.lsm.api;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backup;
import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.memory.stats.Ledger;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.management.Attribute;
import javax.management.AttributeNotFoundException;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.Query;
import javax.management.openmbean.OpenType;
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
        BackupMXBean bean = JMX.newMXBeanProxy(server, name, BackupMXBean.class);
        assertEquals(path.toRealPath().toString(), bean.getPath());
        assertEquals(store.path(), bean.getPath());
        assertEquals(8 << 20, bean.getMemoryBudget());
        Ledger ledger = store.metrics().ledger();
        assertEquals(
            ledger.allocatedBytes(),
            ledger.bytes().values().stream().mapToLong(Long::longValue).sum());
        assertEquals(ledger.allocatedBytes(), server.getAttribute(name, "MemoryAllocated"));
        assertEquals(store.stats().logSyncs(), server.getAttribute(name, "LogSyncs"));
        assertEquals(1, server.getAttribute(name, "OpenSnapshots"));
        assertEquals(1, server.getAttribute(name, "OpenCursors"));
        assertTrue((int) server.getAttribute(name, "OpenFiles") > 0);
        assertTrue((long) server.getAttribute(name, "FileHeap") > 0);
        assertTrue((long) server.getAttribute(name, "Disk") > 500_000);
        assertNull(server.getAttribute(name, "Failure"));
        assertEquals(0, ((String[]) server.getAttribute(name, "OpenHandles")).length);
        String json = (String) server.getAttribute(name, "Json");
        assertTrue(json.contains("\"files\":{\"open\":"), json);
        assertEquals(1L, server.getAttribute(name, "Gets"));
        assertEquals(0, server.getAttribute(name, "Failed"));
        assertEquals(0, server.getAttribute(name, "DiskFull"));
        checkAttributes(name);
        assertFalse(cursor.isValid());
      }
    }
    assertFalse(server.isRegistered(name));
    assertThrows(StoreClosedException.class, store::registerMXBean);
    assertThrows(StoreClosedException.class, store::metrics);
  }

  /** All can be read, one by one or at once, and have the types that the bean says. */
  private void checkAttributes(ObjectName name) throws Exception {
    MBeanAttributeInfo[] attributes = server.getMBeanInfo(name).getAttributes();
    for (MBeanAttributeInfo attribute : attributes) {
      assertTrue(attribute.isReadable() && !attribute.isWritable(), attribute.getName());
      Object read = server.getAttribute(name, attribute.getName());
      assertTrue(read != null || attribute.getName().equals("Failure"), attribute.getName());
      OpenType<?> type = (OpenType<?>) attribute.getDescriptor().getFieldValue("openType");
      assertTrue(read == null || type.isValue(read), attribute.getName());
      Attribute set = new Attribute(attribute.getName(), read);
      assertThrows(AttributeNotFoundException.class, () -> server.setAttribute(name, set));
    }
    String[] names = Stream.of(attributes).map(MBeanAttributeInfo::getName).toArray(String[]::new);
    assertEquals(names.length, server.getAttributes(name, names).size());
    assertThrows(AttributeNotFoundException.class, () -> server.getAttribute(name, "None"));
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
      for (ObjectName name : server.queryNames(all, null)) {
        Object tree = server.getAttribute(name, "Name");
        assertEquals(ObjectName.unquote(name.getKeyProperty("name")), tree);
        assertEquals(1L, server.getAttribute(name, "Puts"));
        assertEquals(tree.equals("first") ? 0L : 1L, server.getAttribute(name, "Gets"));
        assertEquals(key(1).length + 10L, server.getAttribute(name, "UserBytesWritten"));
        checkAttributes(name);
      }
      ObjectName first =
          server
              .queryNames(all, Query.eq(Query.attr("Name"), Query.value("first")))
              .iterator()
              .next();
      store.dropTree("first");
      assertEquals(1, server.queryNames(all, null).size());
      assertFalse(server.isRegistered(first));
    }
    assertEquals(0, server.queryNames(all, null).size());
  }

  @Test
  void aBackupIsMadeByWhoeverMayUseJmx() throws Exception {
    Path backups = dir.resolve("backups").toAbsolutePath();
    try (Store store = Store.open(dir.resolve("c"))) {
      store.openTree("t").put(key(1), value(1, 10));
      ObjectName name = store.registerMXBean();
      MBeanOperationInfo[] operations = server.getMBeanInfo(name).getOperations();
      assertEquals(2, operations.length);
      Arrays.sort(
          operations, Comparator.comparingInt(operation -> operation.getSignature().length));
      MBeanParameterInfo rate = operations[1].getSignature()[1];
      assertEquals("bytesPerSecond", rate.getName());
      assertTrue(rate.getDescription().startsWith("How much of the store"));
      assertEquals(operations[0].getName(), operations[1].getName());
      assertEquals(MBeanOperationInfo.ACTION, operations[0].getImpact());
      assertTrue(operations[0].getDescription().startsWith("Backs the store up"));
      MBeanParameterInfo parameter = operations[0].getSignature()[0];
      assertEquals("directory", parameter.getName());
      assertTrue(parameter.getDescription().startsWith("The full path"));
      Object[] arguments = {backups.toString()};
      String[] types = {String.class.getName()};
      assertEquals(1L, server.invoke(name, operations[0].getName(), arguments, types));
      store.tree("t").put(key(2), value(2, 10));
      BackupMXBean bean = JMX.newMXBeanProxy(server, name, BackupMXBean.class);
      assertEquals(2, bean.backup(backups.toString()));
      Object[] limited = {backups.toString(), 1L << 30};
      String[] both = {String.class.getName(), long.class.getName()};
      assertEquals(3L, server.invoke(name, operations[1].getName(), limited, both));
      assertThrows(IllegalArgumentException.class, () -> bean.backup(backups.toString(), 0));
      String within = dir.resolve("c").resolve("backups").toAbsolutePath().toString();
      assertThrows(IllegalArgumentException.class, () -> bean.backup(within, 1 << 20));
      assertFalse(Files.exists(Path.of(within)));
      IllegalArgumentException relative =
          assertThrows(IllegalArgumentException.class, () -> bean.backup("backups"));
      assertTrue(relative.getMessage().contains("full path"), relative.getMessage());
      assertRefused(bean, bean.getPath(), "holds no backups");
      try (Backups open = Backups.open(backups)) {
        assertEquals(4, bean.backup(backups.toString()));
        assertEquals(List.of(1L, 2L, 3L, 4L), open.list().stream().map(Backup::id).toList());
        open.restore(1, dir.resolve("one"));
        open.restore(2, dir.resolve("two"));
      }
    }
    try (Store one = Store.open(dir.resolve("one"));
        Store two = Store.open(dir.resolve("two"))) {
      assertArrayEquals(value(1, 10), one.tree("t").get(key(1)));
      assertNull(one.tree("t").get(key(2)));
      assertArrayEquals(value(2, 10), two.tree("t").get(key(2)));
    }
  }

  /** The exception is one that every console has the class of. */
  private static void assertRefused(BackupMXBean bean, String directory, String why) {
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> bean.backup(directory));
    assertNull(refused.getCause());
    assertTrue(refused.getMessage().contains(directory), refused.getMessage());
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }
}
