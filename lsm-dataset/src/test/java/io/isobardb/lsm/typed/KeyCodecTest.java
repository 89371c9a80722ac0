package io.isobardb.lsm.typed;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Bytes have the order of keys, and become the same keys again. */
class KeyCodecTest {
  private static final int KEYS = 300;

  private final SplittableRandom random = new SplittableRandom(42);

  /** All pairs of some keys: their bytes compare as they do, and are equal only if they are. */
  private static <K> void check(KeyCodec<K> codec, Comparator<? super K> order, List<K> keys) {
    for (K a : keys) {
      byte[] first = codec.encode(a);
      K back = codec.decode(first);
      assertEquals(0, order.compare(a, back), () -> a + " became " + back);
      assertArrayEquals(first, codec.encode(back));
      for (K b : keys) {
        int expected = Integer.signum(order.compare(a, b));
        int found = Integer.signum(Arrays.compareUnsigned(first, codec.encode(b)));
        assertEquals(expected, found, () -> a + " and " + b);
      }
    }
  }

  /** As {@link #check}, for a codec by itself and within others, before and behind something. */
  private <K> void checkEverywhere(KeyCodec<K> codec, Comparator<K> order, List<K> keys) {
    check(codec, order, keys);
    check(codec.descending(), order.reversed(), keys);
    check(codec.descending().descending(), order, keys);
    Comparator<Pair<K, K>> pairs =
        Comparator.comparing((Function<Pair<K, K>, K>) Pair::first, order)
            .thenComparing(Pair::second, order);
    check(KeyCodec.pair(codec, codec), pairs, pairs(keys, Pair::new));
    Comparator<Pair<K, K>> turned =
        Comparator.comparing((Function<Pair<K, K>, K>) Pair::first, order.reversed())
            .thenComparing(Pair::second, order);
    check(KeyCodec.pair(codec.descending(), codec), turned, pairs(keys, Pair::new));
    check(KeyCodec.pair(codec, codec).descending(), pairs.reversed(), pairs(keys, Pair::new));
    List<K> orNull = new ArrayList<>(keys);
    orNull.add(null);
    check(codec.nullable(), Comparator.nullsFirst(order), orNull);
    check(codec.nullable().descending(), Comparator.nullsFirst(order).reversed(), orNull);
  }

