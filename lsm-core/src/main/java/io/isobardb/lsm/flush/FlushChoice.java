package io.isobardb.lsm.flush;

import io.isobardb.lsm.observe.StoreListener.FlushKind;

/**
 * A tree to flush.
 *
 * @param treeId which
 * @param kind how much of it
 * @param sliced whether the tree has memory enough for slices
 * @param reason for events: what was seen
 */
public record FlushChoice(int treeId, FlushKind kind, boolean sliced, String reason) {}
