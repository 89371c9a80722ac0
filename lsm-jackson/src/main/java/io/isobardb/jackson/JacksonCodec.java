package io.isobardb.jackson;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.util.ByteBufferBackedInputStream;
import io.isobardb.lsm.typed.Codec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Values as JSON.
 *
 * <pre>{@code
 * ObjectMapper mapper = JsonMapper.builder().findAndAddModules().build();
 * TypedTree<String, Person> people =
 *     TypedTree.of(
 *         store.openTree("people"), KeyCodec.ofString(), JacksonCodec.of(mapper, Person.class));
 * }</pre>
 *
 * <p>The mapper decides what is written and what is refused. By default one that reads a property
 * it does not know throws: turn {@code FAIL_ON_UNKNOWN_PROPERTIES} off if fields are to be removed.
 * Maps are always written in the order of their keys, so that equal ones have the same bytes. The
 * codec keeps the configuration that the mapper had when it was made.
 *
 * <p>Jackson writes what it does not read by default: strings of more than 20 million characters,
 * numbers of more than 1,000 digits. Whoever stores such values gives the mapper's factory other
 * {@code StreamReadConstraints}. What is stored can be read then.
 *
 * <p>Thread rule: all methods may be called by any thread.
 *
 * <p>Errors: {@code IllegalArgumentException} with Jackson's message, if a value can't be written,
 * or bytes are not the JSON of one.
 *
 * @param <T> the type of the values
 */
public final class JacksonCodec<T> implements Codec<T> {
  private final JavaType type;
  private final ObjectWriter writer;
  private final ObjectReader reader;

  private JacksonCodec(ObjectMapper mapper, JavaType type) {
    this.type = type;
    writer = mapper.writerFor(type).with(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);
    reader = mapper.readerFor(type).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  }

  /**
   * {@return a codec of a class}
   *
   * @param <T> the type of the values
   * @param mapper decides what is written and read
   * @param type the type of the values
   */
  public static <T> JacksonCodec<T> of(ObjectMapper mapper, Class<T> type) {
    Objects.requireNonNull(mapper, "mapper");
    Objects.requireNonNull(type, "type");
    return new JacksonCodec<>(mapper, mapper.constructType(type));
  }

  /**
   * {@return a codec of a generic type: {@code new TypeReference<List<Person>>() {}}}
   *
   * @param <T> the type of the values
   * @param mapper decides what is written and read
   * @param type the type of the values
   */
  public static <T> JacksonCodec<T> of(ObjectMapper mapper, TypeReference<T> type) {
    Objects.requireNonNull(mapper, "mapper");
    Objects.requireNonNull(type, "type");
    return new JacksonCodec<>(mapper, mapper.constructType(type));
  }

  @Override
  public byte[] encode(T value) {
    Objects.requireNonNull(value, "value");
    try {
      return writer.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "a value of " + type.toCanonical() + " can't be written as JSON: " + e.getMessage(), e);
    }
  }

  @Override
  public T decode(ByteBuffer bytes) {
    @Nullable T value;
    try {
      value = reader.readValue(new ByteBufferBackedInputStream(bytes));
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "what is stored is not the JSON of a " + type.toCanonical() + ": " + e.getMessage(), e);
    }
    if (value == null) {
      throw new IllegalArgumentException(
          "what is stored is the JSON of null, and not of a " + type.toCanonical());
    }
    return value;
  }

  @Override
  public String toString() {
    return "JSON of " + type.toCanonical();
  }
}
