package io.isobardb.lsm;

import io.isobardb.lsm.schedule.Environment;

/** Opens stores in worlds of their own, for crash tests outside of this package. */
public final class OpenStore {
  private OpenStore() {}

  /** Opens a store in an environment, which it closes; so does an open that fails. */
  public static Store in(Environment environment, StoreOptions options) {
    return Store.open(environment, options);
  }
}
