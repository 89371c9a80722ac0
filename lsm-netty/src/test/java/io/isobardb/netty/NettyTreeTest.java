package io.isobardb.netty;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.StoreClosedException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NettyTreeTest {
  private static final List<String> LEAKS = new CopyOnWriteArrayList<>();

  @TempDir Path directory;
  private Store store;
  private NettyTree tree;
  private final PooledByteBufAllocator allocator = new PooledByteBufAllocator(true);

  /** Remembers each leak, rather than log it. */
  private static final class Recording<T> extends ResourceLeakDetector<T> {
    Recording(Class<?> type, int interval) {
      super(type, interval);
    }

    @Override
    protected boolean needReport() {
      return true;
    }

    @Override
    protected void reportTracedLeak(String type, String records) {
      LEAKS.add(type + records);
    }

    @Override
    protected void reportUntracedLeak(String type) {
      LEAKS.add(type);
    }
  }

  /** Before any buffer: their classes keep the detector. */
  @BeforeAll
  static void watchForLeaks() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(
        new ResourceLeakDetectorFactory() {
          @Override
          @SuppressWarnings("deprecation") // It is the one to be overridden.
          public <T> ResourceLeakDetector<T> newResourceLeakDetector(
              Class<T> type, int interval, long most) {
            return new Recording<>(type, interval);
          }
        });
  }

  @BeforeEach
  void open() {
    store = Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build());
    tree = NettyTree.of(store.openTree("t"), allocator);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private ByteBuf buffer(String text) {
    return allocator.buffer().writeBytes(text.getBytes(UTF_8));
  }

  /** The text of a buffer, which is released. */
  private static String taken(ByteBuf buffer) {
    try {
      return buffer == null ? null : buffer.toString(UTF_8);
    } finally {
      if (buffer != null) {
        buffer.release();
      }
    }
  }

  private void put(String key, String value) {
    ByteBuf k = buffer(key);
    ByteBuf v = buffer(value);
    tree.put(k, v);
    k.release();
    v.release();
  }

  private String get(String key) {
    ByteBuf k = buffer(key);
    try {
      return taken(tree.get(k));
    } finally {
      k.release();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  @Test
  void keysAndValuesAreWhatCanBeReadOfAnyBuffer() {
    List<ByteBufAllocator> allocators =
        List.of(allocator, UnpooledByteBufAllocator.DEFAULT, ByteBufAllocator.DEFAULT);
    for (ByteBufAllocator each : allocators) {
      for (ByteBuf frame : List.of(each.directBuffer(), each.heapBuffer())) {
        frame.writeBytes(bytes("..keyvalue.."));
        ByteBuf key = frame.slice(2, 3);
        frame.readerIndex(5).writerIndex(10);
        tree.put(key, frame, Durability.SYNC);
        assertEquals(5, frame.readerIndex());
        assertEquals(10, frame.writerIndex());
        assertEquals(1, frame.refCnt());
        assertEquals("value", taken(tree.get(key.asReadOnly())));
        assertTrue(tree.contains(key));
        assertFalse(tree.contains(frame));
        assertNull(tree.get(frame));
        tree.delete(key);
        assertNull(tree.get(key));
        assertEquals(1, frame.refCnt());
        frame.release();
      }
    }
    CompositeByteBuf parts =
        allocator.compositeBuffer().addComponents(true, buffer("in two "), buffer("parts"));
    tree.put(parts, parts);
    assertEquals("in two parts", new String(tree.tree().get(bytes("in two parts")), UTF_8));
    assertEquals("in two parts", taken(tree.get(parts)));
    parts.release();
    tree.put(Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);
    assertEquals("", taken(tree.get(Unpooled.EMPTY_BUFFER)));
  }

  @Test
  void aValueIsAppendedToABufferThatGrows() {
    put("a", "x".repeat(5000));
    ByteBuf key = buffer("a");
    ByteBuf none = buffer("b");
    ByteBuf target = allocator.buffer(4).writeByte('>');
    assertEquals(5000, tree.get(key, target));
    assertEquals(Tree.NOT_FOUND, tree.get(none, target));
    assertEquals(">" + "x".repeat(5000), taken(target));
    ByteBuf small = allocator.buffer(4, 8).writeByte('>');
    assertThrows(IndexOutOfBoundsException.class, () -> tree.get(key, small));
    assertEquals(">", taken(small));
    key.release();
    none.release();
  }

  @Test
  void batchesAndCursors() {
    WriteBatch batch = store.newBatch();
    ByteBuf key = buffer("k0");
    ByteBuf value = buffer("v0");
    for (int i = 0; i < 9; i++) {
      key.setByte(1, '0' + i);
      value.setByte(1, '0' + i);
      tree.put(batch, key, value);
    }
    key.setByte(1, '4');
    tree.delete(batch, key);
    store.write(batch);
    try (Cursor cursor = tree.tree().cursor()) {
      assertTrue(NettyTree.seek(cursor, key));
      assertEquals("k5", taken(tree.key(cursor)));
      assertEquals("v5", taken(tree.value(cursor)));
      cursor.last();
      cursor.next();
      assertThrows(IllegalStateException.class, () -> tree.key(cursor));
    }
    key.release();
    value.release();
  }

  @Test
  void aBufferThatWasReleasedTooEarlyIsNamedAndNothingIsDone() {
    put("a", "1");
    ByteBuf gone = buffer("a");
    gone.release();
    ByteBuf live = buffer("a");
    List<Runnable> ofKey =
        List.of(
            () -> tree.get(gone),
            () -> tree.get(gone, live),
            () -> tree.contains(gone),
            () -> tree.delete(gone),
            () -> tree.put(gone, live),
            () -> tree.put(gone, live, Durability.SYNC),
            () -> tree.delete(store.newBatch(), gone));
    for (Runnable call : ofKey) {
      assertEquals(
          "the buffer of the key was released before the call: nothing was done",
          assertThrows(IllegalReferenceCountException.class, call::run).getMessage());
    }
    WriteBatch batch = store.newBatch();
    List<Runnable> ofValue = List.of(() -> tree.put(live, gone), () -> tree.put(batch, live, gone));
    for (Runnable call : ofValue) {
      assertEquals(
          "the buffer of the value was released before the call: nothing was done",
          assertThrows(IllegalReferenceCountException.class, call::run).getMessage());
    }
    assertThrows(IllegalReferenceCountException.class, () -> tree.get(live, gone));
    assertEquals(0, batch.size());
    assertEquals(1, live.refCnt(), "what was retained was given back");
    live.release();
    assertEquals("1", get("a"));
    assertThrows(NullPointerException.class, () -> tree.get(null));
  }

  /** The store reads its own buffer, also if another thread releases it and the pool uses it. */
  @Test
  void aBufferThatIsReleasedDuringACallStaysUntilItsEnd() throws Exception {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    String text = "v".repeat(1000);
    for (int i = 0; i < 500; i++) {
      ByteBuf key = buffer("k" + i);
      ByteBuf value = buffer(text);
      Future<?> released =
          pool.submit(
              () -> {
                value.release();
                // Whatever takes its place in the pool has other bytes.
                allocator.buffer(1000).writeZero(1000).release();
              });
      try {
        tree.put(key, value);
        assertEquals(text, get("k" + i));
      } catch (IllegalReferenceCountException e) {
        assertNull(get("k" + i), "nothing was done");
      }
      released.get();
      key.release();
    }
    pool.shutdown();
  }

  @Test
  void errorsOfTheStoreGiveBuffersBack() {
    put("a", "1");
    ByteBuf large = allocator.buffer().writeZero(tree.tree().maxKeyBytes() + 1);
    assertThrows(IllegalArgumentException.class, () -> tree.put(large, large));
    assertEquals(1, large.refCnt());
    large.release();
    store.close();
    ByteBuf key = buffer("a");
    assertThrows(StoreClosedException.class, () -> tree.get(key));
    assertThrows(StoreClosedException.class, () -> tree.put(key, key));
    assertEquals(1, key.refCnt());
    key.release();
  }

  /** By many threads, on a store whose memory holds a small part of it. */
  @Test
  void theLeakDetectorFindsNothing() throws Exception {
    LEAKS.clear();
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<Future<?>> done = new ArrayList<>();
    for (int t = 0; t < 3; t++) {
      int seed = t;
      done.add(pool.submit(() -> play(seed)));
    }
    for (Future<?> one : done) {
      one.get();
    }
    pool.shutdown();
    collect();
    assertEquals(List.of(), LEAKS);
    // So much for the detector itself.
    while (LEAKS.isEmpty()) {
      leak();
      collect();
    }
    LEAKS.clear();
  }

  private void leak() {
    tree.get(buffer("leaked"));
  }

  /** The detector looks at what was collected when a buffer is made. */
  private void collect() {
    System.gc();
    for (int i = 0; i < 100; i++) {
      allocator.buffer().release();
    }
  }

  private void play(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    TreeMap<String, String> model = new TreeMap<>();
    for (int i = 0; i < 3000; i++) {
      String key = seed + "/" + random.nextInt(500);
      switch (random.nextInt(4)) {
        case 0 -> {
          ByteBuf gone = buffer(key);
          tree.delete(gone);
          gone.release();
          model.remove(key);
        }
        case 1 -> {
          String value = i + "v".repeat(random.nextInt(2000));
          put(key, value);
          model.put(key, value);
        }
        case 2 -> {
          if (i % 10 == 0) {
            try (Cursor cursor = tree.tree().cursor()) {
              ByteBuf from = buffer(key);
              boolean found = NettyTree.seek(cursor, from);
              from.release();
              String expected = model.ceilingKey(key);
              if (expected != null) {
                assertTrue(found);
                assertEquals(expected, taken(tree.key(cursor)));
                assertEquals(model.get(expected), taken(tree.value(cursor)));
              }
            }
          }
        }
        default -> assertEquals(model.get(key), get(key));
      }
    }
  }

  @Test
  void valuesOfAllLengthsAreReadWhateverCameBefore() {
    int[] lengths = {0, 1, 63, 64, 65, 1000, 2, 16 << 10, (16 << 10) + 1, 100_000, 300};
    for (int length : lengths) {
      tree.tree().put(bytes("k" + length), "v".repeat(length).getBytes(UTF_8));
    }
    store.flush();
    SplittableRandom random = new SplittableRandom(1);
    ByteBuf target = allocator.buffer(16);
    ByteBuf shared = allocator.compositeBuffer().addComponents(true, buffer("a"), buffer("b"));
    for (int i = 0; i < 500; i++) {
      int length = lengths[random.nextInt(lengths.length)];
      assertEquals("v".repeat(length), get("k" + length));
      assertNull(get("none"));
      ByteBuf key = buffer("k" + length);
      target.clear().writeByte('>');
      assertEquals(length, tree.get(key, target));
      assertEquals(">" + "v".repeat(length), target.toString(UTF_8));
      shared.writerIndex(1);
      assertEquals(length, tree.get(key, shared));
      assertEquals("a" + "v".repeat(length), shared.toString(UTF_8));
      key.release();
    }
    ByteBuf key = buffer("k1");
    target.clear();
    assertThrows(IllegalArgumentException.class, () -> tree.get(key, target.asReadOnly()));
    assertEquals(1, target.refCnt());
    key.release();
    target.release();
    shared.release();
  }
}
