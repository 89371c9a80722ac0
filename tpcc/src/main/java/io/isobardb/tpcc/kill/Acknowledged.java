package io.isobardb.tpcc.kill;

import io.isobardb.tpcc.schema.Keys;
import io.isobardb.tpcc.schema.OrderLineRow;
import io.isobardb.tpcc.schema.OrderRow;
import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.TpccStore;
import io.isobardb.tpcc.work.NewOrder;
import org.jspecify.annotations.Nullable;

/**
 * A committed order, as its process tells of it in one line: {@code order w d o c lines cents .}
 *
 * @param w warehouse
 * @param d district
 * @param o order
 * @param c customer
 * @param lines how many
 * @param cents their sum
 */
record Acknowledged(int w, int d, int o, int c, int lines, long cents) {
  private static final String FIRST = "order";
  // Tells a whole line from what a killed process had begun to write.
  private static final String LAST = ".";

  static Acknowledged of(NewOrder input, NewOrder.Placed output) {
    return new Acknowledged(
        input.w(),
        input.d(),
        output.order(),
        input.customer(),
        input.lines().size(),
        output.linesCents());
  }

  String line() {
    return FIRST + " " + w + " " + d + " " + o + " " + c + " " + lines + " " + cents + " " + LAST;
  }

  /** Reads a line; null if it is not a whole one of this form. */
  static @Nullable Acknowledged parse(String line) {
    String[] words = line.split(" ");
    if (words.length != 8 || !words[0].equals(FIRST) || !words[7].equals(LAST)) {
      return null;
    }
    return new Acknowledged(
        Integer.parseInt(words[1]),
        Integer.parseInt(words[2]),
        Integer.parseInt(words[3]),
        Integer.parseInt(words[4]),
        Integer.parseInt(words[5]),
        Long.parseLong(words[6]));
  }

  /** Looks it up; null if all of it is there, else what is wrong. */
  @Nullable String missing(TpccStore store) {
    String name = "order " + o + " of district " + d + " of warehouse " + w;
    byte[] key = Keys.order(w, d, o);
    byte[] value = store.get(Table.ORDERS, key);
    if (value == null) {
      return name + " was acknowledged and is lost";
    }
    OrderRow row = new OrderRow(value);
    long[] found = {0, 0};
    store.scan(
        Table.ORDER_LINE,
        key,
        Keys.after(key),
        (lineKey, line) -> {
          found[0]++;
          found[1] += new OrderLineRow(line).amountCents();
          return true;
        });
    if (row.customer() != c || row.lines() != lines || found[0] != lines || found[1] != cents) {
      return String.format(
          "%s was acknowledged for customer %d with %d lines of %d cents; there are customer %d, %d lines of %d cents",
          name, c, lines, cents, row.customer(), found[0], found[1]);
    }
    return null;
  }
}
