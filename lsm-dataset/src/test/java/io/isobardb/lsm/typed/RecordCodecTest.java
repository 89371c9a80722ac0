package io.isobardb.lsm.typed;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RecordCodecTest {
  private enum Color {
    RED,
    GREEN
  }

  private record Point(int x, int y) {}

  private record Everything(
      boolean flag,
      byte small,
      short middle,
      int number,
      long large,
      char letter,
      float single,
      double real,
      Integer boxed,
      String text,
      Instant moment,
      Duration span,
      LocalDate day,
      UUID id,
      Color color,
      Point point,
      List<Point> points,
      Set<Color> colors,
      Map<String, List<Long>> lists,
      Optional<String> maybe) {}

  private record Node(String name, Node next, List<Node> others) {}

  private record Blob(byte[] bytes) {}

  private record Empty() {}

  private static byte[] encode(Object value) {
    @SuppressWarnings("unchecked")
    Codec<Object> codec = (Codec<Object>) (Codec<?>) Codec.of(value.getClass());
    return codec.encode(value);
  }

  private static <T> T decode(Class<T> type, byte[] bytes) {
    return Codec.of(type).decode(ByteBuffer.wrap(bytes).asReadOnlyBuffer());
  }

  private static void check(Object value) {
    byte[] bytes = encode(value);
    Object back = decode(value.getClass(), bytes);
    assertEquals(value, back);
    assertArrayEquals(bytes, encode(back));
  }

  private static String refused(Class<?> type, Object stored) {
    byte[] bytes = encode(stored);
    return assertThrows(IllegalArgumentException.class, () -> decode(type, bytes)).getMessage();
  }

  @Test
  void valuesOfAllTypesComeBack() {
    check(
        new Everything(
            true,
            Byte.MIN_VALUE,
            Short.MAX_VALUE,
            Integer.MIN_VALUE,
            Long.MIN_VALUE,
            '\uFFFF',
            -0.0f,
            -0.0,
            0,
            "äöü \uD83D\uDE00",
            Instant.MIN,
            Duration.ofNanos(-1),
            LocalDate.MAX,
            new UUID(-1, 1),
            Color.GREEN,
            new Point(0, -1),
            List.of(new Point(1, 2), new Point(0, 0)),
            Set.of(Color.RED, Color.GREEN),
            Map.of("a", List.of(1L, -2L), "b", List.of()),
            Optional.of("")));
    check(
        new Everything(
            false,
            (byte) 0,
            (short) 0,
            0,
            0,
            '\0',
            0,
            0,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            Optional.empty()));
    check(new Empty());
    check(new Node("a", new Node("b", null, List.of()), List.of(new Node(null, null, null))));
    Blob blob = new Blob(new byte[] {1, 0, -1});
    assertArrayEquals(blob.bytes(), decode(Blob.class, encode(blob)).bytes());
  }

  @Test
  void aThousandRandomRecordsComeBack() {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 1000; i++) {
      List<Node> others = new ArrayList<>();
      for (int n = random.nextInt(4); n > 0; n--) {
        others.add(new Node("n" + random.nextInt(), null, null));
      }
      check(new Node(random.nextBoolean() ? null : "x".repeat(random.nextInt(300)), null, others));
      int shift = random.nextInt(64);
      check(new V2(random.nextLong() >> shift, "n", Optional.empty(), (int) random.nextLong()));
    }
  }

  @Test
  void zerosAndNullsTakeNoBytes() {
    assertEquals(1, encode(new Empty()).length);
    assertEquals(1, encode(new Point(0, 0)).length);
    assertEquals(1 + 2 * (4 + 1), encode(new Point(1, -64)).length);
    assertEquals(1 + 4 + 1 + 3, encode(new Node("abc", null, null)).length);
  }

  @Test
  void equalValuesHaveTheSameBytes() {
    Map<String, List<Long>> forward = new LinkedHashMap<>();
    Map<String, List<Long>> backward = new LinkedHashMap<>();
    Set<Color> colors = new LinkedHashSet<>(List.of(Color.RED, Color.GREEN));
    Set<Color> turned = new LinkedHashSet<>(List.of(Color.GREEN, Color.RED));
    for (int i = 0; i < 20; i++) {
      forward.put("k" + i, List.of((long) i));
      backward.put("k" + (19 - i), List.of(19L - i));
    }
    record Sorted(Map<String, List<Long>> map, Set<Color> set) {}
    assertArrayEquals(encode(new Sorted(forward, colors)), encode(new Sorted(backward, turned)));
  }

  // ---- records that change

  private record V1(int id, String name, Color gone) {}

  /** Wider, one more, one less, another order, and a box and an optional. */
  private record V2(long id, String name, Optional<String> city, int visits) {}

  private record V3(int visits, Long id, Optional<String> name) {}

  @Test
  void fieldsMayBeAddedRemovedReorderedAndWidened() {
    byte[] first = encode(new V1(7, "ada", Color.RED));
    assertEquals(new V2(7, "ada", Optional.empty(), 0), decode(V2.class, first));
    byte[] second = encode(new V2(1L << 40, "ada", Optional.of("London"), 3));
    assertEquals(new V3(3, 1L << 40, Optional.of("ada")), decode(V3.class, second));
    // Back: as if a new release had been withdrawn.
    byte[] third = encode(new V3(3, 5L, Optional.empty()));
    assertEquals(new V2(5, null, Optional.empty(), 3), decode(V2.class, third));
    assertEquals(new Empty(), decode(Empty.class, first));
  }

  @Test
  void everyKindOfFieldIsPassedOverOnceItIsGone() {
    record Last(int zzz) {}
    Everything all =
        new Everything(
            true,
            (byte) 1,
            (short) 2,
            3,
            4,
            'c',
            5,
            6,
            7,
            "t",
            Instant.EPOCH.plusNanos(5),
            Duration.ofDays(9),
            LocalDate.EPOCH.plusDays(1),
            new UUID(1, 2),
            Color.RED,
            new Point(1, 1),
            List.of(new Point(1, 1)),
            Set.of(Color.RED),
            Map.of("a", List.of(1L)),
            Optional.of("m"));
    assertEquals(new Last(0), decode(Last.class, encode(all)));
    assertEquals(new Empty(), decode(Empty.class, encode(new Blob(new byte[300]))));
  }

  @Test
  void aTypeThatCannotBeReadNamesRecordFieldAndBothTypes() {
    record Text(String id) {}
    record Narrow(short id) {}
    record Numbers(List<Integer> id) {}
    record Words(List<String> id) {}
    record Box(Point id) {}
    record Inner(Text x) {}
    record Deep(Inner point) {}
    record Inner2(V1 x) {}
    record Deep2(Inner2 point) {}
    V1 stored = new V1(7, "ada", Color.RED);
    String text = refused(Text.class, stored);
    assertTrue(text.contains("Text: the field 'id' was stored as int, and is String now"), text);
    String narrow = refused(Narrow.class, stored);
    assertTrue(narrow.contains("Narrow: the field 'id' was stored as int, and is short"), narrow);
    String list = refused(Numbers.class, new Words(List.of("a")));
    assertTrue(list.contains("Numbers: the field 'id' was stored as String, and is Int"), list);
    String all = refused(Numbers.class, stored);
    assertTrue(all.contains("'id' was stored as int, and is List<Integer> now"), all);
    String box = refused(V1.class, new Box(new Point(1, 2)));
    assertTrue(box.contains("V1: the field 'id' was stored as a record, and is int now"), box);
    String deep = refused(Deep2.class, new Deep(new Inner(new Text("x"))));
    assertTrue(deep.contains("V1: the field 'id' was stored as String, and is int now"), deep);
  }

  @Test
  void aConstantThatIsGoneIsNamed() {
    enum Fewer {
      RED
    }
    record Now(Fewer gone) {}
    assertEquals(new Now(Fewer.RED), decode(Now.class, encode(new V1(0, null, Color.RED))));
    String message = refused(Now.class, new V1(0, null, Color.GREEN));
    assertTrue(
        message.contains("Now: the field 'gone' was stored as the constant 'GREEN'"), message);
  }

  record Strict(String name, List<String> tags) {
    Strict {
      tags = tags == null ? List.of() : tags;
      if (name == null) {
        throw new IllegalStateException("no name");
      }
    }
  }

  @Test
  void aConstructorReplacesWhatIsMissingOrIsHeardWhenItRefuses() {
    record Before(String name) {}
    assertEquals(new Strict("a", List.of()), decode(Strict.class, encode(new Before("a"))));
    String message = refused(Strict.class, new Before(null));
    assertTrue(message.contains("Strict: its constructor refused what is stored"), message);
    assertTrue(message.contains("'name'"), message);
    assertTrue(message.contains("no name"), message);
  }

  // ---- errors

  @Test
  void aTypeWithoutACodecIsRefusedAtOnceWithWhatThereIs() {
    record Account(int id, BigDecimal balance) {}
    record Raw(@SuppressWarnings("rawtypes") List list) {}
    record Generic<T>(T value) {}
    for (Class<?> type : List.of(Account.class, Raw.class, Generic.class)) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> Codec.of(type)).getMessage();
      assertTrue(message.contains(type.getName()), message);
      assertTrue(message.contains("enums, records, and List"), message);
      assertTrue(message.contains("RecordCodec.builder"), message);
    }
    String plain =
        assertThrows(IllegalArgumentException.class, () -> Codec.of(Thread.class)).getMessage();
    assertTrue(plain.contains("java.lang.Thread; there are codecs for byte[], String"), plain);
    assertThrows(IllegalArgumentException.class, () -> decode(List.class, new byte[1]));
  }

  @Test
  void theUsersCodecsComeFirst() {
    record Account(BigDecimal balance, List<BigDecimal> history, Color color) {}
    Codec<BigDecimal> decimals =
        Codec.of(value -> value.toString().getBytes(), bytes -> new BigDecimal(new String(bytes)));
    Codec<Account> codec =
        RecordCodec.builder(Account.class)
            .lookup(MethodHandles.lookup())
            .codec(BigDecimal.class, decimals)
            .codec(Color.class, Codec.of(c -> new byte[] {(byte) c.ordinal()}, b -> Color.RED))
            .build();
    Account account = new Account(new BigDecimal("1.10"), List.of(BigDecimal.ONE), Color.GREEN);
    Account back = codec.decode(ByteBuffer.wrap(codec.encode(account)));
    assertEquals(new Account(account.balance(), account.history(), Color.RED), back);
  }

  @Test
  void nullsWhereTheyCanNotBeReadAgainAreRefused() {
    assertTrue(
        assertThrows(
                IllegalArgumentException.class,
                () -> encode(new Node("a", null, Arrays.asList((Node) null))))
            .getMessage()
            .contains("Node: the field 'others' has an element that is null"));
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> encode(new V2(1, "", null, 1)))
            .getMessage()
            .contains("V2: the optional field 'city' is null"));
  }

  @Test
  void fieldsWithTheSameHashAreRefused() {
    assertEquals(RecordType.id("n5805"), RecordType.id("n22333"));
    record Alike(int n5805, int n22333) {}
    String message =
        assertThrows(IllegalArgumentException.class, () -> Codec.of(Alike.class)).getMessage();
    assertTrue(message.contains("'n5805'") && message.contains("'n22333'"), message);
  }

  @Test
  void anyBytesAreARecordOrAClearError() {
    byte[] whole =
        encode(new Node("abc", new Node("b", null, List.of()), List.of(new Node("c", null, null))));
    SplittableRandom random = new SplittableRandom(3);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = Arrays.copyOf(whole, i % 3 == 0 ? random.nextInt(whole.length) : whole.length);
      for (int n = random.nextInt(3); n > 0 && bytes.length > 0; n--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      try {
        decode(Node.class, bytes);
      } catch (IllegalArgumentException e) {
        assertTrue(e.getMessage().contains("Node"), e.getMessage());
        refused++;
      }
    }
    assertTrue(refused > 1000, "refused " + refused);
  }

  // ---- plain values

  @Test
  void plainValuesComeBackAndOthersAreRefused() {
    Map<Class<?>, List<?>> values =
        Map.of(
            Integer.class, List.of(0, -1, Integer.MIN_VALUE),
            Long.class, List.of(0L, Long.MIN_VALUE),
            Double.class, List.of(0.0, -0.0, Double.NaN, Double.MIN_VALUE),
            Instant.class, List.of(Instant.EPOCH, Instant.MIN, Instant.MAX),
            UUID.class, List.of(new UUID(1, -1)),
            String.class, List.of("", "ä"),
            Color.class, List.of(Color.RED, Color.GREEN));
    values.values().stream().flatMap(List::stream).forEach(RecordCodecTest::check);
    for (Class<?> type :
        List.of(Integer.class, Long.class, Double.class, Instant.class, UUID.class)) {
      for (int length : new int[] {0, 3, 5, 17}) {
        assertThrows(
            IllegalArgumentException.class, () -> decode(type, new byte[length]), type.getName());
      }
    }
    byte[] odd = new byte[12];
    odd[0] = 127;
    assertThrows(IllegalArgumentException.class, () -> decode(Instant.class, odd));
    String constant =
        assertThrows(IllegalArgumentException.class, () -> decode(Color.class, new byte[] {'x'}))
            .getMessage();
    assertTrue(constant.contains("Color has no constant 'x'"), constant);
  }

  @Test
  void theFormatStays() {
    HexFormat hex = HexFormat.of();
    assertEquals(
        "01386ad704d80439bd6b090361646162aab10f05475245454e",
        hex.formatHex(encode(new V1(300, "ada", Color.GREEN))));
    assertEquals(
        "01386ad7050239bd6b090178d3122f0401",
        hex.formatHex(encode(new V3(-1, 1L, Optional.of("x")))));
  }
}
