package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.DslStoreFormat;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.VersionedKeyQuery;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.state.DslSessionParams;
import org.apache.kafka.streams.state.DslStoreSuppliers;
import org.apache.kafka.streams.state.DslWindowParams;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedBytesStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.VersionedRecordIterator;
import org.apache.kafka.streams.state.WindowStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random calls on Kafka's stores and on these give the same answers. On Kafka 4.4 writes are held
 * back until commits; 4.3 does not know that.
 *
 * <p>{@code -Disobar.streams.seeds=2000} runs as many seeds for each kind of store, and {@code
 * -Disobar.streams.first=N} begins with the N-th.
 */
@Tag("any-jdk")
class DifferentialTest {
  private static final int SEEDS = Integer.getInteger("isobar.streams.seeds", 3);
  private static final int FIRST = Integer.getInteger("isobar.streams.first", 0);
  private static final int CALLS = 50;
  private static final Duration RETENTION = Duration.ofMinutes(4);
  private static final int RESTORED = 400_000; // records have times before it
  private static final Duration SIZE = Duration.ofSeconds(10);
  private static final TopicPartition CHANGELOG = new TopicPartition("app-x-changelog", 0);

  @TempDir Path directory;

  @AfterEach
  void close() {
    IsobarStores.close();
  }

  /** A state store and its twin, which is called in the same way. */
  private final class Twins<S extends StateStore> implements AutoCloseable {
    private final Supplier<S> makesKafkas;
    private final Supplier<S> makesOurs;
    private final TestTask kafkasTask;
    private final TestTask oursTask;
    private final String seed;
    private S kafkas;
    private S ours;
    private long offset;

    /** Kafka's keep their position in a callback of commits, which nobody calls here. */
    private boolean reopened;

    Twins(int seed, Supplier<S> makesKafkas, Supplier<S> makesOurs) {
      this.seed = "seed " + seed;
      this.makesKafkas = makesKafkas;
      this.makesOurs = makesOurs;
      kafkasTask = new TestTask(directory.resolve("kafkas"), Map.of());
      oursTask =
          new TestTask(
              directory.resolve("ours"),
              // From Kafka 4.4 on it has an effect.
              Map.of("enable.transactional.statestores", true));
      open();
    }

    private void open() {
      for (TestTask task : List.of(kafkasTask, oursTask)) {
        task.directory().toFile().mkdirs();
      }
      kafkas = kafkasTask.open(makesKafkas.get());
      ours = oursTask.open(makesOurs.get());
    }

    void same(String what, Function<S, Object> call) {
      offset++;
      kafkasTask.at("input", 0, offset);
      oursTask.at("input", 0, offset);
      assertEquals(call.apply(kafkas), call.apply(ours), seed + ": " + what);
      // Kafka's differ in whether a removal, or a put that does nothing, advances the position.
      if (!reopened && what.startsWith("put at")) {
        assertEquals(kafkas.getPosition(), ours.getPosition(), seed + ": position after " + what);
      }
    }

    /** Records of the changelog come, as they do before a task begins, and to a standby. */
    void restore(Random random, Supplier<ConsumerRecord<byte[], byte[]>> records) {
      for (int calls = random.nextInt(5); calls > 0; calls--) {
        List<ConsumerRecord<byte[], byte[]>> call = new ArrayList<>();
        for (int size = random.nextInt(20); size >= 0; size--) {
          call.add(records.get());
        }
        kafkasTask.context().restoreWithHeaders("x", call);
        oursTask.context().restoreWithHeaders("x", call);
      }
    }

    void reopen() {
      reopened = true;
      for (S store : List.of(kafkas, ours)) {
        store.commit(Map.of(CHANGELOG, offset));
        store.close();
      }
      open();
      Long committed = kafkas.committedOffset(CHANGELOG);
      if (committed != null) { // Kafka's windows and sessions keep none before they have a segment
        assertEquals(committed, ours.committedOffset(CHANGELOG), seed);
      }
    }

    @Override
    public void close() throws IOException {
      kafkas.close();
      ours.close();
      for (TestTask task : List.of(kafkasTask, oursTask)) {
        Utils.delete(task.directory().toFile());
      }
    }
  }

  private static String show(byte[] value) {
    return value == null ? "none" : new String(value, UTF_8);
  }

