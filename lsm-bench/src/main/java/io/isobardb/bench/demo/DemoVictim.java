package io.isobardb.bench.demo;

import io.isobardb.bench.process.ChildMain;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The process that is killed. It writes numbered records to the store that its argument names, and
 * says every so often how many writes have returned.
 */
final class DemoVictim {
  static final String TREE = "records";

  /** How often it says so, in writes. */
  static final int SAYS_EVERY = 100;

  private DemoVictim() {}

  /** Writes until it is killed. */
  public static void main(String[] args) {
    ChildMain.run(() -> write(Path.of(args[0]), System.out));
  }

  /** The options it opens the store with. */
  static StoreOptions options() {
    return StoreOptions.builder().memoryBudget(32 << 20).build();
  }

  private static void write(Path directory, PrintStream out) {
    try (Store store = Store.open(directory, options())) {
      Tree records = store.openTree(TREE);
      for (long n = 0; !out.checkError(); n++) {
        if (n % SAYS_EVERY == 0) {
          out.println(n);
        }
        records.put(key(n), key(~n), Durability.ASYNC);
      }
    }
  }

  /** The key of a record; its value is {@code key(~n)}. */
  static byte[] key(long n) {
    return ByteBuffer.allocate(Long.BYTES).putLong(n).array();
  }
}
