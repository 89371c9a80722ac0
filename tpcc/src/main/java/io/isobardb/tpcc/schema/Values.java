package io.isobardb.tpcc.schema;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * Random column values as clause 4.3.2 defines them; the same for the same seed. Not thread-safe.
 */
public final class Values {
  private static final byte[] ALPHANUMERIC =
      ascii("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  private static final String[] SYLLABLES = {
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"
  };
  private static final byte[][] LAST_NAMES = new byte[1000][];

  static {
    for (int i = 0; i < 1000; i++) {
      LAST_NAMES[i] = ascii(SYLLABLES[i / 100] + SYLLABLES[i / 10 % 10] + SYLLABLES[i % 10]);
    }
  }

  private final SplittableRandom random;

  /** Values that {@code seed} determines. */
  public Values(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Values of one of many independent parts of what {@code seed} determines. */
  public static Values part(long seed, int part) {
    SplittableRandom root = new SplittableRandom(seed);
    long mixed = root.nextLong() ^ part * 0x9E3779B97F4A7C15L;
    return new Values(new SplittableRandom(mixed).nextLong());
  }

  /** The last name of a number of 0 to 999: three syllables. Shared, not to be changed. */
  public static byte[] lastName(int number) {
    return LAST_NAMES[number];
  }

  /** Text as it is stored. */
  public static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** A number of {@code low} to {@code high}, both included. */
  public int uniform(int low, int high) {
    return random.nextInt(low, high + 1);
  }

  /** True in {@code percent} of 100 cases. */
  public boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  /** A number of 0 up to 1, never 0. */
  public double fraction() {
    return 1 - random.nextDouble();
  }

  /** Letters and digits, {@code low} to {@code high} of them. */
  public byte[] text(int low, int high) {
    byte[] text = new byte[uniform(low, high)];
    int bits = 0;
    for (int i = 0; i < text.length; i++) {
      if (i % 5 == 0) {
        // Five characters of one draw: the text is most of what a load draws.
        bits = random.nextInt(62 * 62 * 62 * 62 * 62);
      }
      text[i] = ALPHANUMERIC[bits % 62];
      bits /= 62;
    }
    return text;
  }

  /** {@code count} digits. */
  public byte[] digits(int count) {
    byte[] text = new byte[count];
    for (int i = 0; i < count; i++) {
      text[i] = (byte) ('0' + random.nextInt(10));
    }
    return text;
  }

  /** Text of 26 to 50 characters, which contains "ORIGINAL" in a tenth of the cases. */
  public byte[] itemData() {
    byte[] data = text(26, 50);
    if (chance(10)) {
      byte[] word = ItemRow.ORIGINAL;
      System.arraycopy(word, 0, data, uniform(0, data.length - word.length), word.length);
    }
    return data;
  }

  /** An address. */
  public Address address() {
    byte[] state = {letter(), letter()};
    byte[] zip = digits(9);
    for (int i = 4; i < 9; i++) {
      zip[i] = '1';
    }
    return new Address(text(10, 20), text(10, 20), text(10, 20), state, zip);
  }

  private byte letter() {
    return (byte) ('A' + random.nextInt(26));
  }

  /** The numbers of 1 to {@code n} in random order. */
  public int[] permutation(int n) {
    int[] numbers = new int[n];
    for (int i = 0; i < n; i++) {
      int other = random.nextInt(i + 1);
      numbers[i] = numbers[other];
      numbers[other] = i + 1;
    }
    return numbers;
  }
}
