package io.isobardb.tpcc.schema;

/** A row of WAREHOUSE: {@code ytd 8 | tax 4 | name, street 1, street 2, city | state 2 zip 9}. */
public final class WarehouseRow extends Row {
  private static final int YTD = 0;
  private static final int TAX = 8;
  private static final int FIXED = 12;

  /** The row that {@code bytes} hold. */
  public WarehouseRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row. */
  public static WarehouseRow of(byte[] name, Address address, int taxRate, long ytdCents) {
    byte[][] texts = {name, address.street1(), address.street2(), address.city()};
    WarehouseRow row = new WarehouseRow(compose(FIXED, texts, address.stateAndZip()));
    row.setInt(TAX, taxRate);
    row.setYtdCents(ytdCents);
    return row;
  }

  /** W_YTD. */
  public long ytdCents() {
    return longAt(YTD);
  }

  /** Sets W_YTD. */
  public void setYtdCents(long cents) {
    setLong(YTD, cents);
  }

  /** W_TAX in ten-thousandths. */
  public int taxRate() {
    return intAt(TAX);
  }

  /** W_NAME. */
  public byte[] name() {
    return text(FIXED, 0);
  }
}
