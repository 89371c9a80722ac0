package io.isobardb.lsm.option;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the operands of a tree become values: {@code Tree.merge} writes an operand without reading,
 * and reads merge the operands of a key with the value below them. Its name is stored with the tree
 * and checked at open.
 *
 * <pre>{@code
 * // Values are sets of flags, operands are flags to set.
 * class SetFlags implements MergeOperator {
 *   public String name() {
 *     return "set flags";
 *   }
 *
 *   public byte[] merge(byte[] key, byte[] base, List<byte[]> operands) {
 *     byte flags = base == null ? 0 : base[0];
 *     for (byte[] operand : operands) {
 *       flags |= operand[0];
 *     }
 *     return new byte[] {flags};
 *   }
 *
 *   public byte[] combine(byte[] older, byte[] newer) {
 *     return new byte[] {(byte) (older[0] | newer[0])};
 *   }
 * }
 * Tree flags = store.openTree("flags", TreeOptions.builder().mergeOperator(new SetFlags()).build());
 * flags.merge(key, new byte[] {4});
 * }</pre>
 *
 * <p>An operator is a pure function that never changes under its name: what it gives for a key
 * depends on its arguments alone. The store may apply it at any time, to a part of the operands,
 * and more than once: first to the oldest with the base, then to the next with what that gave. It
 * is called by many threads at once, must not block, must not use the store, and must not change
 * its arguments.
 *
 * <p>If {@link #merge} throws anything, or gives too long a value, reads of the key throw {@code
 * MergeException}; the operands stay, so that an operator that is mended can read them. Writes,
 * flushes and merges go on. What an operator returns is copied, so it may use an array again.
 *
 * <p>If it calls {@code System.exit}, unlogged trees are saved, and nothing that is logged is lost.
 */
public interface MergeOperator {
  /** The most operands that {@link #merge} is given at once. */
  int MAX_OPERANDS = 64;

  /**
   * Adds whole numbers: values and operands are longs of 8 bytes, big-endian. No value counts as 0;
   * sums wrap around.
   */
  MergeOperator ADD_LONG = BuiltInOperators.ADD_LONG;

  /** Keeps the greatest: operands and values are compared as unsigned bytes. */
  MergeOperator MAXIMUM = BuiltInOperators.MAXIMUM;

  /** Appends: the value is all operands one after another, behind what was there. */
  MergeOperator APPEND = BuiltInOperators.APPEND;

  /**
   * {@return a name, which is stored with the tree; an operator that gives other results needs a
   * different one} It has 1 to 200 characters, no control characters nor lone surrogates, and is
   * always the same.
   */
  String name();

  /**
   * The value of a key.
   *
   * @param key not to be changed
   * @param base the value below the operands, or null if there is none
   * @param operands at least one, at most {@link #MAX_OPERANDS}, from the oldest to the newest
   * @return the value, at most 1 GiB; null if the key is not there any more
   */
  byte @Nullable [] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands);

  /**
   * Passes if an operand can be merged, with whatever base and other operands. Asked when an
   * operand is written: one that is refused is not. By default all pass.
   *
   * @param operand not to be changed
   * @throws IllegalArgumentException if it can't
   */
  default void check(byte[] operand) {}

  /**
   * One operand that does what two do: with any base and whatever follows, {@link #merge} gives the
   * same with it as with the two. Saves room where operands are stored without their base.
   *
   * @param older not to be changed
   * @param newer what was merged next; not to be changed
   * @return null, as by default, if there is none
   */
  default byte @Nullable [] combine(byte[] older, byte[] newer) {
    return null;
  }
}
