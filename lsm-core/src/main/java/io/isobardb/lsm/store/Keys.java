package io.isobardb.lsm.store;

import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.commit.WriteGate;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.ShownKey;
import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.read.Bounds;
import io.isobardb.lsm.state.TreeHandle;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Keys and values that users give in buffers, whose positions stay. */
final class Keys {
  /** A target with room for no value but an empty one. */
  static final ByteBuffer NO_ROOM = ByteBuffer.allocate(0);

  /** What a delete has for a value. */
  static final byte[] NO_VALUE = {};

  private Keys() {}

  /** Passes if a key is not too long. */
  static void checkKey(int length, int most) {
    if (length > most) {
      throw new IllegalArgumentException(
          "a key of "
              + length
              + " bytes exceeds the limit of "
              + most
              + " bytes, a quarter of a page");
    }
  }

  /**
   * Passes if the order of a tree, if it is a user's, takes a key. Asked before a write begins: an
   * order that fails later stops more than that write.
   */
  static void checkOrder(KeyOrder order, byte[] key) {
    if (order.isBytes()) {
      return;
    }
    Throwable failure = null;
    try {
      if (order.compare(key, 0, key.length, key, 0, key.length) == 0) {
        return;
      }
    } catch (Throwable e) {
      failure = UserCode.failure(e);
    }
    throw new IllegalArgumentException(
        "the key order '"
            + order.name()
            + (failure == null ? "' tells a key from itself" : "' failed")
            + ", on "
            + ShownKey.of(key)
            + (failure == null ? "" : ": " + UserCode.shown(failure)),
        failure);
  }

  /** Passes if a value is not too long. */
  static void checkValue(int length, int most) {
    if (length > most) {
      throw new IllegalArgumentException(
          "a value of "
              + length
              + " bytes exceeds the limit of "
              + most
              + (most < WriteGate.MAX_VALUE
                  ? " bytes, a quarter of the write memory: that would have to be "
                      + 4L * length
                      + " bytes (StoreOptions.Builder.writeMemory)"
                  : " bytes"));
    }
  }

  /** Makes a write a put of what remains in two buffers. */
  static void put(Write write, ByteBuffer key, ByteBuffer value) {
    write.of(Kind.PUT, array(key), start(key), key.remaining());
    write.value(array(value), start(value), value.remaining());
  }

  /** Passes if an operand can be merged into the values of a tree. */
  static void checkOperand(TreeHandle tree, byte[] operand) {
    MergeOperator operator = tree.settings().operator();
    if (operator == null) {
      throw new IllegalArgumentException(
          "tree '"
              + tree.name()
              + "' has no merge operator, and never gets one: copy its entries to a tree made with"
              + " TreeOptions.Builder.mergeOperator");
    }
    try {
      operator.check(operand);
    } catch (Throwable e) {
      throw new IllegalArgumentException(
          "the merge operator '"
              + operator.name()
              + "' of tree '"
              + tree.name()
              + "' refuses an operand: "
              + UserCode.shown(UserCode.failure(e)),
          e);
    }
  }

  /**
   * The bounds of a cursor, for a tree with this order.
   *
   * @throws IllegalArgumentException if they are those of a prefix, and it is not byte order; or if
   *     the order does not take one
   */
  static Bounds bounds(CursorOptions options, KeyOrder order) {
    if (options.isPrefix() && !order.isBytes()) {
      throw new IllegalArgumentException(
          "keys that begin alike do not stand together in the key order '"
              + order.name()
              + "': give the bounds by from and to");
    }
    byte[] from = options.from();
    byte[] to = options.to();
    checkOrder(order, from == null ? NO_VALUE : from);
    checkOrder(order, to == null ? NO_VALUE : to);
    return new Bounds(from, to);
  }

  /** A copy of a bound; null if there is none. */
  static byte @Nullable [] copy(byte @Nullable [] bound) {
    return bound == null ? null : bound.clone();
  }

  /** What remains in a key's buffer; its own array, if that is all there is in it. */
  static byte[] bytes(ByteBuffer key) {
    Objects.requireNonNull(key, "key");
    if (key.hasArray() && key.array().length == key.remaining()) {
      return key.array();
    }
    byte[] bytes = new byte[key.remaining()];
    key.get(key.position(), bytes);
    return bytes;
  }

  /** An array that holds what remains in a buffer, from {@link #start} on. */
  static byte[] array(ByteBuffer buffer) {
    if (buffer.hasArray()) {
      return buffer.array();
    }
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(buffer.position(), bytes);
    return bytes;
  }

  /** Where {@link #array} begins. */
  static int start(ByteBuffer buffer) {
    return buffer.hasArray() ? buffer.arrayOffset() + buffer.position() : 0;
  }
}
