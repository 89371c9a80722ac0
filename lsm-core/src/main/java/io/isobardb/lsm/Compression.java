package io.isobardb.lsm;

import io.isobardb.lsm.option.PageCodec;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a tree's pages are stored on disk: by which codec, and by which in the last level, where most
 * of a tree is. In memory pages are never compressed. Immutable.
 *
 * <pre>{@code
 * Compression small = Compression.LZ4.last("ZSTD"); // in text: LZ4,last=ZSTD
 * Tree documents = store.openTree("documents", TreeOptions.builder().compression(small).build());
 * }</pre>
 *
 * <p>That there is a codec of this name is looked at when a tree gets it.
 *
 * @param codec the name of a {@link PageCodec}, or {@code NONE}
 * @param last the same, for SSTables of the last level
 */
public record Compression(String codec, String last) implements Comparable<Compression> {
  private static final Pattern TEXT = Pattern.compile("([^,=]+)(?:,LAST=([^,=]+))?");

  /** As they are. */
  public static final Compression NONE = of("NONE");

  /** LZ4: fast, about half the size for text. */
  public static final Compression LZ4 = of("LZ4");

  /**
   * Checks the names.
   *
   * @param codec for all levels but the last
   * @param last for the last level
   * @throws IllegalArgumentException if no codec can have one of these names
   */
  public Compression {
    check(codec);
    check(last);
  }

  private static void check(String name) {
    if (!PageCodec.isName(Objects.requireNonNull(name, "codec"))) {
      throw new IllegalArgumentException("'" + name + "' can't be the name of a codec");
    }
  }

  /**
   * {@return one codec for all levels}
   *
   * @param codec a letter, then up to 15 letters, digits and hyphens, in upper case
   * @throws IllegalArgumentException if no codec can have this name
   */
  public static Compression of(String codec) {
    return new Compression(codec, codec);
  }

  /**
   * What {@link #toString} gave, or a user wrote, in upper or lower case: {@code LZ4}, or {@code
   * LZ4,last=ZSTD}.
   *
   * @param text spaces do not count
   * @return what the text says
   * @throws IllegalArgumentException if it is neither
   */
  public static Compression parse(String text) {
    String value = Objects.requireNonNull(text, "text").toUpperCase(Locale.ROOT).replace(" ", "");
    Matcher matcher = TEXT.matcher(value);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is neither a codec such as LZ4, nor two as in LZ4,last=ZSTD");
    }
    String codec = matcher.group(1);
    return new Compression(codec, matcher.group(2) == null ? codec : matcher.group(2));
  }

  /**
   * {@return the same, with another codec for the last level}
   *
   * @param other a letter, then up to 15 letters, digits and hyphens, in upper case
   * @throws IllegalArgumentException if no codec can have this name
   */
  public Compression last(String other) {
    return new Compression(codec, other);
  }

  @Override
  public int compareTo(Compression other) {
    return toString().compareTo(other.toString());
  }

  /** As the option {@code compression} takes it. */
  @Override
  public String toString() {
    return codec.equals(last) ? codec : codec + ",last=" + last;
  }
}