  private <K, P> List<P> pairs(List<K> keys, java.util.function.BiFunction<K, K, P> make) {
    List<P> pairs = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      pairs.add(
          make.apply(keys.get(random.nextInt(keys.size())), keys.get(random.nextInt(keys.size()))));
    }
    return pairs;
  }

  @Test
  void numbers() {
    List<Long> longs = new ArrayList<>(List.of(0L, 1L, -1L, Long.MIN_VALUE, Long.MAX_VALUE, 256L));
    List<Integer> ints = new ArrayList<>(List.of(0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE));
    for (int i = 0; i < 60; i++) {
      longs.add(random.nextLong() >> random.nextInt(64));
      ints.add(random.nextInt() >> random.nextInt(32));
    }
    checkEverywhere(KeyCodec.ofLong(), Comparator.naturalOrder(), longs);
    checkEverywhere(KeyCodec.ofInt(), Comparator.naturalOrder(), ints);
    assertEquals(4, KeyCodec.ofInt().encode(7).length);
    assertEquals(8, KeyCodec.ofLong().encode(7L).length);
  }

  @Test
  void doubles() {
    List<Double> keys =
        new ArrayList<>(
            List.of(
                0.0,
                -0.0,
                1.0,
                -1.0,
                Double.MIN_VALUE,
                -Double.MIN_VALUE,
                Double.MAX_VALUE,
                -Double.MAX_VALUE,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                Double.NaN));
    for (int i = 0; i < 60; i++) {
      keys.add(Double.longBitsToDouble(random.nextLong()));
    }
    checkEverywhere(KeyCodec.ofDouble(), Comparator.naturalOrder(), keys);
  }

  @Test
  void strings() {
    List<String> keys =
        new ArrayList<>(
            List.of("", "\0", "\0\0", "a", "a\0", "a\0b", "ab", "b", "\u00ff", "\u07ff", "\u0800"));
    // In UTF-16 these come in another order than in UTF-8.
    keys.addAll(List.of("\uffff", "\ud83d\ude00", "\ue000", "\ud83d", "\ude00", "a\ud83d\ude00"));
    for (int i = 0; i < 60; i++) {
      StringBuilder key = new StringBuilder();
      for (int length = random.nextInt(4); length > 0; length--) {
        key.append((char) (random.nextInt(1 << 16) >> random.nextInt(17)));
      }
      keys.add(key.toString());
    }
    checkEverywhere(KeyCodec.ofString(), Comparator.naturalOrder(), keys);
    assertArrayEquals(
        "grün, €".getBytes(java.nio.charset.StandardCharsets.UTF_8),
        KeyCodec.ofString().encode("grün, €"));
  }

  @Test
  void bytes() {
    List<byte[]> keys = new ArrayList<>(List.of(new byte[0], new byte[1], new byte[2]));
    for (int i = 0; i < 80; i++) {
      byte[] key = new byte[random.nextInt(4)];
      for (int k = 0; k < key.length; k++) {
        key[k] = new byte[] {0, 1, (byte) 0xFE, (byte) 0xFF}[random.nextInt(4)];
      }
      keys.add(key);
    }
    checkEverywhere(KeyCodec.ofBytes(), Arrays::compareUnsigned, keys);
  }

  @Test
  void uuidsAndInstantsAndEnums() {
    List<UUID> uuids = new ArrayList<>();
    List<Instant> instants = new ArrayList<>(List.of(Instant.MIN, Instant.MAX, Instant.EPOCH));
    for (int i = 0; i < 40; i++) {
      uuids.add(new UUID(random.nextLong(), random.nextLong()));
      instants.add(Instant.ofEpochSecond(random.nextInt(-5, 5), random.nextLong(0, 1_000_000_000)));
    }
    checkEverywhere(KeyCodec.ofUuid(), Comparator.naturalOrder(), uuids);
    checkEverywhere(KeyCodec.ofInstant(), Comparator.naturalOrder(), instants);
    checkEverywhere(
        KeyCodec.ofEnum(TimeUnit.class), Comparator.naturalOrder(), List.of(TimeUnit.values()));
  }

  private record Order(String customer, int number, Instant at) {}

  @Test
  void tuplesAndTypesMadeOfThem() {
    KeyCodec<Order> codec =
        KeyCodec.tuple(KeyCodec.ofString(), KeyCodec.ofInt().descending(), KeyCodec.ofInstant())
            .map(
                order -> List.of(order.customer(), order.number(), order.at()),
                parts ->
                    new Order((String) parts.get(0), (int) parts.get(1), (Instant) parts.get(2)));
    Comparator<Order> order =
        Comparator.comparing(Order::customer)
            .thenComparing(Order::number, Comparator.reverseOrder())
            .thenComparing(Order::at);
    BinaryOperator<String> longer = (a, b) -> a + b;
    List<Order> keys = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      String name = List.of("", "a", "a\0", "ab", "b").get(random.nextInt(5));
      keys.add(
          new Order(
              longer.apply(name, name),
              random.nextInt(-2, 3),
              Instant.ofEpochSecond(random.nextInt(3))));
    }
    check(codec, order, keys);
    KeyRange<Order> range = KeyRange.startingWith("aa");
    ByteRange bytes = range.encode(codec);
    for (Order key : keys) {
      assertEquals(key.customer().equals("aa"), bytes.contains(codec.encode(key)), key::toString);
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> KeyRange.<Order>startingWith("a", 1, Instant.EPOCH).encode(codec));
    assertThrows(
        IllegalArgumentException.class,
        () -> KeyRange.<String>startingWith("a").encode(KeyCodec.ofString()));
  }

  @Test
  void whatNoCodecHasWrittenIsRefused() {
    List<KeyCodec<?>> codecs =
        List.of(
            KeyCodec.ofInt(),
            KeyCodec.ofUuid(),
            KeyCodec.ofInstant(),
            KeyCodec.ofEnum(TimeUnit.class),
            KeyCodec.pair(KeyCodec.ofString(), KeyCodec.ofLong()),
            KeyCodec.ofString().descending(),
            KeyCodec.ofInt().nullable());
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(14)];
      random.nextBytes(bytes);
      KeyCodec<?> codec = codecs.get(random.nextInt(codecs.size()));
      try {
        codec.decode(ByteBuffer.wrap(bytes));
      } catch (IllegalArgumentException e) {
        refused++;
        assertTrue(e.getMessage().contains("codec"), e.getMessage());
      }
    }
    assertTrue(refused > 10_000, "refused " + refused);
  }

  @Test
  void secondsAndNanosecondsThatNoInstantHasAreRefused() {
    KeyCodec<Pair<Long, Integer>> parts = KeyCodec.pair(KeyCodec.ofLong(), KeyCodec.ofInt());
    List<Pair<Long, Integer>> none =
        List.of(
            new Pair<>(Long.MIN_VALUE, 0),
            new Pair<>(Instant.MIN.getEpochSecond() - 1, 0),
            new Pair<>(Instant.MAX.getEpochSecond() + 1, 0),
            new Pair<>(0L, -1),
            new Pair<>(0L, 1_000_000_000));
    for (Pair<Long, Integer> bad : none) {
      ByteBuffer bytes = ByteBuffer.wrap(parts.encode(bad));
      String message =
          assertThrows(IllegalArgumentException.class, () -> KeyCodec.ofInstant().decode(bytes))
              .getMessage();
      assertTrue(message.contains("codec"), message);
    }
  }
}
