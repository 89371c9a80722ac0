package io.isobardb.lsm.error;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A write would have had to wait longer than its {@code writeTimeout} before it had its place in
 * the log. Nothing of it was applied, nor will be later: it can be tried again.
 */
public final class WriteStalledException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /** What it would have waited for. */
  private final String reason;

  /** The tree that it would have waited for, or null. */
  private final @Nullable String tree;

  /** How long it would still have waited, or null. */
  private final @Nullable Duration expectedWait;

  /**
   * A write would have waited for too long.
   *
   * @param reason the name of the {@code StallReason} that it would have waited for
   * @param tree the tree that it would have waited for, or was for; null if there are several
   * @param expectedWait how long it would still have waited, about; null if nothing tells
   * @param timeout how long it might wait
   */
  public WriteStalledException(
      String reason, @Nullable String tree, @Nullable Duration expectedWait, Duration timeout) {
    super(
        "a write would wait longer than its writeTimeout of "
            + millis(timeout)
            + " for "
            + reason
            + (tree == null ? "" : " of tree '" + tree + "'")
            + (expectedWait == null ? "" : ", about " + millis(expectedWait) + " more")
            + "; nothing was written: try again later, or raise writeTimeout");
    this.reason = reason;
    this.tree = tree;
    this.expectedWait = expectedWait;
  }

  private static String millis(Duration time) {
    return (time.toNanos() + 999_999) / 1_000_000 + " ms";
  }

  /**
   * {@return the name of the {@code StallReason} that it would have waited for, such as L0_FULL}
   */
  public String reason() {
    return reason;
  }

  /**
   * {@return the tree whose L0 it would have waited for; with another {@link #reason}, the tree
   * that it was for; null if it was for several}
   */
  public @Nullable String tree() {
    return tree;
  }

  /** {@return how long it would still have waited, about; null if nothing tells} */
  public @Nullable Duration expectedWait() {
    return expectedWait;
  }
}
