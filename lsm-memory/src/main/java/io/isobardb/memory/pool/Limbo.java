package io.isobardb.memory.pool;

/**
 * A queue of pages that were unlinked but may still be in view of a reader. A page comes out once
 * every reader that could have seen it has left, oldest first.
 *
 * <p>Thread rule: none; the owner guards it. Tags must not decrease, so they are drawn under the
 * owner's lock.
 */
public final class Limbo {
  private final Epochs epochs;
  private int[] pages = new int[64];
  private long[] tags = new long[64];
  private int head;
  private int count;

  /** Every tag below this one is known to have passed; saves looking at all readers' slots. */
  private long safe;

  public Limbo(Epochs epochs) {
    this.epochs = epochs;
  }

  /** Adds a page that was unlinked before {@code tag} was drawn with {@link Epochs#advance}. */
  public void add(int page, long tag) {
    if (count == pages.length) {
      grow();
    }
    int at = (head + count) & (pages.length - 1);
    pages[at] = page;
    tags[at] = tag;
    count++;
  }

  /** Takes the oldest page if no reader can see it any more, else {@link PagePool#NONE}. */
  public int poll() {
    if (count == 0) {
      return PagePool.NONE;
    }
    if (tags[head] >= safe) {
      safe = epochs.oldest();
      if (tags[head] >= safe) {
        return PagePool.NONE;
      }
    }
    return removeFirst();
  }

  /**
   * Takes the oldest page though a reader may see it, for handing it to another queue; {@link
   * PagePool#NONE} if there is none.
   */
  public int pollUnsafe() {
    return count == 0 ? PagePool.NONE : removeFirst();
  }

  /** Pages in the queue. */
  public int size() {
    return count;
  }

  private int removeFirst() {
    int page = pages[head];
    head = (head + 1) & (pages.length - 1);
    count--;
    return page;
  }

  private void grow() {
    int length = pages.length;
    int[] grownPages = new int[length * 2];
    long[] grownTags = new long[length * 2];
    for (int i = 0; i < count; i++) {
      int at = (head + i) & (length - 1);
      grownPages[i] = pages[at];
      grownTags[i] = tags[at];
    }
    pages = grownPages;
    tags = grownTags;
    head = 0;
  }
}
