package io.isobardb.lsm.simulation;

import io.isobardb.lsm.option.KeyOrder;
import java.util.Arrays;

/** Bytes in falling order. */
public final class FallingOrder implements KeyOrder {
  /** The one there is. */
  public static final KeyOrder FALLING = new FallingOrder();

  private FallingOrder() {}

  @Override
  public String name() {
    return "falling";
  }

  @Override
  public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
    return Arrays.compareUnsigned(b, bOffset, bOffset + bLength, a, aOffset, aOffset + aLength);
  }
}
