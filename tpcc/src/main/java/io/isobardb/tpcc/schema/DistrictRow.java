package io.isobardb.tpcc.schema;

/**
 * A row of DISTRICT: {@code ytd 8 | tax 4 | next order 4 | name, street 1, street 2, city | state 2
 * zip 9}.
 */
public final class DistrictRow extends Row {
  private static final int YTD = 0;
  private static final int TAX = 8;
  private static final int NEXT_ORDER = 12;
  private static final int FIXED = 16;

  /** The row that {@code bytes} hold. */
  public DistrictRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row. */
  public static DistrictRow of(
      byte[] name, Address address, int taxRate, long ytdCents, int nextOrder) {
    byte[][] texts = {name, address.street1(), address.street2(), address.city()};
    DistrictRow row = new DistrictRow(compose(FIXED, texts, address.stateAndZip()));
    row.setInt(TAX, taxRate);
    row.setYtdCents(ytdCents);
    row.setNextOrder(nextOrder);
    return row;
  }

  /** D_YTD. */
  public long ytdCents() {
    return longAt(YTD);
  }

  /** Sets D_YTD. */
  public void setYtdCents(long cents) {
    setLong(YTD, cents);
  }

  /** D_TAX in ten-thousandths. */
  public int taxRate() {
    return intAt(TAX);
  }

  /** D_NEXT_O_ID. */
  public int nextOrder() {
    return intAt(NEXT_ORDER);
  }

  /** Sets D_NEXT_O_ID. */
  public void setNextOrder(int order) {
    setInt(NEXT_ORDER, order);
  }

  /** D_NAME. */
  public byte[] name() {
    return text(FIXED, 0);
  }
}
