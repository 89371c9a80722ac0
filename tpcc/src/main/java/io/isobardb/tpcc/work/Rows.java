package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.Table;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Rows that must be there. */
final class Rows {
  private Rows() {}

  static byte[] required(byte @Nullable [] value, Table table, byte[] key) {
    if (value == null) {
      throw new IllegalStateException(
          "the row of "
              + table
              + " with key 0x"
              + HexFormat.of().formatHex(key)
              + " is not there: run --check, and load anew if it fails");
    }
    return value;
  }
}
