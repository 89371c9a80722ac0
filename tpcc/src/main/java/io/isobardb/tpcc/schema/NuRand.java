package io.isobardb.tpcc.schema;

/**
 * The constants C of NURand, one per column, chosen once for a load and once for a run.
 *
 * @param lastName of C_LAST, 0 to 255
 * @param customer of C_ID, 0 to 1023
 * @param item of OL_I_ID, 0 to 8191
 */
public record NuRand(int lastName, int customer, int item) {
  private static final int LAST_NAME_A = 255;
  private static final int CUSTOMER_A = 1023;
  private static final int ITEM_A = 8191;

  /** Checks the limits. */
  public NuRand {
    if ((lastName & ~LAST_NAME_A) != 0 || (customer & ~CUSTOMER_A) != 0 || (item & ~ITEM_A) != 0) {
      throw new IllegalArgumentException(
          "constants out of range: " + lastName + ", " + customer + ", " + item);
    }
  }

  /** Constants for a load. */
  public static NuRand forLoad(Values values) {
    return new NuRand(
        values.uniform(0, LAST_NAME_A), values.uniform(0, CUSTOMER_A), values.uniform(0, ITEM_A));
  }

  /** Constants for a run on what was loaded with {@code load} (clause 2.1.6.1). */
  public static NuRand forRun(Values values, NuRand load) {
    int lastName;
    do {
      lastName = values.uniform(0, LAST_NAME_A);
    } while (!permitted(Math.abs(lastName - load.lastName)));
    return new NuRand(lastName, values.uniform(0, CUSTOMER_A), values.uniform(0, ITEM_A));
  }

  /** Whether the constants of C_LAST at load and run may be that far apart. */
  static boolean permitted(int delta) {
    return delta >= 65 && delta <= 119 && delta != 96 && delta != 112;
  }

  /** A last name's number. */
  public int lastName(Values values, Scale scale) {
    return draw(values, LAST_NAME_A, lastName, 0, scale.lastNames() - 1);
  }

  /** A customer of a district. */
  public int customer(Values values, Scale scale) {
    return draw(values, CUSTOMER_A, customer, 1, scale.customers());
  }

  /** An item. */
  public int item(Values values, Scale scale) {
    return draw(values, ITEM_A, item, 1, scale.items());
  }

  private static int draw(Values values, int a, int c, int x, int y) {
    return ((values.uniform(0, a) | values.uniform(x, y)) + c) % (y - x + 1) + x;
  }
}
