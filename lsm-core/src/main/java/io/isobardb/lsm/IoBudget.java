package io.isobardb.lsm;

import io.isobardb.lsm.store.Opening;

/**
 * What the flushes and merges of several stores of a process may read and write in a second, all
 * together: stores that are on one device share it. {@link StoreOptions.Builder#ioBudget} gives it
 * to a store.
 *
 * <pre>{@code
 * IoBudget device = IoBudget.of(200 << 20);
 * StoreOptions options = StoreOptions.builder().ioBudget(device).build();
 * Store users = Store.open(Path.of("users"), options);
 * Store orders = Store.open(Path.of("orders"), options);
 * }</pre>
 *
 * <p>It is divided among the stores that have something to do: half of it evenly, and half by how
 * much waits for their merges. What a store does not need the others have; a store alone may take
 * all. What clients of these stores read, and write to their logs, is taken off, down to half of
 * the budget; so stores that are open to be read only count, too. Within a store flushes go first,
 * merges of L0 next.
 *
 * <p>It outlives the stores. Closing one gives its share back.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public interface IoBudget {
  /** The least budget, in bytes per second. */
  long LEAST_BYTES = 1 << 20;

  /**
   * {@return a budget that no store shares yet}
   *
   * @param bytesPerSecond read and written, at least {@link #LEAST_BYTES}
   * @throws IllegalArgumentException if it is less
   */
  static IoBudget of(long bytesPerSecond) {
    return Opening.ioBudget(bytesPerSecond);
  }

  /** {@return bytes per second that flushes and merges of all its stores may read and write} */
  long bytesPerSecond();

  /** {@return how many open stores share it now} */
  int stores();
}
