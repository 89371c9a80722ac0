package io.isobardb.lsm.entry;

import io.isobardb.lsm.EntryReader;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Words;
import org.jspecify.annotations.Nullable;

/**
 * Several sorted runs as one: all their entries in the order (key ascending, LSN descending).
 *
 * <p>Sources are given newest run first; an entry that stands in two of them with the same key and
 * LSN comes out twice, the newer run's first. Closing closes the sources.
 *
 * <p>The sources form a binary heap by their current entries. A source that stays in front after it
 * moved costs two comparisons of key heads, which is the common case for runs whose ranges hardly
 * interleave.
 */
public final class MergingCursor implements EntryCursor {
  /** So many sources are worth a look at where each is going to be. */
  private static final int MANY = 3;

  private final KeyOrder order;
  private final boolean bytes;
  private final EntryCursor[] sources;

  /** Keeps the compiler from leaving the fetches out. */
  private int fetched;

  /** Indexes of the valid sources; heap order by {@link #before}. */
  private final int[] heap;

  /** Where the valid sources stand. */
  private final LeafCursor[] leaves;

  /** The heads of their keys; not of the source in front, which may go on by itself. */
  private final long[] heads;

  /** The head of the key that comes next after the sources in front, once that is looked up. */
  private long nextHead;

  private boolean nextHeadKnown;

  private int size;
  private boolean forward = true;

  /** See {@link #takePassed}. */
  private int passed;

  /**
   * @param sources newest run first; owned by this cursor from now on
   */
  public MergingCursor(KeyOrder order, EntryCursor[] sources) {
    this.order = order;
    this.bytes = order.isBytes();
    this.sources = sources;
    this.heap = new int[sources.length];
    this.leaves = new LeafCursor[sources.length];
    this.heads = new long[sources.length];
  }

  /** The index of the source that the current entry comes from. */
  public int source() {
    return heap[0];
  }

  @Override
  public boolean valid() {
    return size > 0;
  }

  @Override
  public boolean first() {
    forward = true;
    for (EntryCursor source : sources) {
      source.first();
    }
    return build();
  }

  @Override
  public boolean last() {
    forward = false;
    for (EntryCursor source : sources) {
      source.last();
    }
    return build();
  }

  @Override
  public boolean seek(byte[] key, int offset, int length, long lsn) {
    forward = true;
    if (sources.length >= MANY) {
      for (EntryCursor source : sources) {
        source.approach(key, offset, length, lsn);
      }
      int sum = 0;
      for (EntryCursor source : sources) {
        sum += source.fetch();
      }
      fetched = sum;
    }
    for (EntryCursor source : sources) {
      source.seek(key, offset, length, lsn);
    }
    return build();
  }

  @Override
  public boolean seekBefore(byte[] key, int offset, int length) {
    forward = false;
    for (EntryCursor source : sources) {
      source.seekBefore(key, offset, length);
    }
    return build();
  }

  @Override
  public boolean next() {
    if (!forward) {
      turn(true);
    }
    int front = heap[0];
    EntryCursor source = sources[front];
    boolean more = source.next();
    if (more) {
      LeafCursor leaf = source.leaf();
      leaves[front] = leaf;
      if (isAhead(leaf)) {
        return true;
      }
      heads[front] = leaf.head();
    }
    return advance(more);
  }

  /**
   * Moves on past all versions of the current key that its sources have at hand. Those in other
   * sources go first: the key that they are compared with is that of the source in front.
   */
  @Override
  public boolean nextKey() {
    if (!forward) {
      turn(true);
    }
    int front = heap[0];
    LeafCursor current = leaves[front];
    for (int at = otherVersion(current); at > 0; at = otherVersion(current)) {
      passKey(at);
    }
    EntryCursor source = sources[front];
    boolean more = source.nextKey();
    if (more) {
      LeafCursor leaf = source.leaf();
      leaves[front] = leaf;
      if (isAhead(leaf)) {
        return true;
      }
      heads[front] = leaf.head();
    }
    return advance(more);
  }

