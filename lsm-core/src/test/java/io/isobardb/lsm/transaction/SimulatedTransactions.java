package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** A simulated store with one tree, and words for what transactions do to it. */
@Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD) // which the simulation belongs to
public abstract class SimulatedTransactions {
  public static final long SEED = Long.getLong("isobar.seed", 20_261_121L);

  public final SimulatedWorld world = new SimulatedWorld(SEED);
  public Store store;
  public Tree tree;

  @BeforeEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  public final void open() {
    store = world.open(SimulatedStores.SMALL);
    tree = store.openTree("t");
  }

  @AfterEach
  @Timeout(value = 60, threadMode = ThreadMode.SAME_THREAD)
  public final void close() {
    store.close();
  }

  public static TransactionOptions options(Isolation isolation, Locking locking) {
    return TransactionOptions.builder()
        .isolation(isolation)
        .locking(locking)
        .lockTimeout(Duration.ofMillis(5))
        .build();
  }

  public final Transaction begin(Isolation isolation, Locking locking) {
    return store.begin(options(isolation, locking));
  }

  public final void put(String key, String value) {
    tree.put(bytes(key), bytes(value));
  }

  public final String get(String key) {
    return text(tree.get(bytes(key)));
  }

  public static String text(byte[] value) {
    return value == null ? null : new String(value, UTF_8);
  }

  public final String get(Transaction tx, String key) {
    return text(tx.get(tree, bytes(key)));
  }

  public final String getForUpdate(Transaction tx, String key) {
    return text(tx.getForUpdate(tree, bytes(key)));
  }

  public final void put(Transaction tx, String key, String value) {
    tx.put(tree, bytes(key), bytes(value));
  }

  public static List<String> scan(Cursor cursor) {
    List<String> keys = new ArrayList<>();
    for (boolean more = cursor.first(); more; more = cursor.next()) {
      keys.add(new String(cursor.key(), UTF_8));
    }
    return keys;
  }

  public final List<String> scan(Transaction tx) {
    try (Cursor cursor = tx.cursor(tree)) {
      return scan(cursor);
    }
  }
}
