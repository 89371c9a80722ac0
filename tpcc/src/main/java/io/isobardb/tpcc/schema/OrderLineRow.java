package io.isobardb.tpcc.schema;

/**
 * A row of ORDER_LINE: {@code delivery 8, 0 for none | amount 8 | item 4 | supplying warehouse 4 |
 * quantity 1 | district information 24}.
 */
public final class OrderLineRow extends Row {
  private static final int DELIVERY = 0;
  private static final int AMOUNT = 8;
  private static final int ITEM = 16;
  private static final int SUPPLIER = 20;
  private static final int QUANTITY = 24;
  private static final int INFO = 25;
  private static final int FIXED = 49;

  /** The row that {@code bytes} hold. */
  public OrderLineRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row, not delivered. */
  public static OrderLineRow of(
      int item, int supplier, int quantity, long amountCents, byte[] districtInfo) {
    OrderLineRow row = new OrderLineRow(new byte[FIXED]);
    row.setLong(AMOUNT, amountCents);
    row.setInt(ITEM, item);
    row.setInt(SUPPLIER, supplier);
    row.bytes()[QUANTITY] = (byte) quantity;
    System.arraycopy(districtInfo, 0, row.bytes(), INFO, StockRow.INFO_BYTES);
    return row;
  }

  /** OL_DELIVERY_D, 0 if the line is not delivered. */
  public long deliveryMillis() {
    return longAt(DELIVERY);
  }

  /** Sets OL_DELIVERY_D. */
  public void setDeliveryMillis(long millis) {
    setLong(DELIVERY, millis);
  }

  /** OL_AMOUNT. */
  public long amountCents() {
    return longAt(AMOUNT);
  }

  /** OL_I_ID. */
  public int item() {
    return intAt(ITEM);
  }

  /** OL_SUPPLY_W_ID. */
  public int supplier() {
    return intAt(SUPPLIER);
  }

  /** OL_QUANTITY. */
  public int quantity() {
    return bytes()[QUANTITY];
  }
}
