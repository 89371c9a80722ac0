package io.isobardb.lsm.component;

/**
 * What an active SSTable has been used for so far.
 *
 * @param heldBytes its size
 * @param treeBytes what its tree has in memory
 * @param writtenBytes of the entries put to it, also those that others have taken the place of
 * @param readNanos what reads would have lost meanwhile by one run more
 * @param fits whether nothing of the tree is on disk: all of it may find room in memory
 * @param sliced whether the tree was flushed by slices so far
 */
public record ActiveUse(
    long heldBytes,
    long treeBytes,
    long writtenBytes,
    long readNanos,
    boolean fits,
    boolean sliced) {}
