package io.isobardb.lsm.flush;

/**
 * A tree to flush.
 *
 * @param treeId which
 * @param reason for events: what was seen
 */
public record FlushChoice(int treeId, String reason) {}
