package io.isobardb.tpcc.schema;

import java.util.Locale;

/** The trees: nine tables, two secondary indexes, and one for what was loaded. */
public enum Table {
  /** {@link LoadMark}: one row. */
  META,
  /** {@code w -> WarehouseRow}. */
  WAREHOUSE,
  /** {@code w, d -> DistrictRow}. */
  DISTRICT,
  /** {@code w, d, c -> CustomerRow}. */
  CUSTOMER,
  /** Index of CUSTOMER: {@code w, d, last, first, c ->} nothing. */
  CUSTOMER_BY_NAME,
  /** {@code w, d, date, customer, its payment number -> HistoryRow}. */
  HISTORY,
  /** {@code w, d, o ->} nothing. */
  NEW_ORDER,
  /** {@code w, d, o -> OrderRow}. */
  ORDERS,
  /** Index of ORDERS: {@code w, d, c, o downwards ->} nothing; the latest order comes first. */
  ORDERS_BY_CUSTOMER,
  /** {@code w, d, o, number -> OrderLineRow}. */
  ORDER_LINE,
  /** {@code i -> ItemRow}. */
  ITEM,
  /** {@code w, i -> StockRow}. */
  STOCK;

  /** The name of its tree. */
  public String treeName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
