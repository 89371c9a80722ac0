package io.isobardb.lsm.inspect;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A version of a key, in an SSTable or in the log.
 *
 * @param delete whether it says that there is no such key any more
 * @param merge whether it holds operands, to be merged with older versions
 * @param valueBytes length of its value, of operands with what tells them apart
 * @param expires when it expires; null if it does not
 * @param where the run that holds it, such as {@code L1}, or {@code log}
 */
public record StoredEntry(
    byte[] key,
    long lsn,
    boolean delete,
    boolean merge,
    int valueBytes,
    @Nullable Instant expires,
    String where) {
  /** Is shown entries, one after another. */
  @FunctionalInterface
  public interface Visitor {
    /**
     * An entry.
     *
     * @param entry the next one
     * @return whether to go on
     */
    boolean entry(StoredEntry entry);
  }
}
