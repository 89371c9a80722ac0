package io.isobardb.lsm.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.TypedDataset;
import io.isobardb.lsm.typed.TypedIndex;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A class loader that had the engine, and an application that used it, can be freed. */
class ClassLoadersTest {
  private static final int LOADERS = 3;

  /** A thread of the engine that is about to end may hold its class loader for a moment. */
  private static final int MOST_COLLECTIONS = 100;

  @TempDir Path temp;

  /** The application. It is called by a thread that goes on. */
  public static final class Application implements Consumer<Path> {
    @Override
    public void accept(Path directory) {
      StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
      try (Store store = Store.open(directory, options)) {
        store.registerMXBean();
        Tree tree = store.openTree("t");
        tree.put(bytes("k"), bytes("v"));
        store.flush();
        store.runInTransaction(transaction -> transaction.put(tree, bytes("l"), bytes("v")));
        try (Snapshot snapshot = store.snapshot();
            Cursor cursor = tree.cursor()) {
          tree.get(bytes("k"), snapshot);
          cursor.first();
        }
        TypedDataset<Integer, Value> records =
            TypedDataset.open(store, "d", KeyCodec.ofInt(), Value.CODEC, List.of(Value.BY_TEXT));
        records.put(1, new Value("record"));
        records.find(Value.BY_TEXT, "record");
      }
    }

    private static byte[] bytes(String text) {
      return text.getBytes(UTF_8);
    }
  }

  /** A record of the application. */
  private record Value(String text) {
    static final Codec<Value> CODEC =
        Codec.of(value -> value.text.getBytes(UTF_8), bytes -> new Value(new String(bytes, UTF_8)));

    static final TypedIndex<Value, String> BY_TEXT =
        TypedIndex.of("text", KeyCodec.ofString(), value -> List.of(value.text));
  }

  @Test
  void aClassLoaderThatHadTheEngineIsFreed() throws Exception {
    assertFreed();
  }

  @Test
  void soItIsWhileFlightRecorderRecords() throws Exception {
    try (Recording recording = new Recording()) {
      recording.start();
      assertFreed();
    }
  }

  /**
   * All but the newest: method handles of the JDK remember the class loader that used them last,
   * for the {@code equals} of a record, say.
   */
  private void assertFreed() throws Exception {
    List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
    for (int i = 0; i < LOADERS; i++) {
      loaders.add(run(temp.resolve("store-" + i)));
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
    List<URL> urls = new ArrayList<>();
    for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
      urls.add(Path.of(path).toUri().toURL());
    }
    try (URLClassLoader loader =
        new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      Class<?> type = loader.loadClass(Application.class.getName());
      assertNotSame(Application.class, type);
      @SuppressWarnings("unchecked")
      Consumer<Path> application = (Consumer<Path>) type.getConstructor().newInstance();
      application.accept(directory);
      return new WeakReference<>(loader);
    }
  }
}
