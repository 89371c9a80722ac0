package io.isobardb.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A class loader that had state stores can be freed, as when a web application is redeployed. */
class ClassLoadersTest {
  private static final int LOADERS = 3;
  private static final int MOST_COLLECTIONS = 100;

  @TempDir Path temp;

  /** The application. Nothing is left to a thread of its own. */
  public static final class Application implements Consumer<Path> {
    @Override
    public void accept(Path directory) {
      SharedStore.openIn(new ManualSurroundings());
      KeyValueStore<Bytes, byte[]> store = new MockTask(directory, 0, Map.of()).openCounts();
      Bytes key = Bytes.wrap(new byte[] {1});
      store.put(key, new byte[] {2});
      assertArrayEquals(new byte[] {2}, store.get(key));
      store.close();
      assertEquals(0, IsobarStores.close());
    }
  }

  /** All but the newest: method handles of the JDK remember the class loader that was last. */
  @Test
  void aClassLoaderThatHadStateStoresIsFreed() throws Exception {
    List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
    for (int i = 0; i < LOADERS; i++) {
      loaders.add(run(temp.resolve("state-" + i)));
    }
    for (int left = MOST_COLLECTIONS; left > 0 && count(loaders) > 1; left--) {
      System.gc();
    }
    assertTrue(count(loaders) <= 1, () -> "class loaders left: " + count(loaders));
  }

  private static long count(List<WeakReference<ClassLoader>> loaders) {
    return loaders.stream().filter(loader -> loader.get() != null).count();
  }

  private static WeakReference<ClassLoader> run(Path directory) throws Exception {
    ClassLoader loader = new Apart();
    Class<?> type = loader.loadClass(Application.class.getName());
    assertNotSame(Application.class, type);
    @SuppressWarnings("unchecked")
    Consumer<Path> application = (Consumer<Path>) type.getConstructor().newInstance();
    application.accept(directory);
    return new WeakReference<>(loader);
  }
}
