package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * Sessions of a web application that expire if they are not used.
 *
 * <p>Shows two trees kept in step by batches and transactions: one by session, and one ordered by
 * the time of expiry, so that expired sessions are found without reading the others. Sessions may
 * be lost in a failure of the machine, so writes do not wait for the device.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class SessionStore {
  private static final TransactionOptions ASYNC =
      TransactionOptions.builder().durability(Durability.ASYNC).build();

  private final Store store;
  private final long lifetimeMillis;

  /** Session to expiry (8 bytes) and user. */
  private final Tree sessions;

  /** Expiry and session to nothing. */
  private final Tree byExpiry;

  /** Sessions in {@code store} that live for {@code lifetimeMillis} after their last use. */
  public SessionStore(Store store, long lifetimeMillis) {
    this.store = store;
    this.lifetimeMillis = lifetimeMillis;
    sessions = store.openTree("sessions");
    byExpiry = store.openTree("sessions-by-expiry");
  }

  /** Begins a session; its name must be new. */
  public void begin(String session, String user, long nowMillis) {
    long expiry = nowMillis + lifetimeMillis;
    byte[] name = user.getBytes(UTF_8);
    WriteBatch batch = store.newBatch();
    batch.put(
        sessions,
        session.getBytes(UTF_8),
        ByteBuffer.allocate(8 + name.length).putLong(expiry).put(name).array());
    batch.put(byExpiry, expiryKey(expiry, session), new byte[0]);
    store.write(batch, Durability.ASYNC);
  }

  /** Prolongs a session and returns its user, unless there is no such session, or no longer. */
  public Optional<String> use(String session, long nowMillis) {
    byte[] key = session.getBytes(UTF_8);
    return store.inTransaction(
        ASYNC,
        tx -> {
          byte[] value = tx.getForUpdate(sessions, key);
          if (value == null || expiry(value) <= nowMillis) {
            return Optional.empty();
          }
          tx.delete(byExpiry, expiryKey(expiry(value), session));
          long expiry = nowMillis + lifetimeMillis;
          ByteBuffer.wrap(value).putLong(expiry);
          tx.put(sessions, key, value);
          tx.put(byExpiry, expiryKey(expiry, session), new byte[0]);
          return Optional.of(new String(value, 8, value.length - 8, UTF_8));
        });
  }

  /** Removes expired sessions; returns how many there were. */
  public int expire(long nowMillis) {
    byte[] end = ByteBuffer.allocate(8).putLong(nowMillis + 1).array();
    int removed = 0;
    try (Cursor cursor = byExpiry.cursor(CursorOptions.all().to(end))) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        byte[] entry = cursor.key();
        byte[] key = Arrays.copyOfRange(entry, 8, entry.length);
        // Somebody may use the session at this moment, so the transaction looks again.
        boolean expired =
            store.inTransaction(
                ASYNC,
                tx -> {
                  byte[] value = tx.getForUpdate(sessions, key);
                  if (value == null || expiry(value) > nowMillis) {
                    return false;
                  }
                  tx.delete(sessions, key);
                  tx.delete(byExpiry, entry);
                  return true;
                });
        removed += expired ? 1 : 0;
      }
    }
    return removed;
  }

  private static long expiry(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  /** Big-endian and not negative, so that bytes are in the order of times. */
  private static byte[] expiryKey(long expiry, String session) {
    byte[] name = session.getBytes(UTF_8);
    return ByteBuffer.allocate(8 + name.length).putLong(expiry).put(name).array();
  }

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    try (Store store = Store.open(Path.of(args[0]), options)) {
      SessionStore sessions = new SessionStore(store, 30_000);
      sessions.begin("s1", "ada", 0);
      sessions.begin("s2", "grace", 10_000);
      System.out.println("s1 at 25 s: " + sessions.use("s1", 25_000).orElse("none"));
      System.out.println("s2 at 45 s: " + sessions.use("s2", 45_000).orElse("none"));
      System.out.println("expired at 45 s: " + sessions.expire(45_000));
      System.out.println("s1 at 50 s: " + sessions.use("s1", 50_000).orElse("none"));
    }
  }
}
