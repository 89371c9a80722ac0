package io.isobardb.lsm.simulation;

import io.isobardb.lsm.option.MergeOperator;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * For histories with merges: appends, and keeps the last 700 bytes; an operand without bytes
 * removes the key. So the result depends on each operand, on their order and on what was removed.
 */
public final class TailOperator implements MergeOperator {
  /** The one there is. */
  public static final MergeOperator TAIL = new TailOperator();

  private static final int LENGTH = 700;

  private TailOperator() {}

  @Override
  public String name() {
    return "tail";
  }

  @Override
  public byte @Nullable [] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
    if (operands.isEmpty() || operands.size() > MAX_OPERANDS) {
      throw new AssertionError(operands.size() + " operands");
    }
    byte[] value = base;
    for (byte[] operand : operands) {
      value = operand.length == 0 ? null : value == null ? tail(operand) : joined(value, operand);
    }
    return value;
  }

  @Override
  public byte @Nullable [] combine(byte[] older, byte[] newer) {
    return older.length == 0 || newer.length == 0 ? null : joined(older, newer);
  }

  private static byte[] joined(byte[] a, byte[] b) {
    byte[] both = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    return tail(both);
  }

  private static byte[] tail(byte[] bytes) {
    return Arrays.copyOfRange(bytes, Math.max(0, bytes.length - LENGTH), bytes.length);
  }
}