  /** Where in the heap another source stands on a version of the current key; 0 if none does. */
  private int otherVersion(LeafCursor current) {
    // None stands between two versions of a key: one of them comes right behind the front.
    for (int at = Math.min(size, 3) - 1; at > 0; at--) {
      if (isVersion(current, heap[at])) {
        return at;
      }
    }
    return 0;
  }

  /** Whether a source stands on a version of the current key. */
  private boolean isVersion(LeafCursor current, int source) {
    LeafCursor other = leaves[source];
    return heads[source] == current.head()
        && other.keyLength() == current.keyLength()
        && order.compare(current.key(), 0, current.keyLength(), other.key(), 0, other.keyLength())
            == 0;
  }

  /** Moves a source that stands on a version of the current key past all that it has at hand. */
  private void passKey(int at) {
    passed++;
    int passing = heap[at];
    nextHeadKnown = false;
    if (sources[passing].nextKey()) {
      stand(passing);
    } else {
      size--;
      heap[at] = heap[size];
    }
    if (at < size) {
      siftDown(at);
    }
  }

  /**
   * Moves on as {@link #nextKey} does, if each source that has to move for it finds its next entry
   * within a stretch. Else the current entry stays what it is, though other sources may have passed
   * their versions of its key.
   *
   * @param stretch see {@link #end}
   * @return whether it moved
   */
  public boolean nextWithin(Stretch stretch) {
    int front = heap[0];
    LeafCursor current = leaves[front];
    if (!isAhead(current)) {
      for (int at = otherVersion(current); at > 0; at = otherVersion(current)) {
        if (!otherWithin(at, stretch)) {
          return false;
        }
      }
    }
    if (!current.nextWithin(stretch)) {
      return false;
    }
    if (!isAhead(current)) {
      nextHeadKnown = false;
      heads[front] = current.head();
      siftDown(0);
    }
    return true;
  }

  /** How often a source has been moved past older versions of a key, since this was called last. */
  public int takePassed() {
    int all = passed;
    passed = 0;
    return all;
  }

  /** Moves a source that is not in front. */
  private boolean otherWithin(int at, Stretch stretch) {
    int moving = heap[at];
    LeafCursor leaf = leaves[moving];
    if (!leaf.nextWithin(stretch)) {
      return false;
    }
    passed++;
    nextHeadKnown = false;
    heads[moving] = leaf.head();
    siftDown(at);
    return true;
  }

  /**
   * Moves on within a stretch, and hands out each entry that it comes to, until the reader says no
   * or throws; then it stands on that entry.
   *
   * @param most how many at most
   * @return how many; if the reader said no, less than 0: the complement of that
   */
  public int readWithin(Stretch stretch, int most, EntryReader reader) {
    for (int i = 0; i < size; i++) {
      leaves[heap[i]].expect(most / size);
    }
    boolean alone = size == 1;
    LeafCursor leaf = leaves[heap[0]];
    int read = 0;
    try {
      while (read < most && (alone ? leaf.nextWithin(stretch) : nextWithin(stretch))) {
        read++;
        leaf = alone ? leaf : leaves[heap[0]];
        if (!reader.read(leaf.keyView(), leaf.valueView())) {
          return ~read;
        }
      }
      return read;
    } finally {
      for (int i = 0; i < size; i++) {
        leaves[heap[i]].endViews();
      }
    }
  }

  @Override
  public boolean previous() {
    if (forward) {
      turn(false);
    }
    int front = heap[0];
    boolean more = sources[front].previous();
    if (more) {
      stand(front);
    }
    return advance(more);
  }

  /**
   * Has each source that holds nothing newer than what a range delete hides move on, past all such
   * entries before {@code to}; the others stay. The last move was forward.
   *
   * @param to null for the end
   * @param lsn entries with lower LSNs are hidden
   * @return whether a source moved
   */
  public boolean passForward(byte @Nullable [] to, long lsn) {
    boolean moved = false;
    for (EntryCursor source : sources) {
      moved |= source.valid() && source.passForward(to, lsn);
    }
    if (moved) {
      build();
    }
    return moved;
  }

  /** As {@link #passForward}, back to the last entries before {@code from}. */
  public boolean passBackward(byte @Nullable [] from, long lsn) {
    boolean moved = false;
    for (EntryCursor source : sources) {
      moved |= source.valid() && source.passBackward(from, lsn);
    }
    if (moved) {
      build();
    }
    return moved;
  }

