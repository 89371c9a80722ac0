package io.isobardb.zstd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.StoreRepair;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores with the codec, and programs that lack it. */
class ZstdStoreTest {
  private static final int DOCUMENTS = 20_000;

  private static final StoreOptions SMALL = StoreOptions.builder().memoryBudget(32 << 20).build();

  @TempDir Path temp;

  private static byte[] key(int i) {
    return String.format("key%08d", i).getBytes(UTF_8);
  }

  private static byte[] document(int i) {
    String text = "{\"id\":%d,\"name\":\"user %d\",\"email\":\"user%d@example.com\",\"score\":%d}";
    return String.format(text, i, i * 31 % 1000, i * 17, i * 7919L % 100_003).getBytes(UTF_8);
  }

  private void make(Compression compression) {
    try (Store store = Store.open(temp.resolve("store"), SMALL)) {
      Tree tree =
          store.openTree("documents", TreeOptions.builder().compression(compression).build());
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < DOCUMENTS; i++) {
          tree.put(key(i), document(i));
        }
        tree.compact(null, null);
      }
    }
  }

  private static void assertHolds(Path path) {
    try (Store store = Store.open(path, SMALL)) {
      Tree tree = store.tree("documents");
      try (Cursor cursor = tree.cursor()) {
        boolean more = cursor.first();
        for (int i = 0; i < DOCUMENTS; i++) {
          assertTrue(more);
          assertArrayEquals(document(i), cursor.value());
          more = cursor.next();
        }
      }
      assertArrayEquals(document(77), tree.get(key(77)));
    }
  }

  private long tableBytes(String codec) throws Exception {
    long bytes = 0;
    try (StoreInspector inspector = StoreInspector.open(temp.resolve("store"), SMALL)) {
      assertEquals(List.of(), inspector.check((file, done, all) -> {}).findings());
      for (StoredTree.Run run : inspector.trees().get(0).runs()) {
        for (StoredTree.Table table : run.tables()) {
          assertTrue(table.format().codec().startsWith(codec), table::toString);
          bytes += table.bytes();
        }
      }
    }
    return bytes;
  }

  @Test
  void documentsShrinkAndComeBack() throws Exception {
    make(Compression.NONE);
    long plain = tableBytes("NONE");
    make(Compression.LZ4.last("ZSTD"));
    long packed = tableBytes("ZSTD with a dictionary of");
    assertTrue(packed < 0.4 * plain, packed + " of " + plain);
    assertHolds(temp.resolve("store"));
    StoreRepair.run(
        temp.resolve("store"), temp.resolve("repaired"), SMALL, (file, done, all) -> {});
    assertHolds(temp.resolve("repaired"));
  }

  /** The engine without this module. */
  private static URLClassLoader without() throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!entry.contains("lsm-zstd")) {
        urls.add(Path.of(entry).toUri().toURL());
      }
    }
    return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }

  private static String message(Class<?> type, String method, Object... arguments) {
    for (var candidate : type.getMethods()) {
      if (candidate.getName().equals(method) && candidate.getParameterCount() == arguments.length) {
        InvocationTargetException e =
            assertThrows(InvocationTargetException.class, () -> candidate.invoke(null, arguments));
        assertEquals("FormatException", e.getCause().getClass().getSimpleName());
        return e.getCause().getMessage();
      }
    }
    throw new AssertionError(method);
  }

  @Test
  void aProgramWithoutItIsToldWhatToAdd() throws Exception {
    make(Compression.LZ4.last("ZSTD"));
    Path store = temp.resolve("store");
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (URLClassLoader loader = without()) {
      Thread.currentThread().setContextClassLoader(loader);
      Object options =
          loader.loadClass(StoreOptions.class.getName()).getMethod("defaults").invoke(null);
      Object progress =
          java.lang.reflect.Proxy.newProxyInstance(
              loader,
              new Class<?>[] {loader.loadClass(CheckProgress.class.getName())},
              (proxy, method, arguments) -> null);
      Class<?> opening = loader.loadClass(Store.class.getName());
      String told = message(opening, "open", store, options);
      assertTrue(
          told.contains(
              "tree 'documents' is compressed by the codec 'ZSTD', which this program does not have;"
                  + " add the artifact io.isobardb:lsm-zstd"),
          told);
      Class<?> repair = loader.loadClass(StoreRepair.class.getName());
      Path target = temp.resolve("other");
      told = message(repair, "run", store, target, options, progress);
      assertTrue(told.contains("add the artifact io.isobardb:lsm-zstd"), told);
      Class<?> inspector = loader.loadClass(StoreInspector.class.getName());
      Object open = inspector.getMethods()[0];
      for (var method : inspector.getMethods()) {
        open = method.getName().equals("open") ? method.invoke(null, store, options) : open;
      }
      try (AutoCloseable closed = (AutoCloseable) open) {
        Object inspected = closed;
        InvocationTargetException e =
            assertThrows(
                InvocationTargetException.class,
                () ->
                    inspector
                        .getMethod("check", loader.loadClass(CheckProgress.class.getName()))
                        .invoke(inspected, progress));
        assertTrue(e.getCause().getMessage().contains("lsm-zstd"), () -> e.getCause().toString());
      }
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
    assertHolds(store);
  }
}
