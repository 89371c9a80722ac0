package io.isobardb.lsm;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a transaction runs; immutable.
 *
 * @param isolation default {@link Isolation#SNAPSHOT}
 * @param locking default {@link Locking#PESSIMISTIC}
 * @param lockTimeout how long to wait for a lock, zero or more; default one second
 * @param durability of the commit; null, the default, for the store's
 * @param maxAttempts how often {@link Store#inTransaction} tries, at least 1; default 100
 */
public record TransactionOptions(
    Isolation isolation,
    Locking locking,
    Duration lockTimeout,
    @Nullable Durability durability,
    int maxAttempts) {
  private static final TransactionOptions DEFAULTS =
      new TransactionOptions(
          Isolation.SNAPSHOT, Locking.PESSIMISTIC, Duration.ofSeconds(1), null, 100);

  public TransactionOptions {
    Objects.requireNonNull(isolation, "isolation");
    Objects.requireNonNull(locking, "locking");
    Objects.requireNonNull(lockTimeout, "lockTimeout");
    if (lockTimeout.isNegative() || lockTimeout.compareTo(Duration.ofDays(365)) > 0) {
      throw new IllegalArgumentException(
          "lockTimeout must be zero to 365 days, not " + lockTimeout);
    }
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be at least 1, not " + maxAttempts);
    }
  }

  public static TransactionOptions defaults() {
    return DEFAULTS;
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Collects options; what is not set has its default. Thread rule: one thread at a time. */
  public static final class Builder {
    private Isolation isolation = DEFAULTS.isolation;
    private Locking locking = DEFAULTS.locking;
    private Duration lockTimeout = DEFAULTS.lockTimeout;
    private @Nullable Durability durability;
    private int maxAttempts = DEFAULTS.maxAttempts;

    private Builder() {}

    public Builder isolation(Isolation value) {
      isolation = value;
      return this;
    }

    public Builder locking(Locking value) {
      locking = value;
      return this;
    }

    public Builder lockTimeout(Duration value) {
      lockTimeout = value;
      return this;
    }

    public Builder durability(Durability value) {
      durability = value;
      return this;
    }

    public Builder maxAttempts(int value) {
      maxAttempts = value;
      return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public TransactionOptions build() {
      return new TransactionOptions(isolation, locking, lockTimeout, durability, maxAttempts);
    }
  }
}
