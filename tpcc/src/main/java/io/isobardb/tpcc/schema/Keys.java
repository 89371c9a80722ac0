package io.isobardb.tpcc.schema;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Keys of all trees, as bytes whose unsigned order is that of their columns.
 *
 * <pre>
 * w 4 | d 1 | c 4                                     customer
 * w 4 | d 1 | last 0 first 0 | c 4                    customer by name
 * w 4 | d 1 | date 8 | w 4 d 1 c 4 | payment 4        history
 * w 4 | d 1 | o 4                                     orders, new order
 * w 4 | d 1 | c 4 | ~o 4                              orders by customer
 * w 4 | d 1 | o 4 | number 1                          order line
 * i 4 ; w 4 | i 4                                     item; stock
 * </pre>
 *
 * <p>Numbers are big-endian and never negative. The payment number is the customer's count of
 * payments: it makes history keys unique, since a customer's row is changed by one transaction at a
 * time.
 */
public final class Keys {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final byte[] META_KEY = "loaded".getBytes(StandardCharsets.ISO_8859_1);

  private Keys() {}

  /** The key of the one row of {@link Table#META}. */
  public static byte[] meta() {
    return META_KEY.clone();
  }

  /** {@link Table#WAREHOUSE}. */
  public static byte[] warehouse(int w) {
    byte[] key = new byte[4];
    INT.set(key, 0, w);
    return key;
  }

  /** {@link Table#DISTRICT}; also the prefix of all that belongs to a district. */
  public static byte[] district(int w, int d) {
    return district(new byte[5], w, d);
  }

  private static byte[] district(byte[] key, int w, int d) {
    INT.set(key, 0, w);
    key[4] = (byte) d;
    return key;
  }

  /** {@link Table#CUSTOMER}; also the prefix of a customer's entries in the index of orders. */
  public static byte[] customer(int w, int d, int c) {
    byte[] key = district(new byte[9], w, d);
    INT.set(key, 5, c);
    return key;
  }

  /** {@link Table#CUSTOMER_BY_NAME}. */
  public static byte[] customerByName(int w, int d, byte[] last, byte[] first, int c) {
    byte[] key = district(new byte[5 + last.length + 1 + first.length + 1 + 4], w, d);
    System.arraycopy(last, 0, key, 5, last.length);
    System.arraycopy(first, 0, key, 6 + last.length, first.length);
    INT.set(key, key.length - 4, c);
    return key;
  }

  /** The prefix of all entries of that last name in {@link Table#CUSTOMER_BY_NAME}. */
  public static byte[] customersNamed(int w, int d, byte[] last) {
    byte[] key = district(new byte[5 + last.length + 1], w, d);
    System.arraycopy(last, 0, key, 5, last.length);
    return key;
  }

  /** {@link Table#HISTORY}. */
  public static byte[] history(
      int w, int d, long dateMillis, byte[] customerKey, int paymentNumber) {
    byte[] key = district(new byte[26], w, d);
    LONG.set(key, 5, dateMillis);
    System.arraycopy(customerKey, 0, key, 13, 9);
    INT.set(key, 22, paymentNumber);
    return key;
  }

  /** {@link Table#ORDERS} and {@link Table#NEW_ORDER}; also the prefix of an order's lines. */
  public static byte[] order(int w, int d, int o) {
    return customer(w, d, o);
  }

  /** {@link Table#ORDERS_BY_CUSTOMER}. */
  public static byte[] orderByCustomer(int w, int d, int c, int o) {
    byte[] key = district(new byte[13], w, d);
    INT.set(key, 5, c);
    INT.set(key, 9, ~o);
    return key;
  }

  /** {@link Table#ORDER_LINE}. */
  public static byte[] orderLine(int w, int d, int o, int number) {
    byte[] key = district(new byte[10], w, d);
    INT.set(key, 5, o);
    key[9] = (byte) number;
    return key;
  }

  /** {@link Table#ITEM}. */
  public static byte[] item(int i) {
    return warehouse(i);
  }

  /** {@link Table#STOCK}. */
  public static byte[] stock(int w, int i) {
    byte[] key = new byte[8];
    INT.set(key, 0, w);
    INT.set(key, 4, i);
    return key;
  }

  /** The least key above all that start with {@code prefix}, which has a byte other than 255. */
  public static byte[] after(byte[] prefix) {
    int end = prefix.length;
    while (prefix[end - 1] == -1) {
      end--;
    }
    byte[] key = Arrays.copyOf(prefix, end);
    key[end - 1]++;
    return key;
  }

  /** The warehouse of any key but an item's. */
  public static int warehouseOf(byte[] key) {
    return (int) INT.get(key, 0);
  }

  /** The district of any key that has one. */
  public static int districtOf(byte[] key) {
    return key[4];
  }

  /** The order of a key of an order, a new order or an order line; the customer of a customer's. */
  public static int orderOf(byte[] key) {
    return (int) INT.get(key, 5);
  }

  /** The item of a key of {@link Table#ITEM} or {@link Table#STOCK}. */
  public static int itemOf(byte[] key) {
    return (int) INT.get(key, key.length - 4);
  }

  /** The number of an order line. */
  public static int lineOf(byte[] key) {
    return key[9];
  }

  /** The customer of a key of {@link Table#CUSTOMER_BY_NAME}. */
  public static int customerOfName(byte[] key) {
    return (int) INT.get(key, key.length - 4);
  }

  /** The order of a key of {@link Table#ORDERS_BY_CUSTOMER}. */
  public static int orderOfCustomer(byte[] key) {
    return ~(int) INT.get(key, 9);
  }

  /** The customer's key within a key of {@link Table#HISTORY}. */
  public static byte[] customerOfHistory(byte[] key) {
    return Arrays.copyOfRange(key, 13, 22);
  }
}
