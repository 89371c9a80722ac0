package io.isobardb.lsm.dataset;

/**
 * An index of a dataset, and how far it is.
 *
 * @param name its name
 * @param unique whether an index key belongs to one record at most
 * @param maintenance how it is kept in step
 * @param version of its definition
 * @param state whether it can be read
 * @param recordsBuilt while it is being built, how many records have been looked at
 * @param staleSeen how many stale entries readers have passed over since the store was opened: many
 *     of them make {@link Dataset#repair} worth while
 * @param staleDropped how many stale entries merges have left out since the store was opened
 * @param tree the name of the tree that holds its entries
 */
public record IndexStatus(
    String name,
    boolean unique,
    Maintenance maintenance,
    int version,
    IndexState state,
    long recordsBuilt,
    long staleSeen,
    long staleDropped,
    String tree) {}
