package io.isobardb.lsm.entry;

import java.util.Arrays;

/**
 * Which versions of a key stay: the one rule of leaves that are written to, and of merges. Pure
 * functions.
 *
 * <p>Snapshots read, each at its LSN, and all others read what is visible now, or later. A version
 * is needed by those who read from its LSN on, to below that of the next newer one. So the newest
 * version that is visible answers all who read later, unless it is an operand: that needs what lies
 * below it. What is older than the version that answers stays for snapshots alone.
 *
 * <p>A leaf knows the newest snapshot only, and keeps what that may see and all below. A merge
 * knows all of them.
 */
public final class StayingVersions {
  private StayingVersions() {}

  /**
   * Whether a version answers all who read later, so that they need none that is older.
   *
   * @param kind as it is stored
   * @param visible the least LSN that is read at later
   */
  public static boolean answersLater(long lsn, int kind, long visible) {
    return lsn <= visible && !Kind.isOperand(kind);
  }

  /**
   * Whether a snapshot may see a version that is older than the one that answers all others.
   *
   * @param newestSnapshot -1 for none
   */
  public static boolean maySee(long newestSnapshot, long lsn) {
    return lsn <= newestSnapshot;
  }

  /**
   * Whether a snapshot sees a version.
   *
   * @param snapshots their LSNs, ascending
   * @param newerLsn of the next newer version
   */
  public static boolean isSeen(long[] snapshots, long lsn, long newerLsn) {
    int at = Arrays.binarySearch(snapshots, lsn);
    int first = at < 0 ? -at - 1 : at;
    return first < snapshots.length && snapshots[first] < newerLsn;
  }

  /**
   * Whether a version that says that there is no such key stays, though it is the newest that is
   * left.
   *
   * @param bottommost whether nothing older lies below, save what the same merge drops
   * @param snapshots their LSNs, ascending
   */
  public static boolean markerStays(boolean bottommost, long[] snapshots, long lsn) {
    return !bottommost || isSeen(snapshots, 0, lsn);
  }
}
