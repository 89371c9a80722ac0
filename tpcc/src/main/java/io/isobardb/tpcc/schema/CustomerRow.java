package io.isobardb.tpcc.schema;

/**
 * A row of CUSTOMER.
 *
 * <pre>
 * balance 8 | year-to-date payment 8 | payments 4 | deliveries 4 | credit limit 8 | since 8 |
 * discount 4 | credit 2 | middle 2 | phone 16 | last, first, street 1, street 2, city, state and zip | data
 * </pre>
 */
public final class CustomerRow extends Row {
  /** The longest C_DATA. */
  public static final int MAX_DATA_BYTES = 500;

  private static final int BALANCE = 0;
  private static final int YTD_PAYMENT = 8;
  private static final int PAYMENTS = 16;
  private static final int DELIVERIES = 20;
  private static final int CREDIT_LIMIT = 24;
  private static final int SINCE = 32;
  private static final int DISCOUNT = 40;
  private static final int CREDIT = 44;
  private static final int MIDDLE = 46;
  private static final int PHONE = 48;
  private static final int FIXED = 64;
  private static final int TEXTS = 6;

  /**
   * Who the customer is.
   *
   * @param last C_LAST
   * @param first C_FIRST, 8 to 16 characters
   * @param address where
   * @param phone 16 digits
   */
  public record Person(byte[] last, byte[] first, Address address, byte[] phone) {}

  /** The row that {@code bytes} hold. */
  public CustomerRow(byte[] bytes) {
    super(bytes, FIXED);
  }

  /** A new row; balance, payments and deliveries are 0. */
  public static CustomerRow of(
      Person person, boolean badCredit, int discountRate, long sinceMillis, byte[] data) {
    Address address = person.address();
    byte[][] texts = {
      person.last(),
      person.first(),
      address.street1(),
      address.street2(),
      address.city(),
      address.stateAndZip()
    };
    CustomerRow row = new CustomerRow(compose(FIXED, texts, data));
    row.setLong(CREDIT_LIMIT, 50_000_00);
    row.setLong(SINCE, sinceMillis);
    row.setInt(DISCOUNT, discountRate);
    row.bytes()[CREDIT] = (byte) (badCredit ? 'B' : 'G');
    row.bytes()[CREDIT + 1] = 'C';
    row.bytes()[MIDDLE] = 'O';
    row.bytes()[MIDDLE + 1] = 'E';
    System.arraycopy(person.phone(), 0, row.bytes(), PHONE, 16);
    return row;
  }

  /** C_BALANCE. */
  public long balanceCents() {
    return longAt(BALANCE);
  }

  /** Sets C_BALANCE. */
  public void setBalanceCents(long cents) {
    setLong(BALANCE, cents);
  }

  /** C_YTD_PAYMENT. */
  public long ytdPaymentCents() {
    return longAt(YTD_PAYMENT);
  }

  /** Sets C_YTD_PAYMENT. */
  public void setYtdPaymentCents(long cents) {
    setLong(YTD_PAYMENT, cents);
  }

  /** C_PAYMENT_CNT. */
  public int payments() {
    return intAt(PAYMENTS);
  }

  /** Sets C_PAYMENT_CNT. */
  public void setPayments(int count) {
    setInt(PAYMENTS, count);
  }

  /** C_DELIVERY_CNT. */
  public int deliveries() {
    return intAt(DELIVERIES);
  }

  /** Sets C_DELIVERY_CNT. */
  public void setDeliveries(int count) {
    setInt(DELIVERIES, count);
  }

  /** C_DISCOUNT in ten-thousandths. */
  public int discountRate() {
    return intAt(DISCOUNT);
  }

  /** Whether C_CREDIT is BC. */
  public boolean badCredit() {
    return bytes()[CREDIT] == 'B';
  }

  /** C_LAST. */
  public byte[] last() {
    return text(FIXED, 0);
  }

  /** C_FIRST. */
  public byte[] first() {
    return text(FIXED, 1);
  }

  /** C_DATA. */
  public byte[] data() {
    return part(textOffset(FIXED, TEXTS), bytes().length);
  }

  /** The same row with {@code prefix} before its C_DATA, which is cut at its longest. */
  public CustomerRow withDataPrefix(byte[] prefix) {
    int dataOffset = textOffset(FIXED, TEXTS);
    int old = bytes().length - dataOffset;
    int kept = Math.min(old, MAX_DATA_BYTES - prefix.length);
    byte[] row = new byte[dataOffset + prefix.length + kept];
    System.arraycopy(bytes(), 0, row, 0, dataOffset);
    System.arraycopy(prefix, 0, row, dataOffset, prefix.length);
    System.arraycopy(bytes(), dataOffset, row, dataOffset + prefix.length, kept);
    return new CustomerRow(row);
  }
}