  /**
   * Ends a stretch before the first key at which the leaves of the sources, as they stand, may not
   * go on by {@link #nextWithin}: because a leaf ends, or because an entry is not plain. The last
   * move was forward, and but for such moves there is none until the stretch is given up.
   */
  public void end(Stretch stretch) {
    for (int i = 0; i < size; i++) {
      byte[] leafEnd = sources[heap[i]].leafEnd();
      if (leafEnd != null) {
        stretch.endBefore(leafEnd, leafEnd.length, Words.head(leafEnd, 0, leafEnd.length));
      }
      LeafCursor leaf = leaves[heap[i]];
      if (i > 0 && !leaf.isPlain(stretch)) {
        stretch.endBefore(leaf.key(), leaf.keyLength(), heads[heap[i]]);
      }
    }
  }

  /** Whether the head alone tells that all other sources stand behind the one in front. */
  private boolean isAhead(LeafCursor leaf) {
    if (!bytes || size == 1) {
      return size == 1;
    }
    if (!nextHeadKnown) {
      nextHead = heads[heap[1]];
      if (size > 2 && Long.compareUnsigned(heads[heap[2]], nextHead) < 0) {
        nextHead = heads[heap[2]];
      }
      nextHeadKnown = true;
    }
    return Long.compareUnsigned(leaf.head(), nextHead) < 0;
  }

  private boolean advance(boolean stillValid) {
    nextHeadKnown = false;
    if (!stillValid) {
      size--;
      if (size == 0) {
        return false;
      }
      heap[0] = heap[size];
    }
    siftDown(0);
    return true;
  }

  /**
   * Changes direction. All other sources stand just beyond the current entry on one side; they have
   * to stand just beyond it on the other.
   */
  private void turn(boolean toForward) {
    int current = heap[0];
    for (int i = 0; i < sources.length; i++) {
      if (i == current) {
        continue;
      }
      EntryCursor source = sources[i];
      if (toForward) {
        if (source.valid()) {
          source.next();
        } else {
          source.first();
        }
      } else if (source.valid()) {
        source.previous();
      } else {
        source.last();
      }
    }
    forward = toForward;
    size = 0;
    nextHeadKnown = false;
    heap[size++] = current;
    heads[current] = leaves[current].head();
    for (int i = 0; i < sources.length; i++) {
      if (i != current && sources[i].valid()) {
        stand(i);
        heap[size++] = i;
      }
    }
    for (int i = size / 2 - 1; i >= 0; i--) {
      siftDown(i);
    }
  }

  private boolean build() {
    size = 0;
    nextHeadKnown = false;
    for (int i = 0; i < sources.length; i++) {
      if (sources[i].valid()) {
        stand(i);
        heap[size++] = i;
      }
    }
    for (int i = size / 2 - 1; i >= 0; i--) {
      siftDown(i);
    }
    return size > 0;
  }

  private void stand(int source) {
    LeafCursor leaf = sources[source].leaf();
    leaves[source] = leaf;
    heads[source] = leaf.head();
  }

  private void siftDown(int at) {
    int moving = heap[at];
    int i = at;
    while (true) {
      int child = 2 * i + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && before(heap[child + 1], heap[child])) {
        child++;
      }
      if (!before(heap[child], moving)) {
        break;
      }
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = moving;
  }

  private boolean before(int a, int b) {
    int c = compare(a, b);
    if (c == 0) {
      c = Integer.compare(a, b);
    }
    return forward ? c < 0 : c > 0;
  }

  private int compare(int source, int other) {
    if (bytes && heads[source] != heads[other]) {
      return Long.compareUnsigned(heads[source], heads[other]);
    }
    LeafCursor a = leaves[source];
    LeafCursor b = leaves[other];
    int c = order.compare(a.key(), 0, a.keyLength(), b.key(), 0, b.keyLength());
    return c != 0 ? c : Long.compare(b.lsn(), a.lsn());
  }

  @Override
  public LeafCursor leaf() {
    return leaves[heap[0]];
  }

  @Override
  public void close() {
    for (EntryCursor source : sources) {
      source.close();
    }
  }
}
