package io.isobardb.bench.engine;

import io.isobardb.tpcc.store.BackgroundSync;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.lmdbjava.ByteBufferProxy;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.Txn;

/**
 * LMDB through LMDBJava. Its memory is the page cache, which nothing bounds: the memory limit does
 * not apply. One write transaction per put.
 *
 * <p>Without synced writes it has {@code MDB_NOSYNC} and {@code MDB_WRITEMAP}: a commit changes
 * pages of the mapping, which belong to the system and survive the process. The map is synced in
 * the background. If the machine fails in between, pages may have reached the device in any order,
 * so the file may be unreadable. LMDB has no setting that loses recent commits alone: {@code
 * MDB_NOMETASYNC} still syncs the data of each commit.
 */
final class LmdbEngine implements Engine {
  private static final long MAP_BYTES = 1L << 38;
  private static final int PAGE_BYTES = 4096;

  /** More than there are threads in any phase. */
  private static final int MOST_READERS = 2048;

  private final EngineOptions options;
  private final Env<ByteBuffer> env;
  private final List<Dbi<ByteBuffer>> trees = new ArrayList<>();
  private final @Nullable BackgroundSync sync;

  private LmdbEngine(EngineOptions options) {
    this.options = options;
    List<EnvFlags> flags = new ArrayList<>();
    // Read transactions belong to sessions, not to threads; the kernel's read-ahead only evicts
    // what random reads need.
    flags.add(EnvFlags.MDB_NOTLS);
    flags.add(EnvFlags.MDB_NORDAHEAD);
    if (!options.syncWrites()) {
      flags.add(EnvFlags.MDB_NOSYNC);
      flags.add(EnvFlags.MDB_WRITEMAP);
    }
    env =
        Env.create(ByteBufferProxy.PROXY_OPTIMAL)
            .setMapSize(MAP_BYTES)
            .setMaxDbs(options.trees())
            .setMaxReaders(MOST_READERS)
            .open(options.dir().toFile(), flags.toArray(new EnvFlags[0]));
    for (int i = 0; i < options.trees(); i++) {
      trees.add(env.openDbi("tree" + i, DbiFlags.MDB_CREATE));
    }
    sync = options.syncWrites() ? null : new BackgroundSync("lmdb", () -> env.sync(true));
  }

  static Engine open(EngineOptions options) {
    return new LmdbEngine(options);
  }

  @Override
  public Session openSession() {
    return new LmdbSession();
  }

  @Override
  public void settle() {
    env.sync(true);
  }

  @Override
  public long spaceBytes() {
    // The file is sparse and as long as the map.
    return (env.info().lastPageNumber + 1) * PAGE_BYTES;
  }

  @Override
  public long memoryBytes() {
    return -1;
  }

  @Override
  public String configuration() {
    return options.syncWrites()
        ? "lmdb: memory is the page cache and not bounded; synced commits"
        : "lmdb: memory is the page cache and not bounded; NOSYNC, WRITEMAP, synced every "
            + EngineOptions.LOG_SYNC_MILLIS
            + " ms; a crash of the system may lose the file";
  }

  @Override
  public Map<String, Object> stats() {
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("spaceBytes", spaceBytes());
    return stats;
  }

  @Override
  public void close() {
    if (sync != null) {
      sync.close();
    }
    env.sync(true);
    env.close();
  }

  private final class LmdbSession implements Session {
    private ByteBuffer keyBuffer = ByteBuffer.allocateDirect(512);
    private ByteBuffer valueBuffer = ByteBuffer.allocateDirect(4096);
    private byte[] scanKey = new byte[512];
    private byte[] scanValue = new byte[4096];
    private final Txn<ByteBuffer> reader;
    private final @Nullable Cursor<ByteBuffer>[] cursors;

    @SuppressWarnings({"unchecked", "rawtypes"})
    LmdbSession() {
      cursors = new Cursor[trees.size()];
      reader = env.txnRead();
      reader.reset();
    }

    private ByteBuffer key(byte[] key) {
      return keyBuffer.clear().put(key).flip();
    }

    @Override
    public void put(int tree, byte[] key, byte[] value) {
      if (valueBuffer.capacity() < value.length) {
        valueBuffer = ByteBuffer.allocateDirect(2 * value.length);
      }
      valueBuffer.clear().put(value).flip();
      trees.get(tree).put(key(key), valueBuffer);
    }

    @Override
    public int get(int tree, byte[] key, byte[] into) {
      reader.renew();
      try {
        ByteBuffer value = trees.get(tree).get(reader, key(key));
        if (value == null) {
          return ABSENT;
        }
        int length = value.remaining();
        value.get(0, into, 0, Math.min(length, into.length));
        return length;
      } finally {
        reader.reset();
      }
    }

    @Override
    public int look(int tree, byte[] key) {
      reader.renew();
      try {
        ByteBuffer value = trees.get(tree).get(reader, key(key));
        return value == null
            ? ABSENT
            : Session.seen(value.remaining(), value.hasRemaining() ? value.get(0) : 0);
      } finally {
        reader.reset();
      }
    }

    @Override
    public void delete(int tree, byte[] key) {
      trees.get(tree).delete(key(key));
    }

    @Override
    public int scan(int tree, byte[] from, int limit, Visitor visitor) {
      return visit(tree, from, limit, null, visitor);
    }

    @Override
    public int scanPrefix(int tree, byte[] prefix, Visitor visitor) {
      return visit(tree, prefix, Integer.MAX_VALUE, prefix, visitor);
    }

    private int visit(int tree, byte[] from, int limit, byte @Nullable [] prefix, Visitor visitor) {
      reader.renew();
      int count = 0;
      try {
        Cursor<ByteBuffer> cursor = cursor(tree);
        boolean found = cursor.get(key(from), GetOp.MDB_SET_RANGE);
        while (found && count < limit) {
          int keyLength = cursor.key().remaining();
          cursor.key().get(0, scanKey, 0, keyLength);
          if (prefix != null && !Session.beginsWith(scanKey, keyLength, prefix)) {
            break;
          }
          int valueLength = cursor.val().remaining();
          if (scanValue.length < valueLength) {
            scanValue = new byte[2 * valueLength];
          }
          cursor.val().get(0, scanValue, 0, valueLength);
          visitor.entry(scanKey, keyLength, scanValue, valueLength);
          count++;
          found = count < limit && cursor.next();
        }
      } finally {
        reader.reset();
      }
      return count;
    }

    /** The tree's cursor in the reader's transaction, which is the session's and opened once. */
    private Cursor<ByteBuffer> cursor(int tree) {
      Cursor<ByteBuffer> cursor = cursors[tree];
      if (cursor == null) {
        cursor = trees.get(tree).openCursor(reader);
        cursors[tree] = cursor;
      } else {
        cursor.renew(reader);
      }
      return cursor;
    }

    @Override
    public List<byte @Nullable []> multiGet(int tree, List<byte[]> keys) {
      List<byte @Nullable []> values = new ArrayList<>(keys.size());
      reader.renew();
      try {
        for (byte[] key : keys) {
          ByteBuffer found = trees.get(tree).get(reader, key(key));
          byte[] value = null;
          if (found != null) {
            value = new byte[found.remaining()];
            found.get(0, value);
          }
          values.add(value);
        }
      } finally {
        reader.reset();
      }
      return values;
    }

    @Override
    public void close() {
      for (Cursor<ByteBuffer> cursor : cursors) {
        if (cursor != null) {
          cursor.close();
        }
      }
      reader.close();
    }
  }
}
