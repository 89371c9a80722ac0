package io.isobardb.tpcc.schema;

/**
 * A row of ORDERS: {@code entry 8 | customer 4 | carrier 1, 0 for none | lines 1 | all local 1}.
 */
public final class OrderRow extends Row {
  private static final int ENTRY = 0;
  private static final int CUSTOMER = 8;
  private static final int CARRIER = 12;
  private static final int LINES = 13;
  private static final int ALL_LOCAL = 14;
  private static final int FIXED = 15;

  /** The row that {@code bytes} hold. */
  public OrderRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row. */
  public static OrderRow of(
      int customer, long entryMillis, int carrier, int lines, boolean allLocal) {
    OrderRow row = new OrderRow(new byte[FIXED]);
    row.setLong(ENTRY, entryMillis);
    row.setInt(CUSTOMER, customer);
    row.setCarrier(carrier);
    row.bytes()[LINES] = (byte) lines;
    row.bytes()[ALL_LOCAL] = (byte) (allLocal ? 1 : 0);
    return row;
  }

  /** O_ENTRY_D. */
  public long entryMillis() {
    return longAt(ENTRY);
  }

  /** O_C_ID. */
  public int customer() {
    return intAt(CUSTOMER);
  }

  /** O_CARRIER_ID, 0 if the order is not delivered. */
  public int carrier() {
    return bytes()[CARRIER];
  }

  /** Sets O_CARRIER_ID. */
  public void setCarrier(int carrier) {
    bytes()[CARRIER] = (byte) carrier;
  }

  /** O_OL_CNT. */
  public int lines() {
    return bytes()[LINES];
  }

  /** O_ALL_LOCAL. */
  public boolean allLocal() {
    return bytes()[ALL_LOCAL] == 1;
  }
}
