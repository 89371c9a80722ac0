package io.isobardb.lsm.flush;

/**
 * What is known of a tree that may be flushed.
 *
 * @param treeId which
 * @param memoryBytes write memory it holds
 * @param flushableBytes write memory that a flush may take, the active SSTable included: what the
 *     tree holds above its floor
 * @param minLsn the lowest LSN of an entry that is in memory only
 * @param busy whether it can't be chosen: a flush or a memory merge of it is under way, or its L0
 *     waits for merges
 * @param sliced whether it was flushed by slices so far
 * @param lately what became of it in the window, which is as long as the log may be
 */
public record TreeMemory(
    int treeId,
    long memoryBytes,
    long flushableBytes,
    long minLsn,
    boolean busy,
    boolean sliced,
    WriteWindow.Lately lately) {}
