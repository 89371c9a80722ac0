package io.isobardb.lsm;

import io.isobardb.lsm.setting.OptionLimits;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a transaction runs; immutable.
 *
 * <pre>{@code
 * TransactionOptions careful =
 *     TransactionOptions.builder()
 *         .isolation(Isolation.SERIALIZABLE)
 *         .locking(Locking.OPTIMISTIC)
 *         .durability(Durability.SYNC)
 *         .build();
 * store.runInTransaction(careful, transaction -> transaction.put(tree, key, value));
 * }</pre>
 *
 * @param isolation default {@link Isolation#SNAPSHOT}
 * @param locking default {@link Locking#PESSIMISTIC}
 * @param lockTimeout how long to wait for a lock, zero to 365 days; default one second
 * @param durability of the commit; null, the default, for the store's
 * @param maxAttempts how often {@link Store#inTransaction} tries, at least 1; default 100
 * @param retryTimeout how long {@link Store#inTransaction} begins new attempts, and the most that
 *     the waits for locks of all its attempts take together; zero to 365 days; default 10 seconds,
 *     or {@code lockTimeout} if that is longer
 * @param writeTimeout how long the commit may wait for its place in the log, zero to 365 days,
 *     which is for ever; null, the default, for the store's
 */
public record TransactionOptions(
    Isolation isolation,
    Locking locking,
    Duration lockTimeout,
    @Nullable Durability durability,
    int maxAttempts,
    Duration retryTimeout,
    @Nullable Duration writeTimeout) {
  private static final TransactionOptions DEFAULTS =
      new TransactionOptions(
          Isolation.SNAPSHOT,
          Locking.PESSIMISTIC,
          Duration.ofSeconds(1),
          null,
          100,
          Duration.ofSeconds(10),
          null);

  /**
   * Checks the ranges.
   *
   * @param isolation how much of what others do is seen
   * @param locking whether keys are locked when they are written, or at the commit
   * @param lockTimeout zero to 365 days
   * @param durability null for the store's
   * @param maxAttempts at least 1
   * @param retryTimeout zero to 365 days
   * @param writeTimeout zero to 365 days; null for the store's
   * @throws IllegalArgumentException if one is out of its range
   */
  public TransactionOptions {
    Objects.requireNonNull(isolation, "isolation");
    Objects.requireNonNull(locking, "locking");
    OptionLimits.checkTimeout("lockTimeout", lockTimeout);
    OptionLimits.checkTimeout("retryTimeout", retryTimeout);
    if (writeTimeout != null) {
      OptionLimits.checkTimeout("writeTimeout", writeTimeout);
    }
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be at least 1, not " + maxAttempts);
    }
  }

  /** {@return the defaults of all options} */
  public static TransactionOptions defaults() {
    return DEFAULTS;
  }

  /** {@return a builder with the defaults} */
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
    private @Nullable Duration retryTimeout;
    private @Nullable Duration writeTimeout;

    private Builder() {}

    /**
     * Sets how much of what others do is seen.
     *
     * @param value default {@link Isolation#SNAPSHOT}
     * @return this builder
     */
    public Builder isolation(Isolation value) {
      isolation = Objects.requireNonNull(value, "isolation");
      return this;
    }

    /**
     * Sets whether keys are locked when they are written, or at the commit.
     *
     * @param value default {@link Locking#PESSIMISTIC}
     * @return this builder
     */
    public Builder locking(Locking value) {
      locking = Objects.requireNonNull(value, "locking");
      return this;
    }

    /**
     * Sets how long a lock is waited for.
     *
     * @param value zero to 365 days, which is for ever; default a second
     * @return this builder
     */
    public Builder lockTimeout(Duration value) {
      lockTimeout = Objects.requireNonNull(value, "lockTimeout");
      return this;
    }

    /**
     * Sets what a commit survives.
     *
     * @param value default what {@link StoreOptions#durability} says
     * @return this builder
     */
    public Builder durability(Durability value) {
      durability = Objects.requireNonNull(value, "durability");
      return this;
    }

    /**
     * Sets how often {@code inTransaction} runs its body at most.
     *
     * @param value at least 1; default 100
     * @return this builder
     */
    public Builder maxAttempts(int value) {
      maxAttempts = value;
      return this;
    }

    /**
     * Sets after how long {@code inTransaction} begins no other attempt.
     *
     * @param value zero to 365 days, which is for ever; default ten seconds, or the lock timeout if
     *     that is longer
     * @return this builder
     */
    public Builder retryTimeout(Duration value) {
      retryTimeout = Objects.requireNonNull(value, "retryTimeout");
      return this;
    }

    /**
     * Sets how long a commit may wait for its place in the log.
     *
     * @param value zero to 365 days, which is for ever; default {@link StoreOptions#writeTimeout}
     * @return this builder
     */
    public Builder writeTimeout(Duration value) {
      writeTimeout = Objects.requireNonNull(value, "writeTimeout");
      return this;
    }

    /**
     * {@return the options}
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public TransactionOptions build() {
      Duration retry = retryTimeout;
      if (retry == null) {
        Duration least = DEFAULTS.retryTimeout;
        retry = lockTimeout.compareTo(least) > 0 ? lockTimeout : least;
      }
      return new TransactionOptions(
          isolation, locking, lockTimeout, durability, maxAttempts, retry, writeTimeout);
    }
  }
}
