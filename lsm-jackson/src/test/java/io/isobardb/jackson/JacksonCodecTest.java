package io.isobardb.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.TypedDataset;
import io.isobardb.lsm.typed.TypedIndex;
import io.isobardb.lsm.typed.TypedTree;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JacksonCodecTest {
  /** Public, as Jackson wants it. */
  public record Person(String name, int born, List<String> skills) {}

  /** The same with a field less. */
  public record Name(String name) {}

  @TempDir Path directory;

  private final ObjectMapper mapper = new ObjectMapper();

  private static <T> T decode(Codec<T> codec, String json) {
    return codec.decode(ByteBuffer.wrap(json.getBytes(UTF_8)).asReadOnlyBuffer());
  }

  private static String refused(Codec<?> codec, String json) {
    return assertThrows(IllegalArgumentException.class, () -> decode(codec, json)).getMessage();
  }

  @Test
  void treesAndDatasetsHoldJson() {
    Person ada = new Person("Ada", 1815, List.of("maths", "code"));
    JacksonCodec<Person> people = JacksonCodec.of(mapper, Person.class);
    TypedIndex<Person, String> bySkill =
        TypedIndex.of("by-skill", KeyCodec.ofString(), Person::skills);
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    for (int round = 0; round < 2; round++) {
      try (Store store = Store.open(directory, options)) {
        TypedTree<Long, Person> tree =
            TypedTree.of(store.openTree("people"), KeyCodec.ofLong(), people);
        tree.put(1L, ada);
        assertEquals(ada, tree.get(1L));
        assertTrue(tree.replace(1L, ada, ada));
        byte[] stored = store.tree("people").get(KeyCodec.ofLong().encode(1L));
        assertEquals(
            "{\"name\":\"Ada\",\"born\":1815,\"skills\":[\"maths\",\"code\"]}",
            new String(stored, UTF_8));
        TypedDataset<Long, Person> dataset =
            TypedDataset.open(store, "indexed", KeyCodec.ofLong(), people, bySkill);
        dataset.put(2L, ada);
        assertEquals(List.of(Map.entry(2L, ada)), dataset.find(bySkill, "code"));
      }
    }
  }

  @Test
  void genericTypesAndMapsInAnyOrder() {
    Codec<Map<String, List<Person>>> codec = JacksonCodec.of(mapper, new TypeReference<>() {});
    Map<String, List<Person>> forward = new LinkedHashMap<>();
    forward.put("a", List.of(new Person("Ada", 1815, null)));
    forward.put("b", List.of());
    Map<String, List<Person>> backward = new LinkedHashMap<>();
    backward.put("b", List.of());
    backward.put("a", List.of(new Person("Ada", 1815, null)));
    assertArrayEquals(codec.encode(forward), codec.encode(backward));
    assertEquals(forward, codec.decode(ByteBuffer.wrap(codec.encode(forward))));
  }

  @Test
  void theUsersMapperDecidesAboutFieldsThatAreGone() {
    String json = "{\"name\":\"Ada\",\"born\":1815}";
    String message = refused(JacksonCodec.of(mapper, Name.class), json);
    assertTrue(message.contains("not the JSON of a " + Name.class.getName()), message);
    assertTrue(message.contains("\"born\""), message);
    ObjectMapper lenient =
        new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    Codec<Name> names = JacksonCodec.of(lenient, Name.class);
    lenient.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    assertEquals(new Name("Ada"), decode(names, json), "as it was when the codec was made");
  }

  @Test
  void whatIsNoSuchJsonIsRefused() {
    Codec<Person> people = JacksonCodec.of(mapper, Person.class);
    for (String json :
        List.of("", "{", "[]", "\u0001\u0002", "{\"name\":1}{}", "{\"born\":\"x\"}")) {
      String message = refused(people, json);
      assertTrue(message.contains(Person.class.getName()), message);
    }
    assertTrue(refused(people, "null").contains("JSON of null"));
    assertEquals(
        "value", assertThrows(NullPointerException.class, () -> people.encode(null)).getMessage());
    Codec<Object> objects = JacksonCodec.of(mapper, Object.class);
    String message =
        assertThrows(IllegalArgumentException.class, () -> objects.encode(new Object()))
            .getMessage();
    assertTrue(message.contains("a value of java.lang.Object can't be written as JSON"), message);
  }

  @Test
  void whatJacksonWritesAndDoesNotReadIsReadWithOtherConstraints() {
    String text = "x".repeat(20_000_001);
    BigInteger number = BigInteger.TEN.pow(1000);
    Codec<String> texts = JacksonCodec.of(mapper, String.class);
    Codec<BigInteger> numbers = JacksonCodec.of(mapper, BigInteger.class);
    byte[] storedText = texts.encode(text);
    byte[] storedNumber = numbers.encode(number);
    String message =
        assertThrows(
                IllegalArgumentException.class, () -> texts.decode(ByteBuffer.wrap(storedText)))
            .getMessage();
    assertTrue(message.contains("getMaxStringLength"), message);
    assertThrows(
        IllegalArgumentException.class, () -> numbers.decode(ByteBuffer.wrap(storedNumber)));
    StreamReadConstraints wide =
        StreamReadConstraints.builder().maxStringLength(1 << 30).maxNumberLength(1 << 20).build();
    ObjectMapper reading =
        new ObjectMapper(JsonFactory.builder().streamReadConstraints(wide).build());
    assertEquals(text, JacksonCodec.of(reading, String.class).decode(ByteBuffer.wrap(storedText)));
    assertEquals(
        number, JacksonCodec.of(reading, BigInteger.class).decode(ByteBuffer.wrap(storedNumber)));
  }
}
