package io.isobardb.examples;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.recipe.ExpiringMap;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/** Sessions that live for half an hour after their last use, and outlive the process. */
public final class SessionCache {
  private SessionCache() {}

  record Session(String user, int cartItems) {}

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    // begin
    try (Store store = Store.open(Path.of(args[0]))) {
      ExpiringMap<String, Session> sessions =
          ExpiringMap.open(
              store,
              "sessions",
              Duration.ofMinutes(30),
              KeyCodec.ofString(),
              Codec.of(Session.class));
      sessions.put("s1", new Session("ada", 2));
      sessions.put("s2", new Session("grace", 0), Instant.now().minusSeconds(1));
      System.out.println("s1: " + sessions.touch("s1"));
      System.out.println("s2: " + sessions.touch("s2"));
    }
    // end
  }
}
