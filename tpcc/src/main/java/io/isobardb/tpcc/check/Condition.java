package io.isobardb.tpcc.check;

/** What must hold of the data: the twelve conditions of clause 3.3.2.1 to 12, and ours. */
public enum Condition {
  /** 1. */
  WAREHOUSE_YTD("1", "W_YTD = sum of D_YTD"),
  /** 2. */
  NEXT_ORDER("2", "D_NEXT_O_ID - 1 = max O_ID = max NO_O_ID"),
  /** 3. */
  NEW_ORDERS_DENSE("3", "max NO_O_ID - min NO_O_ID + 1 = number of NEW-ORDER rows"),
  /** 4. */
  LINES_OF_DISTRICT("4", "sum of O_OL_CNT = number of ORDER-LINE rows, per district"),
  /** 5. */
  CARRIER("5", "O_CARRIER_ID is null if and only if there is a NEW-ORDER row"),
  /** 6. */
  LINES_OF_ORDER("6", "O_OL_CNT = number of ORDER-LINE rows, per order"),
  /** 7. */
  DELIVERY_DATE("7", "OL_DELIVERY_D is null if and only if O_CARRIER_ID is"),
  /** 8. */
  WAREHOUSE_HISTORY("8", "W_YTD = sum of H_AMOUNT, per warehouse"),
  /** 9. */
  DISTRICT_HISTORY("9", "D_YTD = sum of H_AMOUNT, per district"),
  /** 10. */
  BALANCE("10", "C_BALANCE = sum of delivered OL_AMOUNT - sum of H_AMOUNT"),
  /** 11: as specified right after the load, with the deliveries since then at any time. */
  DELIVERED("11", "ORDER rows - NEW-ORDER rows = delivered at first + sum of C_DELIVERY_CNT"),
  /** 12. */
  PAYMENTS("12", "C_BALANCE + C_YTD_PAYMENT = sum of delivered OL_AMOUNT"),
  /** Both ways. */
  NAME_INDEX("13", "index of customers by name = CUSTOMER"),
  /** Both ways. */
  ORDER_INDEX("14", "index of orders by customer = ORDER"),
  /** Tables that only the load fills. */
  ROWS("15", "rows of CUSTOMER, ITEM and STOCK as loaded");

  private final String number;
  private final String text;

  Condition(String number, String text) {
    this.number = number;
    this.text = text;
  }

  /** The clause's number, or one of ours above 12. */
  public String number() {
    return number;
  }

  /** What must hold. */
  public String text() {
    return text;
  }
}
