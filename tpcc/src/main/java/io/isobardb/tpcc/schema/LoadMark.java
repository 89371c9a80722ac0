package io.isobardb.tpcc.schema;

import org.jspecify.annotations.Nullable;

/**
 * What was loaded: written last, so that a store without it is not loaded in full.
 *
 * <pre>
 * version 4 | warehouses 4 | items 4 | customers 4 | new orders 4 | constants 3 x 4 | seed 8
 * </pre>
 *
 * @param scale how much
 * @param constants of NURand at the load
 * @param seed of all values
 */
public record LoadMark(Scale scale, NuRand constants, long seed) {
  private static final int VERSION = 1;

  private static final class Layout extends Row {
    static final int FIXED = 40;

    Layout(byte[] bytes) {
      super(bytes, FIXED);
    }
  }

  /** The mark as it is stored. */
  public byte[] toBytes() {
    Layout row = new Layout(new byte[Layout.FIXED]);
    row.setInt(0, VERSION);
    row.setInt(4, scale.warehouses());
    row.setInt(8, scale.items());
    row.setInt(12, scale.customers());
    row.setInt(16, scale.newOrders());
    row.setInt(20, constants.lastName());
    row.setInt(24, constants.customer());
    row.setInt(28, constants.item());
    row.setLong(32, seed);
    return row.bytes();
  }

  /** Reads what {@link #toBytes} wrote; null for none. */
  public static @Nullable LoadMark fromBytes(byte @Nullable [] bytes) {
    if (bytes == null) {
      return null;
    }
    Layout row = new Layout(bytes);
    if (row.intAt(0) != VERSION) {
      throw new IllegalStateException(
          "the data is of version " + row.intAt(0) + ", not " + VERSION + ": load it anew");
    }
    return new LoadMark(
        new Scale(row.intAt(4), row.intAt(8), row.intAt(12), row.intAt(16)),
        new NuRand(row.intAt(20), row.intAt(24), row.intAt(28)),
        row.longAt(32));
  }
}
