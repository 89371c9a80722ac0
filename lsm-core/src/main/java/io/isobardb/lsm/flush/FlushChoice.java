package io.isobardb.lsm.flush;

import io.isobardb.lsm.observe.StoreListener.FlushKind;

/**
 * A tree to flush.
 *
 * @param treeId which
 * @param kind how much of it
 * @param reason for events: what was seen
 */
public record FlushChoice(int treeId, FlushKind kind, String reason) {}
