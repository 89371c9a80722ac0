package io.isobardb.lsm.typed;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A range of keys; immutable.
 *
 * <pre>{@code
 * KeyRange<Long> first = KeyRange.before(1000L);
 * KeyRange<Long> teens = KeyRange.between(13L, 20L);
 * KeyRange<Long> above = KeyRange.<Long>all().from(1000L, false);
 * KeyRange<Long> latest = KeyRange.<Long>all().descending(); // the last one first
 * }</pre>
 *
 * @param <K> the type of the keys
 */
public final class KeyRange<K> {
  private record Bound<K>(K key, boolean inclusive) {}

  private final @Nullable Bound<K> from;
  private final @Nullable Bound<K> to;
  private final List<?> parts;
  private final boolean descending;

  private KeyRange(
      @Nullable Bound<K> from, @Nullable Bound<K> to, List<?> parts, boolean descending) {
    this.from = from;
    this.to = to;
    this.parts = parts;
    this.descending = descending;
  }

  /**
   * {@return all keys}
   *
   * @param <K> the type of keys
   */
  public static <K> KeyRange<K> all() {
    return new KeyRange<>(null, null, List.of(), false);
  }

  /**
   * {@return keys from one on, which belongs to it}
   *
   * @param <K> the type of keys
   * @param key the bound
   */
  public static <K> KeyRange<K> from(K key) {
    return KeyRange.<K>all().from(key, true);
  }

  /**
   * {@return keys before one, which does not belong to it}
   *
   * @param <K> the type of keys
   * @param key the bound
   */
  public static <K> KeyRange<K> before(K key) {
    return KeyRange.<K>all().to(key, false);
  }

  /**
   * {@return keys from one on, which belongs to it, to another, which does not}
   *
   * @param <K> the type of keys
   * @param from the first key
   * @param to the key behind the last one
   */
  public static <K> KeyRange<K> between(K from, K to) {
    return from(from).to(to, false);
  }

  /**
   * {@return keys that begin with these parts, of a codec whose keys have parts: {@link
   * KeyCodec#pair}, {@link KeyCodec#tuple}, and what was made of them by {@link KeyCodec#map}}
   *
   * @param <K> the type of keys
   * @param parts of the types of the codec's first parts; at least one part must be left
   */
  public static <K> KeyRange<K> startingWith(@Nullable Object... parts) {
    Objects.requireNonNull(parts, "parts");
    return new KeyRange<>(null, null, Arrays.asList(parts.clone()), false);
  }

  /**
   * {@return this range, but from a key on}
   *
   * @param key the bound
   * @param inclusive whether the key itself belongs to it
   */
  public KeyRange<K> from(K key, boolean inclusive) {
    Bound<K> bound = new Bound<>(Objects.requireNonNull(key, "key"), inclusive);
    return new KeyRange<>(bound, to, parts, descending);
  }

  /**
   * {@return this range, but up to a key}
   *
   * @param key the bound
   * @param inclusive whether the key itself belongs to it
   */
  public KeyRange<K> to(K key, boolean inclusive) {
    Bound<K> bound = new Bound<>(Objects.requireNonNull(key, "key"), inclusive);
    return new KeyRange<>(from, bound, parts, descending);
  }

  /**
   * {@return the same keys, but read from the last one to the first; what removes them takes no
   * notice of it}
   */
  public KeyRange<K> descending() {
    return new KeyRange<>(from, to, parts, true);
  }

  boolean isDescending() {
    return descending;
  }

  /**
   * The range of bytes as range deletes take it, whose bounds are keys of at most {@code most}
   * bytes.
   *
   * @throws IllegalArgumentException if it begins at a key behind the one it ends at
   */
  ByteRange encode(KeyCodec<K> codec, int most) {
    Bound<K> low = from;
    Bound<K> high = to;
    if (low != null && high != null) {
      byte[] first = codec.encode(low.key());
      byte[] last = codec.encode(high.key());
      if (Arrays.compareUnsigned(first, last) > 0) {
        throw new IllegalArgumentException(
            "a range of keys can't begin at " + low.key() + ", behind its end " + high.key());
      }
    }
    return encode(codec).within(most);
  }

  /** The range of bytes. */
  ByteRange encode(KeyCodec<K> codec) {
    ByteRange range = ByteRange.ALL;
    if (!parts.isEmpty()) {
      CodecOutput out = new CodecOutput();
      int most = codec.writeParts(parts, out);
      if (parts.size() > most) {
        throw new IllegalArgumentException(
            most == 0
                ? "these keys have no parts to begin with, as those of KeyCodec.pair and tuple have:"
                    + " give the bounds by from and to"
                : "keys can begin with at most " + most + " parts, and there are " + parts.size());
      }
      range = ByteRange.prefix(out.toBytes());
    }
    Bound<K> low = from;
    if (low != null) {
      range = range.from(codec.encode(low.key()), low.inclusive());
    }
    Bound<K> high = to;
    if (high != null) {
      range = range.to(codec.encode(high.key()), high.inclusive());
    }
    return range;
  }
}
