package io.isobardb.bench.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;
import org.jspecify.annotations.Nullable;

/**
 * H2's MVStore. Its cache is on the heap; its file goes through the page cache, which no setting
 * bounds.
 *
 * <p>Without synced writes, changes stay on the heap until a background thread commits them: after
 * {@link EngineOptions#LOG_SYNC_MILLIS}, or earlier if the buffer is full (by default after a
 * second). A commit writes to the file without a sync.
 */
final class MvStoreEngine implements Engine {
  private static final int MIB = 1 << 20;

  private final EngineOptions options;
  private final MVStore store;
  private final List<MVMap<byte[], byte[]>> trees = new ArrayList<>();

  private MvStoreEngine(EngineOptions options) {
    this.options = options;
    int cacheMegabytes = (int) Math.max(1, (options.memoryBytes() - bufferBytes(options)) / MIB);
    store =
        new MVStore.Builder()
            .fileName(options.dir().resolve("mvstore.mv").toString())
            .cacheSize(cacheMegabytes)
            .autoCommitBufferSize((int) (bufferBytes(options) >> 10))
            .open();
    store.setAutoCommitDelay(EngineOptions.LOG_SYNC_MILLIS);
    MVMap.Builder<byte[], byte[]> builder =
        new MVMap.Builder<byte[], byte[]>()
            .keyType(ByteArrayDataType.INSTANCE)
            .valueType(ByteArrayDataType.INSTANCE);
    for (int i = 0; i < options.trees(); i++) {
      trees.add(store.openMap("tree" + i, builder));
    }
  }

  static Engine open(EngineOptions options) {
    return new MvStoreEngine(options);
  }

  private static long bufferBytes(EngineOptions options) {
    return Math.min(options.memoryBytes() / 4, 128L * MIB);
  }

  @Override
  public Session openSession() {
    return new MvSession();
  }

  @Override
  public void settle() {
    store.commit();
  }

  @Override
  public long spaceBytes() {
    return Directories.allocatedBytes(options.dir());
  }

  @Override
  public long memoryBytes() {
    return (long) store.getCacheSizeUsed() * MIB + store.getUnsavedMemory();
  }

  @Override
  public String configuration() {
    return String.format(
        "mvstore: cache of %d MB and write buffer of %d MB, both on the heap; %s; buffered file I/O,"
            + " so the page cache comes on top",
        store.getCacheSize(),
        bufferBytes(options) / MIB,
        options.syncWrites()
            ? "committed and synced at each write"
            : "committed every " + EngineOptions.LOG_SYNC_MILLIS + " ms, never synced");
  }

  @Override
  public Map<String, Object> stats() {
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("cacheBytes", (long) store.getCacheSizeUsed() * MIB);
    stats.put("unsavedBytes", store.getUnsavedMemory());
    stats.put("spaceBytes", spaceBytes());
    return stats;
  }

  @Override
  public void close() {
    store.close();
  }

  private final class MvSession implements Session {
    @Override
    public boolean keepsArrays() {
      return true;
    }

    @Override
    public void put(int tree, byte[] key, byte[] value) {
      trees.get(tree).put(key, value);
      syncIfAsked();
    }

    private void syncIfAsked() {
      if (options.syncWrites()) {
        store.commit();
        store.sync();
      }
    }

    @Override
    public int get(int tree, byte[] key, byte[] into) {
      byte[] value = trees.get(tree).get(key);
      if (value == null) {
        return ABSENT;
      }
      System.arraycopy(value, 0, into, 0, Math.min(value.length, into.length));
      return value.length;
    }

    @Override
    public int look(int tree, byte[] key) {
      byte[] value = trees.get(tree).get(key);
      return value == null ? ABSENT : Session.seen(value.length, value.length > 0 ? value[0] : 0);
    }

    @Override
    public void delete(int tree, byte[] key) {
      trees.get(tree).remove(key);
      syncIfAsked();
    }

    @Override
    public int scan(int tree, byte[] from, int limit, Visitor visitor) {
      Cursor<byte[], byte[]> cursor = trees.get(tree).cursor(from);
      int count = 0;
      while (count < limit && cursor.hasNext()) {
        byte[] key = cursor.next();
        byte[] value = cursor.getValue();
        visitor.entry(key, key.length, value, value.length);
        count++;
      }
      return count;
    }

    @Override
    public int scanPrefix(int tree, byte[] prefix, Visitor visitor) {
      Cursor<byte[], byte[]> cursor = trees.get(tree).cursor(prefix);
      int count = 0;
      while (cursor.hasNext()) {
        byte[] key = cursor.next();
        if (!Session.beginsWith(key, key.length, prefix)) {
          break;
        }
        byte[] value = cursor.getValue();
        visitor.entry(key, key.length, value, value.length);
        count++;
      }
      return count;
    }

    @Override
    public List<byte @Nullable []> multiGet(int tree, List<byte[]> keys) {
      MVMap<byte[], byte[]> map = trees.get(tree);
      List<byte @Nullable []> values = new ArrayList<>(keys.size());
      for (byte[] key : keys) {
        values.add(map.get(key));
      }
      return values;
    }

    @Override
    public void close() {}
  }
}
