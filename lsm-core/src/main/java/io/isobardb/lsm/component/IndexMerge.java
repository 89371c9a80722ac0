package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link MergedIndex} over the entries of sealed active SSTables and of merged indexes.
 *
 * <p>Thread rule: one thread at a time. The inputs stay as they are until {@link #finish}.
 */
public final class IndexMerge implements AutoCloseable {
  private static final int PLACE_BYTES = 1 << MergedIndex.PLACE_SHIFT;

  private final PagePool pool;
  private final KeyOrder order;
  private final List<WrittenEntries> inputs;
  private final MergingCursor source;
  private final byte[] prefix;
  private final int placesPerPage;
  private int[] pages = new int[16];
  private int pageCount;
  private int count;
  private final @Nullable ActiveFilter filter;
  private boolean finished;

  /**
   * Begins a merge.
   *
   * @param inputs what all entries of the source lie in
   * @param source over those of their entries that the index is to have; owned by this, unless this
   *     throws
   */
  public IndexMerge(
      PagePool pool, KeyOrder order, List<WrittenEntries> inputs, MergingCursor source) {
    this.pool = pool;
    this.order = order;
    this.inputs = inputs;
    this.source = source;
    this.placesPerPage = pool.pageSize() / PLACE_BYTES;
    this.prefix = order.isBytes() ? commonPrefix(source) : new byte[0];
    long entries = 0;
    for (WrittenEntries input : inputs) {
      entries += input.entries();
    }
    source.first();
    // Without room for one, all keys are looked for.
    this.filter = ActiveFilter.create(pool, MergedIndex.filterBits(entries));
  }

  /** What the first key and the last have in common, and so all between. */
  private static byte[] commonPrefix(MergingCursor source) {
    if (!source.last()) {
      return new byte[0];
    }
    byte[] last = Arrays.copyOf(source.key(), source.keyLength());
    source.first();
    int shorter = Math.min(last.length, source.keyLength());
    int differs = Arrays.mismatch(last, 0, shorter, source.key(), 0, shorter);
    return Arrays.copyOf(last, differs < 0 ? shorter : differs);
  }

  /**
   * Takes up entries with about so many bytes of places and keys.
   *
   * @return whether there are more
   * @throws OutOfBudgetException if there are no pages; {@link #close} gives up those it has
   */
  public boolean step(int bytes) {
    for (long taken = 0; taken < bytes; source.next()) {
      if (!source.valid()) {
        return false;
      }
      LeafEntryCursor entry = (LeafEntryCursor) source.leaf();
      if (filter != null) {
        filter.add(KeyHash.hash(entry.key(), 0, entry.keyLength()));
      }
      add(entry);
      taken += PLACE_BYTES + entry.keyLength();
    }
    return true;
  }

  private void add(LeafEntryCursor entry) {
    int slot = count % placesPerPage;
    if (slot == 0) {
      pages = pageCount < pages.length ? pages : Arrays.copyOf(pages, 2 * pageCount);
      pages[pageCount] = pool.allocatePatiently(Purpose.WRITE);
      pageCount++;
    }
    int page = pages[pageCount - 1];
    Memory memory = pool.memory(page);
    int at = pool.base(page) + slot * PLACE_BYTES;
    int rest = entry.keyLength() - prefix.length;
    memory.putLong(at, order.isBytes() ? Words.head(entry.key(), prefix.length, rest) : 0);
    memory.putInt(at + MergedIndex.PLACE_LEAF, entry.page());
    memory.putInt(at + MergedIndex.PLACE_OFFSET, entry.offset());
    count++;
  }

  /**
   * The index over all that was taken up. The leaves of the inputs are its own now, so it has to
   * take the place of the inputs, which are to be freed.
   */
  public MergedIndex finish() {
    source.close();
    finished = true;
    IntStream.Builder leaves = IntStream.builder();
    long minLsn = Long.MAX_VALUE;
    for (WrittenEntries input : inputs) {
      for (int leaf : input.handOver()) {
        leaves.add(leaf);
      }
      minLsn = Math.min(minLsn, input.minLsn());
    }
    MergedIndex.Places places =
        new MergedIndex.Places(prefix, Arrays.copyOf(pages, pageCount), count);
    return new MergedIndex(pool, order, places, filter, leaves.build().toArray(), minLsn);
  }

  /** Gives up what was begun; does nothing after {@link #finish}. */
  @Override
  public void close() {
    if (finished) {
      return;
    }
    finished = true;
    source.close();
    for (int i = 0; i < pageCount; i++) {
      pool.release(pages[i], Purpose.WRITE);
    }
    if (filter != null) {
      filter.retire();
    }
  }
}
