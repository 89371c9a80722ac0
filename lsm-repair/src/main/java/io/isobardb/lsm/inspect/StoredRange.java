package io.isobardb.lsm.inspect;

import org.jspecify.annotations.Nullable;

/**
 * A delete of a range of keys: what is older is gone. SSTables may hold some of it for a while.
 *
 * @param from the first key, null for no bound
 * @param to the key behind the last one, null for no bound
 * @param lsn all versions with lower LSNs are gone
 * @param where {@code manifest} or {@code log}
 */
public record StoredRange(byte @Nullable [] from, byte @Nullable [] to, long lsn, String where) {}
