package io.isobardb.tpcc.schema;

import java.nio.charset.StandardCharsets;

/** A row of ITEM: {@code image 4 | price 4 | name | data of 26 to 50 characters}. */
public final class ItemRow extends Row {
  static final byte[] ORIGINAL = "ORIGINAL".getBytes(StandardCharsets.ISO_8859_1);
  private static final int IMAGE = 0;
  private static final int PRICE = 4;
  private static final int FIXED = 8;

  /** The row that {@code bytes} hold. */
  public ItemRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row. */
  public static ItemRow of(int image, int priceCents, byte[] name, byte[] data) {
    ItemRow row = new ItemRow(compose(FIXED, new byte[][] {name}, data));
    row.setInt(IMAGE, image);
    row.setInt(PRICE, priceCents);
    return row;
  }

  /** I_PRICE. */
  public int priceCents() {
    return intAt(PRICE);
  }

  /** Whether I_DATA contains "ORIGINAL". */
  public boolean original() {
    return contains(textOffset(FIXED, 1), ORIGINAL);
  }
}
