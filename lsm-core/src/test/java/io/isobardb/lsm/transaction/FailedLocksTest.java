package io.isobardb.lsm.transaction;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Operation;
import org.junit.jupiter.api.Test;

/** A lock that a call has got, and then failed, is not there for the next call. */
class FailedLocksTest extends SimulatedTransactions {
  /** Once, during the next wait. */
  private void meanwhile(Runnable action) {
    Inside.of(store)
        .engine()
        .environment()
        .scheduler()
        .start(
            new Service() {
              private boolean done;

              @Override
              public String name() {
                return "meanwhile";
              }

              @Override
              public boolean ready() {
                return !done;
              }

              @Override
              public void run() {
                done = true;
                action.run();
              }

              @Override
              public void onFailed(Throwable cause) {
                throw new AssertionError(cause);
              }
            });
  }

  private Transaction beginAfter(String read) {
    Transaction tx = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC);
    get(tx, read);
    return tx;
  }

  private void assertConflict(Transaction tx) {
    assertThrows(
        ConflictException.class,
        () -> {
          put(tx, "a", "lost update");
          tx.commit();
        });
    assertEquals("1", get("a"));
  }

  /** It gets the lock of a key that others have changed, and then waits in vain for another one. */
  @Test
  void aRangeThatIsNotHadLeavesNoLockOfItsKeys() {
    try (Transaction tx = beginAfter("b");
        Transaction first = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC);
        Transaction second = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
      put(first, "a", "1");
      put(second, "b", "1");
      meanwhile(first::commit);
      assertThrows(LockTimeoutException.class, () -> tx.deleteRange(tree, null, null));
      assertFalse(first.isOpen());
      second.rollback();
      assertConflict(tx);
    }
  }

  /** Whether others have changed the key is not known, since the device fails. */
  @Test
  void aKeyThatCantBeLookedAtIsNotLocked() {
    for (boolean range : new boolean[] {false, true}) {
      tree.delete(bytes("a"));
      try (Transaction tx = beginAfter("b");
          Transaction other = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
        put(other, "a", "1");
        if (range) {
          meanwhile(() -> commitToDisk(other));
        } else {
          commitToDisk(other);
        }
        assertThrows(RuntimeException.class, () -> write(tx, range));
        world.storage().faults(FaultPlan.NONE);
        assertConflict(tx);
      }
    }
  }

  private void write(Transaction tx, boolean range) {
    if (range) {
      tx.deleteRange(tree, bytes("a"), bytes("b"));
    } else {
      put(tx, "a", "2");
    }
  }

  /** What is committed is in a file, and not in the cache; and files can't be read any more. */
  private void commitToDisk(Transaction other) {
    other.commit();
    store.flush();
    for (int i = 0; i < 6000; i++) {
      tree.put(key(i), value(i, 1000));
    }
    store.flush();
    for (int i = 0; i < 6000; i++) {
      tree.get(key(i));
    }
    world.storage().faults(FaultPlan.every(Operation.READ, Fault.EIO));
  }

  /** A range waits for the key: its owner does not wait for the range. */
  @Test
  void whoHasAKeyWritesItThoughARangeWaitsForIt() {
    Transaction holder = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC);
    try (holder;
        Transaction other = begin(Isolation.SNAPSHOT, Locking.PESSIMISTIC)) {
      getForUpdate(holder, "a");
      meanwhile(
          () -> {
            put(holder, "a", "1");
            holder.commit();
          });
      other.deleteRange(tree, null, null);
      assertFalse(holder.isOpen());
      other.commit();
    }
    assertNull(get("a"));
  }
}
