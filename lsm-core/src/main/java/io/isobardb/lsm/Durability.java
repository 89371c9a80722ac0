package io.isobardb.lsm;

/**
 * What a write survives once its call has returned.
 *
 * <table>
 *   <caption>What survives what</caption>
 *   <tr><th>write</th><th>the process ends: exit, error, {@code kill -9}</th>
 *     <th>the machine fails: power, kernel</th></tr>
 *   <tr><td>{@code SYNC}</td><td>yes</td><td>yes</td></tr>
 *   <tr><td>{@code ASYNC}</td><td>yes</td>
 *     <td>all but the last {@link StoreOptions#asyncSyncInterval}</td></tr>
 *   <tr><td>to an unlogged tree</td><td>up to the last {@link Store#checkpoint}</td>
 *     <td>up to the last {@link Store#checkpoint}</td></tr>
 * </table>
 *
 * <p>After a crash all logged trees together hold a prefix of all writes. A batch or a transaction
 * is there as a whole or not at all.
 *
 * <p>A write becomes visible to others when it is applied, which for {@code SYNC} is before it is
 * on the device. What others write after they have seen it is behind it in the log. So a {@code
 * SYNC} write that has returned never survives without what its writer had read. {@link Store#sync}
 * makes durable what a reader has seen.
 */
public enum Durability {
  /**
   * The write is on the device when the call returns. Writers that come together share a sync.
   * While the disk is full, writes that were admitted are synced in the log's ring, which has its
   * space on the disk.
   */
  SYNC,
  /**
   * The write is in memory that the system owns when the call returns, and on the device within
   * {@link StoreOptions#asyncSyncInterval}.
   */
  ASYNC
}
