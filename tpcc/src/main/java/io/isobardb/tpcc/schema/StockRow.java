package io.isobardb.tpcc.schema;

/**
 * A row of STOCK: {@code quantity 2 | ytd 4 | orders 4 | remote orders 4 | 10 x district
 * information 24 | data of 26 to 50 characters}.
 */
public final class StockRow extends Row {
  /** The length of S_DIST_01 to S_DIST_10. */
  public static final int INFO_BYTES = 24;

  private static final int QUANTITY = 0;
  private static final int YTD = 2;
  private static final int ORDERS = 6;
  private static final int REMOTE = 10;
  private static final int INFO = 14;
  private static final int FIXED = INFO + Scale.DISTRICTS * INFO_BYTES;

  /** The row that {@code bytes} hold. */
  public StockRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row; {@code districtInfo} is what the ten districts have, one after the other. */
  public static StockRow of(int quantity, byte[] districtInfo, byte[] data) {
    StockRow row = new StockRow(compose(FIXED, new byte[0][], data));
    row.setShort(QUANTITY, quantity);
    System.arraycopy(districtInfo, 0, row.bytes(), INFO, Scale.DISTRICTS * INFO_BYTES);
    return row;
  }

  /** S_QUANTITY. */
  public int quantity() {
    return shortAt(QUANTITY);
  }

  /** S_YTD. */
  public int ytd() {
    return intAt(YTD);
  }

  /** S_ORDER_CNT. */
  public int orders() {
    return intAt(ORDERS);
  }

  /** S_REMOTE_CNT. */
  public int remoteOrders() {
    return intAt(REMOTE);
  }

  /** Takes {@code ordered} out of the stock, which is filled up by 91 when fewer than 10 remain. */
  public void order(int ordered, boolean remote) {
    int left = quantity() - ordered;
    setShort(QUANTITY, left >= 10 ? left : left + 91);
    setInt(YTD, ytd() + ordered);
    setInt(ORDERS, orders() + 1);
    if (remote) {
      setInt(REMOTE, remoteOrders() + 1);
    }
  }

  /** S_DIST_xx of the district, from 1. */
  public byte[] districtInfo(int d) {
    return part(INFO + (d - 1) * INFO_BYTES, INFO + d * INFO_BYTES);
  }

  /** Whether S_DATA contains "ORIGINAL". */
  public boolean original() {
    return contains(FIXED, ItemRow.ORIGINAL);
  }
}
