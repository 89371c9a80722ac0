package io.isobardb.tpcc.schema;

/**
 * How many rows there are at first. The specification's own numbers are those of a factor of 1;
 * anything less is for tests, and no TPC-C by any reading.
 *
 * @param warehouses from 1
 * @param items rows of ITEM, and of STOCK per warehouse
 * @param customers per district; also its orders at first
 * @param newOrders orders per district that are not delivered at first, the last ones
 */
public record Scale(int warehouses, int items, int customers, int newOrders) {
  /** Districts of a warehouse. */
  public static final int DISTRICTS = 10;

  /** Checks the limits. */
  public Scale {
    if (warehouses < 1 || warehouses > 1_000_000) {
      throw new IllegalArgumentException("warehouses is not in 1..1000000: " + warehouses);
    }
    if (items < 20 || customers < 10 || newOrders < 1 || newOrders >= customers) {
      throw new IllegalArgumentException(
          "too few rows for the transactions to work on: "
              + items
              + " items, "
              + customers
              + " customers, "
              + newOrders
              + " new orders");
    }
  }

  /**
   * Shrinks all but the warehouses to {@code factor}, above 0 and at most 1, of what is specified.
   */
  public static Scale of(int warehouses, double factor) {
    if (!(factor > 0 && factor <= 1)) {
      throw new IllegalArgumentException("the scale is above 0 and at most 1, not " + factor);
    }
    return new Scale(
        warehouses,
        (int) Math.round(100_000 * factor),
        (int) Math.round(3_000 * factor),
        (int) Math.round(900 * factor));
  }

  /** Whether these are the specification's numbers. */
  public boolean full() {
    return items == 100_000 && customers == 3_000 && newOrders == 900;
  }

  /** The first order per district that is not delivered at first. */
  public int firstNewOrder() {
    return customers - newOrders + 1;
  }

  /** How many last names there are: as specified 1000, fewer if there are fewer customers. */
  public int lastNames() {
    return Math.min(1000, customers);
  }
}
