package io.isobardb.lsm;

import java.time.Instant;

/**
 * A backup; see {@link Backups}.
 *
 * @param id of its directory of backups; later ones have higher IDs
 * @param store the path of the store
 * @param created when it was made, by the machine's clock
 * @param tables how many SSTables it has
 * @param sizeBytes of these
 * @param copiedBytes of those that no earlier backup of the directory had
 */
public record Backup(
    long id, String store, Instant created, int tables, long sizeBytes, long copiedBytes) {}
