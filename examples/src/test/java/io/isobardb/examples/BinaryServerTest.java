package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code -Disobar.server.requests=N}: by each of four clients. With {@code -Disobar.server.rate=N}
 * each makes at most as many a second, and {@code -Disobar.server.minutes=N} ends them earlier. The
 * leak detector watches all buffers.
 */
class BinaryServerTest {
  private static final int REQUESTS = Integer.getInteger("isobar.server.requests", 500);
  private static final int RATE = Integer.getInteger("isobar.server.rate", 1_000_000);
  private static final int MINUTES = Integer.getInteger("isobar.server.minutes", 60);
  private static final List<String> LEAKS = new CopyOnWriteArrayList<>();

  @TempDir Path directory;

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

  private record Answer(int status, byte[] content) {}

  private static final class Client implements AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    Client(BinaryServer server) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
      in = new DataInputStream(socket.getInputStream());
      out = new DataOutputStream(socket.getOutputStream());
    }

    Answer ask(int operation, byte[] key, byte[] value) throws IOException {
      ByteBuffer frame = ByteBuffer.allocate(7 + key.length + value.length);
      frame.putInt(3 + key.length + value.length).put((byte) operation);
      out.write(frame.putShort((short) key.length).put(key).put(value).array());
      byte[] answer = new byte[in.readInt()];
      in.readFully(answer);
      return new Answer(answer[0], Arrays.copyOfRange(answer, 1, answer.length));
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private Store open() {
    return Store.open(
        directory.resolve("store"), StoreOptions.builder().memoryBudget(8 << 20).build());
  }

  @Test
  void clientsReadWhatTheyWroteAndNothingLeaks() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    long requests = 0;
    long began = System.nanoTime();
    try (Store store = open();
        BinaryServer server = new BinaryServer(store)) {
      List<Future<Integer>> done = new ArrayList<>();
      for (int c = 0; c < 4; c++) {
        int seed = c;
        done.add(pool.submit(() -> play(server, seed)));
      }
      for (Future<Integer> one : done) {
        requests += one.get();
      }
      System.out.printf(
          "%,d requests in %d s, %,d bytes in Netty's pool%n",
          requests,
          TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began),
          ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric().usedDirectMemory());
    }
    pool.shutdown();
    System.gc();
    for (int i = 0; i < 100; i++) {
      ByteBufAllocator.DEFAULT.buffer().release();
    }
    assertEquals(List.of(), LEAKS);
  }

  /** Returns how many requests it made. */
  private static int play(BinaryServer server, int seed) throws IOException {
    long began = System.nanoTime();
    int made = 0;
    SplittableRandom random = new SplittableRandom(seed);
    TreeMap<String, String> model = new TreeMap<>();
    try (Client client = new Client(server)) {
      for (int i = 0; i < REQUESTS && isBefore(began + TimeUnit.MINUTES.toNanos(MINUTES)); i++) {
        awaitTime(began + TimeUnit.SECONDS.toNanos(i) / RATE);
        made++;
        String key = seed + "/" + random.nextInt(200);
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> {
            String value = i + "v".repeat(random.nextInt(1000));
            assertEquals(0, client.ask(1, bytes(key), bytes(value)).status());
            model.put(key, value);
          }
          case 3 -> {
            assertEquals(0, client.ask(3, bytes(key), bytes("")).status());
            model.remove(key);
          }
          case 4 -> scan(client.ask(4, bytes(key), bytes("")).content(), key, seed, model);
          default -> {
            Answer answer = client.ask(2, bytes(key), bytes(""));
            assertEquals(model.containsKey(key) ? 0 : 1, answer.status());
            assertEquals(model.getOrDefault(key, ""), new String(answer.content(), UTF_8));
          }
        }
      }
    }
    return made;
  }

  private static boolean isBefore(long nanoTime) {
    return System.nanoTime() - nanoTime < 0;
  }

  private static void awaitTime(long nanoTime) {
    while (isBefore(nanoTime)) {
      LockSupport.parkNanos(nanoTime - System.nanoTime());
    }
  }

  /** Of the client's own entries those from the key on, as many as there was room for. */
  private static void scan(byte[] content, String from, int seed, TreeMap<String, String> model) {
    TreeMap<String, String> found = new TreeMap<>();
    ByteBuffer entries = ByteBuffer.wrap(content);
    while (entries.hasRemaining()) {
      String key = text(entries);
      String value = text(entries);
      if (key.startsWith(seed + "/")) {
        found.put(key, value);
      }
    }
    assertEquals(model.tailMap(from, true).headMap(seed + "0", false), found);
  }

  private static String text(ByteBuffer in) {
    byte[] text = new byte[in.getInt()];
    in.get(text);
    return new String(text, UTF_8);
  }

  @Test
  void badRequestsAreRefusedAndTheOthersGoOn() throws Exception {
    try (Store store = open();
        BinaryServer server = new BinaryServer(store);
        Client client = new Client(server)) {
      Answer unknown = client.ask(9, bytes("k"), bytes("v"));
      assertEquals(2, unknown.status());
      assertTrue(new String(unknown.content(), UTF_8).contains("no operation 9"));
      Answer large = client.ask(1, new byte[5000], bytes("v"));
      assertEquals(2, large.status());
      assertTrue(new String(large.content(), UTF_8).contains("a key of 5000 bytes"));
      client.ask(1, bytes("k"), bytes("v"));
      client.out.writeInt(3);
      client.out.write(new byte[] {2, 0, 9});
      int length = client.in.readInt();
      assertEquals(2, client.in.readByte(), "a key of nine bytes was announced");
      client.in.skipNBytes(length - 1);
      assertArrayEquals(bytes("v"), client.ask(2, bytes("k"), bytes("")).content());
      try (Client other = new Client(server)) {
        other.out.writeInt(Integer.MAX_VALUE);
        assertThrows(IOException.class, () -> other.in.readInt(), "the frame is too large");
        try (Client third = new Client(server)) {
          assertArrayEquals(bytes("v"), third.ask(2, bytes("k"), bytes("")).content());
        }
      }
    }
  }

  @Test
  void connectionsAreBounded() throws Exception {
    List<Client> clients = new ArrayList<>();
    try (Store store = open();
        BinaryServer server = new BinaryServer(store)) {
      for (int i = 0; i < 64; i++) {
        clients.add(new Client(server));
        assertEquals(1, clients.get(i).ask(2, bytes("k"), bytes("")).status());
      }
      try (Client one = new Client(server)) {
        assertThrows(IOException.class, () -> one.ask(2, bytes("k"), bytes("")));
      }
      for (Client client : clients) {
        client.close();
      }
    }
  }

  @Test
  void theServerIsShort() throws IOException {
    Path source = Path.of("src/main/java/io/isobardb/examples/BinaryServer.java");
    assertTrue(Files.readAllLines(source).size() <= 150);
  }
}
