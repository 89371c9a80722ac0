package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.store.TpccTransaction;
import java.util.ArrayList;
import java.util.List;

/**
 * Which customer: by number, or by last name.
 *
 * @param w warehouse
 * @param d district
 * @param number the customer's, or 0 if by name
 * @param name the last name's number, if by name
 */
public record CustomerChoice(int w, int d, int number, int name) {
  /** By last name in 60 % of cases (clause 2.5.1.2). */
  static CustomerChoice draw(int w, int d, Values values, NuRand constants, Scale scale) {
    return values.chance(60)
        ? new CustomerChoice(w, d, 0, constants.lastName(values, scale))
        : new CustomerChoice(w, d, constants.customer(values, scale), 0);
  }

  /** Whether by last name. */
  public boolean byName() {
    return number == 0;
  }

  /** The customer; of all with the last name the one in the middle, by first name. */
  int find(TpccTransaction transaction) {
    if (!byName()) {
      return number;
    }
    byte[] from = Keys.customersNamed(w, d, Values.lastName(name));
    List<byte[]> found = new ArrayList<>();
    transaction.scan(
        Table.CUSTOMER_BY_NAME, from, Keys.after(from), (key, value) -> found.add(key));
    if (found.isEmpty()) {
      throw new IllegalStateException(
          "no customer is named "
              + new String(Values.lastName(name), java.nio.charset.StandardCharsets.ISO_8859_1)
              + " in district "
              + d
              + " of warehouse "
              + w
              + ": run --check, and load anew if it fails");
    }
    return Keys.customerOfName(found.get((found.size() - 1) / 2));
  }
}