  private static <K> List<String> show(KeyValueIterator<K, byte[]> iterator) {
    List<String> shown = new ArrayList<>();
    try (iterator) {
      while (iterator.hasNext()) {
        assertEquals(iterator.peekNextKey(), iterator.peekNextKey());
        KeyValue<K, byte[]> next = iterator.next();
        shown.add(next.key + "=" + show(next.value));
      }
    }
    return shown;
  }

  /**
   * Keys of which many are prefixes of others. None has a zero: ranges of Kafka's windows miss keys
   * that go on with one where the range's last key does.
   */
  private static Bytes key(Random random) {
    byte[] alphabet = {1, 'a', 'b', (byte) 0x80, (byte) 0xFF};
    byte[] key = new byte[1 + random.nextInt(3)];
    for (int i = 0; i < key.length; i++) {
      key[i] = alphabet[random.nextInt(alphabet.length)];
    }
    return Bytes.wrap(key);
  }

  /** Times are multiples of it: in half of the histories many are the same. */
  private static long grain(int seed) {
    return seed / 2 % 2 == 0 ? 1 : 2_000;
  }

  private static byte[] value(Random random, int call) {
    return random.nextInt(5) == 0 ? null : ("v" + call).getBytes(UTF_8);
  }

  private static ConsumerRecord<byte[], byte[]> record(byte[] key, byte[] value, long time) {
    return new ConsumerRecord<>(
        CHANGELOG.topic(),
        CHANGELOG.partition(),
        0,
        time,
        TimestampType.CREATE_TIME,
        0,
        0,
        key,
        value,
        new RecordHeaders(),
        Optional.empty());
  }

  @Test
  void keyValueStores() throws IOException {
    for (int seed = FIRST; seed < SEEDS; seed++) {
      boolean inMemory = seed % 2 == 1;
      Random random = new Random(seed);
      try (Twins<KeyValueStore<Bytes, byte[]>> twins =
          new Twins<>(
              seed,
              () ->
                  (inMemory
                          ? Stores.inMemoryKeyValueStore("x")
                          : Stores.persistentKeyValueStore("x"))
                      .get(),
              () -> IsobarStores.keyValueStore("x").get())) {
        if (!inMemory) { // Kafka's takes what it restores for input
          twins.restore(random, () -> record(key(random).get(), value(random, -1), 0));
          twins.same("restored", store -> show(store.all()));
        }
        for (int i = 0; i < CALLS; i++) {
          Bytes key = key(random);
          Bytes other = random.nextInt(6) == 0 ? null : key(random);
          byte[] value = value(random, i);
          byte[] prefix = Arrays.copyOf(key.get(), 1);
          switch (random.nextInt(10)) {
            case 0 -> twins.same("get", store -> show(store.get(key)));
            case 1 -> twins.same("range", store -> show(store.range(key, other)));
            case 2 -> twins.same("reverseRange", store -> show(store.reverseRange(other, key)));
            case 3 -> twins.same("delete", store -> show(store.delete(key)));
            case 4 -> twins.same("putIfAbsent", store -> show(store.putIfAbsent(key, value)));
            case 5 -> {
              if (!inMemory || prefix[0] != (byte) 0xFF) { // Kafka's look for what is behind it
                twins.same(
                    "prefixScan",
                    store -> show(store.prefixScan(Bytes.wrap(prefix), (t, b) -> b.get())));
              }
            }
            case 6 -> {
              if (random.nextInt(4) == 0 && !inMemory) {
                byte[] put = ("v" + i).getBytes(UTF_8);
                twins.same("putIfAbsent", store -> show(store.putIfAbsent(key, put)));
                twins.same("delete", store -> show(store.delete(key)));
                twins.reopen();
              }
              twins.same("reverseAll", store -> show(store.reverseAll()));
            }
            default ->
                twins.same(
                    "put at any time",
                    store -> {
                      store.put(key, value);
                      return show(store.all());
                    });
          }
        }
      }
    }
  }

