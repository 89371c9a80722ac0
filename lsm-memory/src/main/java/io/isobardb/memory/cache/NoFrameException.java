package io.isobardb.memory.cache;

import io.isobardb.memory.pool.OutOfBudgetException;

/**
 * All frames of the cache are pinned, and stayed so for a while. Nothing was loaded. A caller that
 * holds pins gives them back before it tries again: others may be waiting for those.
 */
public final class NoFrameException extends OutOfBudgetException {
  private static final long serialVersionUID = 1L;

  NoFrameException(int frames) {
    super("all " + frames + " pages of the buffer cache are in use");
  }
}
