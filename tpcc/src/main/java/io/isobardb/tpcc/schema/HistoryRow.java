package io.isobardb.tpcc.schema;

/** A row of HISTORY: {@code amount 8 | data of 12 to 24 characters}. */
public final class HistoryRow extends Row {
  private static final int AMOUNT = 0;
  private static final int FIXED = 8;

  /** The row that {@code bytes} hold. */
  public HistoryRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row. */
  public static HistoryRow of(long amountCents, byte[] data) {
    HistoryRow row = new HistoryRow(compose(FIXED, new byte[0][], data));
    row.setLong(AMOUNT, amountCents);
    return row;
  }

  /** H_AMOUNT. */
  public long amountCents() {
    return longAt(AMOUNT);
  }

  /** H_DATA. */
  public byte[] data() {
    return part(FIXED, bytes().length);
  }
}