  @Test
  void windowStores() throws IOException {
    for (int seed = FIRST; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      long grain = grain(seed);
      boolean duplicates = seed % 3 == 1;
      DslWindowParams params =
          new DslWindowParams(
              "x",
              RETENTION,
              SIZE,
              duplicates,
              seed % 3 == 2 ? EmitStrategy.onWindowClose() : EmitStrategy.onWindowUpdate(),
              true,
              DslStoreFormat.TIMESTAMPED);
      DslStoreSuppliers kafkas = BuiltInDslStoreSuppliers.ROCKS_DB;
      DslStoreSuppliers ours = new IsobarDslStoreSuppliers();
      try (Twins<WindowStore<Bytes, byte[]>> twins =
          new Twins<>(
              seed, () -> kafkas.windowStore(params).get(), () -> ours.windowStore(params).get())) {
        long now = random.nextInt(2) * RESTORED;
        twins.restore(
            random,
            () ->
                record(
                    IsobarWindowStore.key(
                        key(random).get(),
                        random.nextInt(RESTORED) / grain * grain,
                        duplicates ? 1 + random.nextInt(3) : 0),
                    value(random, -1),
                    0));
        twins.same("restored", store -> show(store.all()));
        for (int i = 0; i < CALLS; i++) {
          now += random.nextInt(20_000) / grain * grain;
          Bytes key = key(random);
          Bytes other = random.nextInt(6) == 0 ? null : key(random);
          byte[] value = value(random, i);
          long time = Math.max(0, now - random.nextInt(400_000) / grain * grain);
          long to = now - random.nextInt(200_000) / grain * grain;
          switch (random.nextInt(10)) {
            case 0 -> twins.same("fetch", store -> show(store.fetch(key, time)));
            case 1 -> twins.same("fetch a span", store -> show(store.fetch(key, time, to)));
            case 2 -> twins.same("backwards", store -> show(store.backwardFetch(key, time, to)));
            case 3 -> twins.same("fetch keys", store -> show(store.fetch(key, other, time, to)));
            case 4 ->
                twins.same(
                    "keys backwards", store -> show(store.backwardFetch(other, key, time, to)));
            case 5 -> twins.same("fetchAll", store -> show(store.fetchAll(time, to)));
            case 6 -> {
              twins.same("backwardAll", store -> show(store.backwardAll()));
              if (random.nextInt(4) == 0 && !duplicates) {
                twins.reopen();
                put(twins, key, "v".getBytes(UTF_8), now);
              }
            }
            default -> put(twins, key, value, random.nextInt(3) == 0 ? time : now);
          }
        }
      }
    }
  }

  private static void put(
      Twins<WindowStore<Bytes, byte[]>> twins, Bytes key, byte[] value, long time) {
    twins.same(
        "put at " + time,
        store -> {
          store.put(key, value, time);
          return show(store.all());
        });
  }

  @Test
  void sessionStores() throws IOException {
    for (int seed = FIRST; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      long grain = grain(seed);
      boolean onClose = seed % 2 == 1;
      DslSessionParams params =
          new DslSessionParams(
              "x",
              RETENTION,
              onClose ? EmitStrategy.onWindowClose() : EmitStrategy.onWindowUpdate(),
              DslStoreFormat.PLAIN);
      DslStoreSuppliers kafkas = BuiltInDslStoreSuppliers.ROCKS_DB;
      DslStoreSuppliers ours = new IsobarDslStoreSuppliers();
      try (Twins<SessionStore<Bytes, byte[]>> twins =
          new Twins<>(
              seed,
              () -> kafkas.sessionStore(params).get(),
              () -> ours.sessionStore(params).get())) {
        long now = random.nextInt(2) * RESTORED;
        long latest = 0;
        twins.restore(
            random,
            () -> {
              long end = random.nextInt(RESTORED) / grain * grain;
              long start = Math.max(0, end - random.nextInt(30_000) / grain * grain);
              byte[] key = IsobarSessionStore.key(key(random).get(), end, start);
              return record(key, value(random, -1), 0);
            });
        twins.same("restored", store -> show(store.fetch((Bytes) null, null)));
        for (int i = 0; i < CALLS; i++) {
          now += random.nextInt(20_000) / grain * grain;
          Bytes key = key(random);
          Bytes other = random.nextInt(6) == 0 ? null : key(random);
          byte[] value = value(random, i);
          long start = Math.max(0, now - random.nextInt(400_000) / grain * grain);
          long end = random.nextInt(3) == 0 ? now : start + random.nextInt(30_000) / grain * grain;
          Windowed<Bytes> session =
              new Windowed<>(key, new SessionWindow(start, Math.max(start, end)));
          switch (random.nextInt(10)) {
            case 0 -> twins.same("fetch", store -> show(store.fetch(key)));
            case 1 -> twins.same("find", store -> show(store.findSessions(key, start, end)));
            case 2 ->
                twins.same(
                    "find backwards", store -> show(store.backwardFindSessions(key, start, end)));
            case 3 -> twins.same("keys", store -> show(store.findSessions(key, other, start, end)));
            case 4 ->
                twins.same(
                    "keys backwards",
                    store -> show(store.backwardFindSessions(other, key, start, end)));
            case 5 -> {
              if (onClose) {
                twins.same("by ends", store -> show(store.findSessions(start, end)));
              }
              twins.same("one", store -> show(store.fetchSession(key, start, end)));
            }
            case 6 -> {
              twins.same(
                  "remove",
                  store -> {
                    store.remove(session);
                    return show(store.fetch(key));
                  });
              latest = Math.max(latest, session.window().end());
              if (random.nextInt(4) == 0) {
                twins.reopen();
                // Kafka's have forgotten the largest time, which may lie beyond the present one.
                long last = Math.max(latest, now);
                put(twins, new Windowed<>(key, new SessionWindow(last, last)), "v".getBytes(UTF_8));
              }
            }
            default -> {
              latest = Math.max(latest, session.window().end());
              put(twins, session, value);
            }
          }
        }
      }
    }
  }

