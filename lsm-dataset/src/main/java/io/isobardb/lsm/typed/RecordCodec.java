package io.isobardb.lsm.typed;

import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Records as values, in few bytes, found out from their components.
 *
 * <pre>{@code
 * record City(String name, int people, Optional<Instant> founded) {}
 * TypedTree<Long, City> cities =
 *     TypedTree.of(store.openTree("cities"), KeyCodec.ofLong(), Codec.of(City.class));
 * cities.put(1L, new City("London", 9_000_000, Optional.empty()));
 * }</pre>
 *
 * <p>Components may be of primitive types and their boxes, {@code String}, {@code byte[]}, {@code
 * Instant}, {@code Duration}, {@code LocalDate}, {@code UUID}, of enums and records, and {@code
 * List}, {@code Set} and {@code Map} of all these, with no null among their elements. A component
 * may also be an {@code Optional} of one. The builder takes codecs for other types.
 *
 * <p><b>A record may change.</b> Its fields are found by their names, so they may be reordered,
 * added and removed. A field that is not stored is null, zero, false or empty, which the record's
 * constructor may replace; it must not refuse it. A field that the record has no more is passed
 * over. It is gone once the record is written again. {@code byte}, {@code short} and {@code int}
 * may become wider, {@code float} may become {@code double}, a primitive type its box and an {@code
 * Optional}, and the other way round. Any other change of a type is an error as soon as such a
 * value is read, which names the record, the field and both types. A field of another name is
 * another field. Constants of enums are stored by name.
 *
 * <p>Strings are stored as UTF-8. What that can't express, half of a surrogate pair, becomes a
 * question mark: a map or a set whose elements differ in nothing else has fewer of them afterwards.
 *
 * <p>Equal records have the same bytes, as long as their type does not change. After that {@code
 * replace} and {@code remove} with an expected value may miss what was stored before.
 *
 * <p>Thread rule: immutable.
 *
 * <p>Errors: {@code IllegalArgumentException} when it is made, if there is no codec for a field or
 * the record can't be reached; when bytes are decoded that are not such a record; and when a record
 * is encoded that has a null among elements.
 *
 * @param <R> the type of the records
 */
public final class RecordCodec<R> implements Codec<R> {
  /** Begins the bytes of each record: what wrote them. */
  private static final int VERSION = 1;

  private final Class<R> type;
  private final RecordType fields;

  private RecordCodec(Class<R> type, RecordType fields) {
    this.type = type;
    this.fields = fields;
  }

  /**
   * Begins a codec.
   *
   * @param <R> the type of the records
   * @param type its class
   * @return a builder
   * @throws IllegalArgumentException if the type is no record
   */
  public static <R> Builder<R> builder(Class<R> type) {
    if (!Objects.requireNonNull(type, "type").isRecord()) {
      throw new IllegalArgumentException(type.getName() + " is no record");
    }
    return new Builder<>(type);
  }

  @Override
  public byte[] encode(R value) {
    CodecOutput out = new CodecOutput();
    out.put(VERSION);
    fields.writeFields(Objects.requireNonNull(value, "value"), out);
    return out.toBytes();
  }

  @Override
  public R decode(ByteBuffer bytes) {
    int version = bytes.hasRemaining() ? bytes.get() : 0;
    if (version != VERSION) {
      throw new IllegalArgumentException(
          this
              + ": what is stored is no record: it "
              + (version == 0 && !bytes.hasRemaining() ? "is empty" : "begins with " + version)
              + "; open the tree with the codec that it was written with");
    }
    return type.cast(fields.readFields(bytes));
  }

  @Override
  public String toString() {
    return "codec of " + fields;
  }

  /**
   * What goes into a codec of records. One thread.
   *
   * @param <R> the type of the records
   */
  public static final class Builder<R> {
    private final Class<R> type;
    private final Map<Class<?>, Codec<?>> codecs = new LinkedHashMap<>();
    private MethodHandles.@Nullable Lookup lookup;

    private Builder(Class<R> type) {
      this.type = type;
    }

    /**
     * What may use the record and those within it, if their module does not open their package to
     * this one: {@code MethodHandles.lookup()}, called within the class that declares them.
     *
     * @param lookup what may use them
     * @return this
     */
    public Builder<R> lookup(MethodHandles.Lookup lookup) {
      this.lookup = Objects.requireNonNull(lookup, "lookup");
      return this;
    }

    /**
     * A codec for fields and elements of a type.
     *
     * @param <T> the type of the values
     * @param type its class
     * @param codec its codec
     * @return this
     */
    public <T> Builder<R> codec(Class<T> type, Codec<T> codec) {
      codecs.put(Objects.requireNonNull(type, "type"), Objects.requireNonNull(codec, "codec"));
      return this;
    }

    /**
     * Makes the codec.
     *
     * @return the codec
     * @throws IllegalArgumentException if there is none for the type of a field, or the record
     *     can't be reached
     */
    public RecordCodec<R> build() {
      return new RecordCodec<>(type, new ValueTypes(lookup, Map.copyOf(codecs)).record(type));
    }
  }
}
