package io.isobardb.lsm.option;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The operators that {@link MergeOperator} names. */
abstract class BuiltInOperators implements MergeOperator {
  static final MergeOperator ADD_LONG = new AddLong();
  static final MergeOperator MAXIMUM = new Maximum();
  static final MergeOperator APPEND = new Append();

  private static final class AddLong extends BuiltInOperators {
    AddLong() {
      super("add-long");
    }

    @Override
    public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
      long sum = base == null ? 0 : number(base);
      for (byte[] operand : operands) {
        sum += number(operand);
      }
      return bytes(sum);
    }

    @Override
    public void check(byte[] operand) {
      number(operand);
    }

    @Override
    public byte[] combine(byte[] older, byte[] newer) {
      return bytes(number(older) + number(newer));
    }
  }

  private static final class Maximum extends BuiltInOperators {
    Maximum() {
      super("maximum");
    }

    @Override
    public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
      byte[] most = base == null ? operands.get(0) : base;
      for (byte[] operand : operands) {
        most = combine(most, operand);
      }
      return most;
    }

    @Override
    public byte[] combine(byte[] older, byte[] newer) {
      return Arrays.compareUnsigned(newer, older) > 0 ? newer : older;
    }
  }

  private static final class Append extends BuiltInOperators {
    Append() {
      super("append");
    }

    @Override
    public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
      long length = base == null ? 0 : base.length;
      for (byte[] operand : operands) {
        length += operand.length;
      }
      if (length > Integer.MAX_VALUE - 64) {
        throw new IllegalArgumentException("the value would have " + length + " bytes");
      }
      byte[] all = base == null ? new byte[(int) length] : Arrays.copyOf(base, (int) length);
      int at = base == null ? 0 : base.length;
      for (byte[] operand : operands) {
        System.arraycopy(operand, 0, all, at, operand.length);
        at += operand.length;
      }
      return all;
    }

    @Override
    public byte[] combine(byte[] older, byte[] newer) {
      return merge(older, older, List.of(newer));
    }
  }

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final String label;

  private BuiltInOperators(String label) {
    this.label = label;
  }

  @Override
  public String name() {
    return label;
  }

  @Override
  public String toString() {
    return label;
  }

  private static long number(byte[] bytes) {
    if (bytes.length != Long.BYTES) {
      throw new IllegalArgumentException(
          "a number has 8 bytes, big-endian, and this value has " + bytes.length);
    }
    return (long) LONG.get(bytes, 0);
  }

  private static byte[] bytes(long number) {
    byte[] bytes = new byte[Long.BYTES];
    LONG.set(bytes, 0, number);
    return bytes;
  }
}
