package io.isobardb.memory.cache;

import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.Limbo;
import io.isobardb.memory.pool.PagePool;
import java.util.Arrays;

/**
 * Pages that the cache holds but that are no frames now: evicted ones waiting for their last
 * readers, to be used again without going through the pool, where writers would take them.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class FrameSupply {
  private final Epochs epochs;
  private final Limbo evicted;
  private int[] unseen = new int[16];
  private int unseenCount;

  FrameSupply(Epochs epochs) {
    this.epochs = epochs;
    this.evicted = new Limbo(epochs);
  }

  /** Adds a page that no reader can see. */
  synchronized void add(int page) {
    if (unseenCount == unseen.length) {
      unseen = Arrays.copyOf(unseen, unseenCount * 2);
    }
    unseen[unseenCount++] = page;
  }

  /** Adds pages that were unlinked just now. */
  synchronized void addEvicted(int[] pages, int count) {
    long tag = epochs.advance();
    for (int i = 0; i < count; i++) {
      evicted.add(pages[i], tag);
    }
  }

  /** Takes a page that no reader can see, or gives {@link PagePool#NONE}. */
  synchronized int take() {
    return unseenCount > 0 ? unseen[--unseenCount] : evicted.poll();
  }

  /** Takes any page, which a reader may still see, or gives {@link PagePool#NONE}. */
  synchronized int takeAny() {
    return unseenCount > 0 ? unseen[--unseenCount] : evicted.pollUnsafe();
  }

  synchronized int size() {
    return unseenCount + evicted.size();
  }
}