  private static void put(
      Twins<SessionStore<Bytes, byte[]>> twins, Windowed<Bytes> session, byte[] value) {
    twins.same(
        "put " + session,
        store -> {
          store.put(session, value);
          return show(store.fetch((Bytes) null, null));
        });
  }

  /** Without closing them: Kafka's then forgets where old versions are. */
  @Test
  void versionedStores() throws IOException {
    for (int seed = FIRST; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      long grain = grain(seed);
      Duration retention = Duration.ofSeconds(30);
      try (Twins<VersionedBytesStore> twins =
          new Twins<>(
              seed,
              () ->
                  (VersionedBytesStore)
                      Stores.persistentVersionedKeyValueStore("x", retention).get(),
              () ->
                  (VersionedBytesStore)
                      IsobarStores.versionedKeyValueStore("x", retention).get())) {
        long now = random.nextInt(2) * RESTORED;
        twins.restore(
            random,
            () ->
                record(
                    new byte[random.nextInt(3)],
                    value(random, -1),
                    random.nextInt(RESTORED) / grain * grain));
        for (int i = 0; i < 3 * CALLS; i++) {
          now += random.nextInt(3_000) / grain * grain;
          Bytes key = Bytes.wrap(new byte[random.nextInt(3)]);
          byte[] value = value(random, i);
          long time = Math.max(0, now - random.nextInt(40_000) / grain * grain);
          long at = random.nextInt(3) == 0 ? now : time;
          switch (random.nextInt(10)) {
            case 0 -> twins.same("get", store -> stamped(store.get(key)));
            case 1, 2 -> twins.same("get as of " + time, store -> stamped(store.get(key, time)));
            case 3 -> twins.same("delete at " + at, store -> stamped(store.delete(key, at)));
            case 4 -> twins.same("as of " + time, store -> asOf(store, key, time));
            case 5 ->
                twins.same(
                    // Kafka's miss versions that end in a later segment than the span.
                    "versions from " + time, store -> versions(store, key, time, Long.MAX_VALUE));
            default -> twins.same("put at " + at, store -> store.put(key, value, at));
          }
        }
      }
    }
  }

  private static String stamped(byte[] stamped) {
    return stamped == null
        ? "none"
        : ByteBuffer.wrap(stamped).getLong()
            + ":"
            + new String(stamped, Long.BYTES, stamped.length - Long.BYTES, UTF_8);
  }

  private static String asOf(VersionedBytesStore store, Bytes key, long time) {
    VersionedKeyQuery<Bytes, byte[]> query =
        VersionedKeyQuery.<Bytes, byte[]>withKey(key).asOf(Instant.ofEpochMilli(time));
    return shown(store.query(query, PositionBound.unbounded(), new QueryConfig(false)).getResult());
  }

  private static String shown(VersionedRecord<byte[]> version) {
    return version == null
        ? "none"
        : version.timestamp() + "-" + version.validTo() + ":" + show(version.value());
  }

  private static List<String> versions(VersionedBytesStore store, Bytes key, long from, long to) {
    MultiVersionedKeyQuery<Bytes, byte[]> query =
        MultiVersionedKeyQuery.<Bytes, byte[]>withKey(key)
            .fromTime(Instant.ofEpochMilli(from))
            .toTime(Instant.ofEpochMilli(to))
            .withAscendingTimestamps();
    List<String> shown = new ArrayList<>();
    try (VersionedRecordIterator<byte[]> versions =
        store.query(query, PositionBound.unbounded(), new QueryConfig(false)).getResult()) {
      versions.forEachRemaining(version -> shown.add(shown(version)));
    }
    return shown;
  }
}
