package io.isobardb.lsm.option;

import java.util.Arrays;

/**
 * The order of a tree's keys. Its name is stored with the tree and checked at open.
 *
 * <pre>{@code
 * // Short keys first, keys of one length by their bytes.
 * class ShortestFirst implements KeyOrder {
 *   public String name() {
 *     return "shortest first";
 *   }
 *
 *   public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
 *     int lengths = Integer.compare(aLength, bLength);
 *     return lengths != 0 ? lengths : BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
 *   }
 * }
 * Tree tree = store.openTree("words", TreeOptions.builder().keyOrder(new ShortestFirst()).build());
 * }</pre>
 *
 * <p>An order is total, never changes under its name, takes any two byte strings, and calls two
 * keys equal only if their bytes are. Implementations are called by many threads at once and must
 * not block. Each key that a user gives is first compared with itself: if that throws, or does not
 * give 0, the call throws {@link IllegalArgumentException}, and nothing was done.
 */
public interface KeyOrder {
  /** Unsigned bytes, shorter first: the default, and the fast one. */
  KeyOrder BYTES =
      new KeyOrder() {
        @Override
        public String name() {
          return "bytes";
        }

        @Override
        public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
          return Arrays.compareUnsigned(
              a, aOffset, aOffset + aLength, b, bOffset, bOffset + bLength);
        }

        @Override
        public String toString() {
          return "bytes";
        }
      };

  /**
   * {@return a name, which is stored with the tree; a different order needs a different one} It has
   * 1 to 200 characters, no control characters nor lone surrogates, and is always the same.
   */
  String name();

  /**
   * As {@link java.util.Comparator#compare}.
   *
   * @param a has one key; not to be changed
   * @param aOffset where that begins
   * @param aLength how many bytes it has, 0 or more
   * @param b has the other key, perhaps the same array; not to be changed
   * @param bOffset where that begins
   * @param bLength how many bytes it has, 0 or more
   * @return negative if the first key comes before the other, positive if behind it, 0 if their
   *     bytes are equal
   */
  int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength);

  /** {@return whether this is {@link #BYTES}, for which pages carry heads and strip prefixes} */
  default boolean isBytes() {
    return this == BYTES;
  }
}
