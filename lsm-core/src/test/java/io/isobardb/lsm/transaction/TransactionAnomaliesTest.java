package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.TransactionAbortedException;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What transactions in each other's way may do to each other, at which isolation: the anomalies of
 * Berenson et al. (1995), and of Fekete et al. (2004).
 */
class TransactionAnomaliesTest extends SimulatedTransactions {
  private static boolean aborts(Runnable action) {
    try {
      action.run();
      return false;
    } catch (TransactionAbortedException e) {
      assertNotNull(e.getMessage());
      return true;
    }
  }

  /** Whether one of two transactions was kept from committing. */
  private boolean prevented(Isolation isolation, Locking locking, Consumer<Transaction[]> steps) {
    try (Transaction one = begin(isolation, locking);
        Transaction two = begin(isolation, locking)) {
      Transaction[] both = {one, two};
      return aborts(() -> steps.accept(both))
          | aborts(() -> commitOpen(one))
          | aborts(() -> commitOpen(two));
    }
  }

  private static void commitOpen(Transaction tx) {
    if (tx.isOpen()) {
      tx.commit();
    }
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void nobodyReadsWhatIsNotCommitted(Locking locking) {
    put("a", "0");
    for (Isolation isolation : Isolation.values()) {
      try (Transaction one = begin(isolation, locking);
          Transaction two = begin(isolation, locking)) {
        put(one, "a", "dirty");
        assertEquals("0", get(two, "a"));
        assertEquals("0", get("a"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void aLostUpdateIsPossibleOnlyAtReadCommittedWithoutGetForUpdate(Locking locking) {
    put("a", "0");
    Consumer<Transaction[]> steps =
        tx -> {
          get(tx[0], "a");
          get(tx[1], "a");
          put(tx[0], "a", "1");
          tx[0].commit();
          put(tx[1], "a", "2");
        };
    assertFalse(prevented(Isolation.READ_COMMITTED, locking, steps));
    assertEquals("2", get("a"));
    assertTrue(prevented(Isolation.SNAPSHOT, locking, steps));
    assertTrue(prevented(Isolation.SERIALIZABLE, locking, steps));
    Consumer<Transaction[]> forUpdate =
        tx -> {
          getForUpdate(tx[0], "a");
          getForUpdate(tx[1], "a");
          put(tx[0], "a", "1");
          tx[0].commit();
          put(tx[1], "a", "2");
        };
    for (Isolation isolation : Isolation.values()) {
      assertTrue(prevented(isolation, locking, forUpdate), isolation.toString());
    }
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void aPlainWriteIsNotLostEither(Locking locking) {
    put("a", "0");
    for (Isolation isolation : List.of(Isolation.SNAPSHOT, Isolation.SERIALIZABLE)) {
      try (Transaction tx = begin(isolation, locking)) {
        get(tx, "a");
        put("a", "plain");
        TransactionAbortedException e =
            assertThrows(
                ConflictException.class,
                () -> {
                  put(tx, "a", "1");
                  tx.commit();
                });
        assertEquals("t", e.tree());
        assertArrayEquals(bytes("a"), e.key());
        assertTrue(e.getMessage().contains("key 'a' of tree 't'"), e.getMessage());
      }
      assertEquals("plain", get("a"));
    }
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void readsRepeatFromSnapshotOn(Locking locking) {
    for (Isolation isolation : Isolation.values()) {
      put("a", "0");
      try (Transaction tx = begin(isolation, locking)) {
        assertEquals("0", get(tx, "a"));
        put("a", "1");
        assertEquals(isolation == Isolation.READ_COMMITTED ? "1" : "0", get(tx, "a"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void writeSkewIsPossibleBelowSerializable(Locking locking) {
    put("a", "1");
    put("b", "1");
    Consumer<Transaction[]> steps =
        tx -> {
          get(tx[0], "a");
          get(tx[0], "b");
          get(tx[1], "a");
          get(tx[1], "b");
          put(tx[0], "a", "0");
          put(tx[1], "b", "0");
        };
    assertFalse(prevented(Isolation.READ_COMMITTED, locking, steps));
    assertFalse(prevented(Isolation.SNAPSHOT, locking, steps));
    assertTrue(prevented(Isolation.SERIALIZABLE, locking, steps));
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void phantomsAreExcludedAtSerializable(Locking locking) {
    Consumer<Transaction[]> steps =
        tx -> {
          int seen = scan(tx[0]).size();
          assertEquals(seen, scan(tx[1]).size());
          put(tx[0], "x" + seen, "1");
          put(tx[1], "y" + seen, "1");
        };
    put("m", "1");
    assertFalse(prevented(Isolation.READ_COMMITTED, locking, steps));
    assertFalse(prevented(Isolation.SNAPSHOT, locking, steps));
    assertTrue(prevented(Isolation.SERIALIZABLE, locking, steps));
  }

  @ParameterizedTest
  @EnumSource(Locking.class)
  void onlyWhatACursorPassedCounts(Locking locking) {
    for (int i = 0; i < 10; i++) {
      put("k" + i, "0");
    }
    record Case(String changed, boolean conflict, Consumer<Cursor> moves) {}
    List<Case> cases =
        List.of(
            new Case("k20", true, c -> move(c, "k2", 1)),
            new Case("k3", true, c -> move(c, "k2", 1)),
            new Case("k30", false, c -> move(c, "k2", 1)),
            new Case("k11", false, c -> move(c, "k2", 1)),
            new Case("k30", false, c -> back(c, "k3", 1)),
            new Case("k25", true, c -> back(c, "k3", 1)),
            new Case("k3", false, c -> back(c, "k3", 0)),
            new Case("k1", true, c -> back(c, "k3", 1)),
            new Case("k10", true, c -> back(c, "k3", 1)),
            new Case("k0", false, c -> back(c, "k3", 1)),
            new Case("z", true, c -> c.last()),
            new Case("k8", false, c -> c.last()),
            new Case("a", true, c -> c.first()),
            new Case("k00", false, c -> c.first()));
    for (Case one : cases) {
      try (Transaction tx = begin(Isolation.SERIALIZABLE, locking)) {
        try (Cursor cursor = tx.cursor(tree)) {
          one.moves.accept(cursor);
        }
        put(tx, "own", "1");
        if (one.changed.equals("z")) {
          put("z", "1");
        } else {
          put(one.changed, "1");
        }
        assertEquals(one.conflict, aborts(tx::commit), one.toString());
      }
      tree.delete(bytes("own"));
      if (one.changed.length() != 2) {
        tree.delete(bytes(one.changed));
      }
    }
  }

  private static void move(Cursor cursor, String from, int steps) {
    cursor.seek(bytes(from));
    for (int i = 0; i < steps; i++) {
      cursor.next();
    }
  }

  private static void back(Cursor cursor, String from, int steps) {
    cursor.seekBefore(bytes(from));
    for (int i = 0; i < steps; i++) {
      cursor.previous();
    }
  }

  /** Fekete, O'Neil, O'Neil: A Read-Only Transaction Anomaly Under Snapshot Isolation. */
  @ParameterizedTest
  @EnumSource(Locking.class)
  void theReadOnlyAnomalyIsExcludedAtSerializable(Locking locking) {
    for (Isolation isolation : List.of(Isolation.SNAPSHOT, Isolation.SERIALIZABLE)) {
      put("x", "0");
      put("y", "0");
      boolean prevented = false;
      try (Transaction withdraw = begin(isolation, locking);
          Transaction deposit = begin(isolation, locking)) {
        get(withdraw, "x");
        get(withdraw, "y");
        get(deposit, "y");
        put(deposit, "y", "20");
        deposit.commit();
        try (Transaction report = begin(isolation, locking)) {
          assertEquals("0", get(report, "x"));
          assertEquals("20", get(report, "y"));
          report.commit();
        }
        put(withdraw, "x", "-11");
        prevented = aborts(withdraw::commit);
      }
      assertEquals(isolation == Isolation.SERIALIZABLE, prevented);
    }
  }
}
