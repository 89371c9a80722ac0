package io.isobardb.bench.simulate;

/** A set of keys, one bit each. Ranges include both ends. */
final class KeyBits {
  private final long[] words;

  KeyBits(int keys) {
    words = new long[(keys + 63) >>> 6];
  }

  /** Adds a key; whether it is new. */
  boolean add(int key) {
    long bit = 1L << key;
    long word = words[key >>> 6];
    words[key >>> 6] = word | bit;
    return (word & bit) == 0;
  }

  boolean contains(int key) {
    return (words[key >>> 6] & 1L << key) != 0;
  }

  /** Adds all keys of {@code other}, which is empty then; how many of them are new. */
  int takeAll(KeyBits other) {
    int fresh = 0;
    for (int w = 0; w < words.length; w++) {
      fresh += Long.bitCount(other.words[w] & ~words[w]);
      words[w] |= other.words[w];
      other.words[w] = 0;
    }
    return fresh;
  }

  /** Takes out the keys from {@code first} to {@code last}. */
  void clear(int first, int last) {
    for (int w = first >>> 6; w <= last >>> 6; w++) {
      words[w] &= ~mask(w, first, last);
    }
  }

  void fill(int keys) {
    for (int key = 0; key < keys; key++) {
      add(key);
    }
  }

  /**
   * Adds the keys that {@code other} has from {@code first} to {@code last}, and takes them out.
   */
  void take(KeyBits other, int first, int last) {
    for (int w = first >>> 6; w <= last >>> 6; w++) {
      long moved = other.words[w] & mask(w, first, last);
      words[w] |= moved;
      other.words[w] &= ~moved;
    }
  }

  /** The number of keys from {@code first} to {@code last}. */
  int count(int first, int last) {
    int count = 0;
    for (int w = first >>> 6; w <= last >>> 6; w++) {
      count += Long.bitCount(words[w] & mask(w, first, last));
    }
    return count;
  }

  /** The lowest key from {@code from} on; -1 if there is none. */
  int next(int from) {
    int w = from >>> 6;
    if (w >= words.length) {
      return -1;
    }
    long word = words[w] & -1L << from;
    while (word == 0) {
      if (++w == words.length) {
        return -1;
      }
      word = words[w];
    }
    return (w << 6) + Long.numberOfTrailingZeros(word);
  }

  /**
   * The key that is the {@code count}-th from {@code from} on, up to {@code last}; if there are
   * fewer, the last one; -1 if there is none.
   */
  int nth(int from, int last, int count) {
    int left = count;
    int found = -1;
    for (int w = from >>> 6; w <= last >>> 6; w++) {
      long word = words[w] & mask(w, from, last);
      int here = Long.bitCount(word);
      if (here < left) {
        left -= here;
        found = here == 0 ? found : (w << 6) + 63 - Long.numberOfLeadingZeros(word);
        continue;
      }
      while (--left > 0) {
        word &= word - 1;
      }
      return (w << 6) + Long.numberOfTrailingZeros(word);
    }
    return found;
  }

  private static long mask(int w, int first, int last) {
    long mask = -1L;
    if (w == first >>> 6) {
      mask &= -1L << first;
    }
    if (w == last >>> 6) {
      mask &= -1L >>> 63 - last;
    }
    return mask;
  }
}
