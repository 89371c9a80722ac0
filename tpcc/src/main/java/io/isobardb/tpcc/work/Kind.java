package io.isobardb.tpcc.work;

/** The transactions, with their rules of clause 5.2. */
public enum Kind {
  /** An order is entered. */
  NEW_ORDER("NewOrder", 10, 0, 18, 12, 5_000),
  /** A customer pays. */
  PAYMENT("Payment", 10, 43, 3, 12, 5_000),
  /** A customer asks for the latest order. */
  ORDER_STATUS("OrderStatus", 1, 4, 2, 10, 5_000),
  /** The oldest order of each district is delivered, in the background. */
  DELIVERY("Delivery", 1, 4, 2, 5, 5_000),
  /** Items of the last orders that are short. */
  STOCK_LEVEL("StockLevel", 1, 4, 2, 5, 20_000);

  /** The 90th percentile by which a delivery is to be executed, from its entry into the queue. */
  public static final int DEFERRED_LIMIT_MILLIS = 80_000;

  private final String label;
  private final int cards;
  private final int minimumPercent;
  private final int keyingSeconds;
  private final int thinkSeconds;
  private final int limitMillis;

  Kind(
      String label,
      int cards,
      int minimumPercent,
      int keyingSeconds,
      int thinkSeconds,
      int limitMillis) {
    this.label = label;
    this.cards = cards;
    this.minimumPercent = minimumPercent;
    this.keyingSeconds = keyingSeconds;
    this.thinkSeconds = thinkSeconds;
    this.limitMillis = limitMillis;
  }

  /** The name in reports. */
  public String label() {
    return label;
  }

  /** How many of the deck's 23 cards are of this kind. */
  public int cards() {
    return cards;
  }

  /** Whether it changes anything. */
  public boolean writes() {
    return this != ORDER_STATUS && this != STOCK_LEVEL;
  }

  /** The least share of all transactions in percent; 0 for none. */
  public int minimumPercent() {
    return minimumPercent;
  }

  /** Time to enter the input. */
  public int keyingSeconds() {
    return keyingSeconds;
  }

  /** Mean time to look at the output. */
  public int thinkSeconds() {
    return thinkSeconds;
  }

  /** The limit of the 90th percentile of response times. */
  public int limitMillis() {
    return limitMillis;
  }
}
