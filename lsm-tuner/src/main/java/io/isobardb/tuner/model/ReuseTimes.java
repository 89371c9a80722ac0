package io.isobardb.tuner.model;

import java.util.Arrays;

/**
 * Learns {@link Popularity} from the writes as they come: how many of the last writes had keys that
 * were not written in the p writes before is the slope of Unique at p, whatever the keys are.
 *
 * <p>Only keys whose hash is below a threshold are looked at. The threshold falls when there is no
 * room for another key, so memory is bounded. A write counts by the share of keys that are looked
 * at, not by the share of writes, so that it matters little whether a very popular key is among
 * them. It matters for short times: there a few popular keys make up much of what is written.
 * docs/models.md has the errors.
 *
 * <p>Writes are counted window by window. What is told covers the window before and this one, so
 * all that is older is forgotten. Keys that were not written for a window count as new.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class ReuseTimes {
  /** The longest window; ages have to fit in {@link #TIME_BITS}. */
  public static final long MAX_WINDOW = 1L << 40;

  /** With less, too few keys are looked at. */
  public static final int LEAST_BYTES = 64 << 10;

  /** More would be of no use. */
  public static final int MOST_BYTES = 16 << 20;

  /** Entries by slots, in percent. */
  private static final int MOST_PERCENT = 85;

  /** An entry has the upper bits of a hash and, below, when its key was written. */
  private static final int TIME_BITS = 24;

  private static final long TIME_MASK = (1L << TIME_BITS) - 1;

  /** A window has at most so many ticks: two of them are told apart by the bits of a time. */
  private static final int MOST_TICKS = 1 << 21;

  /** Of the threshold that is left when there are too many keys. */
  private static final double SHRINK = 0.875;

  private static final int BUCKETS_PER_OCTAVE = 8;

  private static final int BUCKETS = BUCKETS_PER_OCTAVE * 24;

  private final long windowTicks;
  private final long tickWrites;

  /** No key has the hash 0, so 0 is an empty slot. */
  private final long[] slots;

  private final int mostKeys;

  private final double[] now = new double[BUCKETS];
  private final double[] before = new double[BUCKETS];
  private int keys;
  private long writes;
  private long windowStart;
  private long writesBefore;

  /** Keys with hashes below this, as a share of all, are kept; ... */
  private double kept = 1;

  /** ... and those below this have been for a window at least, so that their writes count. */
  private double counted = 1;

  /**
   * @param window writes from which on a key counts as new, and after two of which all is forgotten
   * @param memoryBytes that it may take, {@link #LEAST_BYTES} to {@link #MOST_BYTES}
   */
  public ReuseTimes(long window, int memoryBytes) {
    if (window < 1 || window > MAX_WINDOW) {
      throw new IllegalArgumentException(
          "the window must be 1 to " + MAX_WINDOW + " writes, not " + window);
    }
    if (memoryBytes < LEAST_BYTES || memoryBytes > MOST_BYTES) {
      throw new IllegalArgumentException(
          "the memory must be "
              + (LEAST_BYTES + " to " + MOST_BYTES + " bytes, not ")
              + memoryBytes);
    }
    // Beside the entries there are the two windows, and some fields.
    this.slots = new long[memoryBytes / Long.BYTES - 2 * BUCKETS - 64];
    this.mostKeys = (int) ((long) slots.length * MOST_PERCENT / 100);
    this.tickWrites = (window + MOST_TICKS - 1) / MOST_TICKS;
    this.windowTicks = window / tickWrites;
  }

  /**
   * Takes note of a write.
   *
   * @param hash of its key: all bits must depend on the key
   */
  public void write(long hash) {
    if (writes - windowStart == windowTicks * tickWrites) {
      turn();
    }
    long time = writes++ / tickWrites;
    double position = (hash >>> 11) * 0x1p-53;
    if (position < kept) {
      note(hash | 1L << TIME_BITS, position, time);
    }
  }

  private void note(long hash, double position, long time) {
    int slot = find(hash);
    boolean fresh = slots[slot] == 0;
    if (position < counted) {
      long age = fresh ? windowTicks : time - timeOf(slots[slot], time);
      if (age < windowTicks) {
        now[bucket(age)] += 1 / counted;
      } else {
        now[now.length - 1] += 1 / counted;
      }
    }
    slots[slot] = hash & ~TIME_MASK | time & TIME_MASK;
    if (fresh && ++keys > mostKeys) {
      kept *= SHRINK;
      counted = Math.min(counted, kept);
      sweep(time);
    }
  }

  /** The slot that has the key, or the one where it belongs. */
  private int find(long hash) {
    int slot = home(hash);
    while (slots[slot] != 0 && (slots[slot] ^ hash) >>> TIME_BITS != 0) {
      slot = slot + 1 == slots.length ? 0 : slot + 1;
    }
    return slot;
  }

  /** Keys that are kept have low hashes, so the lower bits of what is stored of them decide. */
  private int home(long hash) {
    long mixed = (hash >>> TIME_BITS) * 0x9E3779B97F4A7C15L;
    return (int) ((mixed >>> 33) * slots.length >>> 31);
  }

  private static long timeOf(long entry, long time) {
    return time - (time - entry & TIME_MASK);
  }

  private void turn() {
    System.arraycopy(now, 0, before, 0, now.length);
    Arrays.fill(now, 0);
    writesBefore = writes - windowStart;
    windowStart = writes;
    // What was kept for a window counts from now on.
    counted = kept;
    sweep(writes / tickWrites);
    if (keys < mostKeys / 3) {
      kept = Math.min(1, 2 * kept);
    }
  }

  /** Drops the keys that are no longer kept, or were not written for a window. */
  private void sweep(long time) {
    long[] all = slots.clone();
    Arrays.fill(slots, 0);
    keys = 0;
    for (long entry : all) {
      if (entry != 0
          && (entry >>> 11) * 0x1p-53 < kept
          && time - timeOf(entry, time) < windowTicks) {
        slots[find(entry)] = entry;
        keys++;
      }
    }
  }

  /** The bucket of a re-use time in ticks. */
  private static int bucket(long ticks) {
    if (ticks < BUCKETS_PER_OCTAVE) {
      return (int) ticks;
    }
    int octave = 63 - Long.numberOfLeadingZeros(ticks / BUCKETS_PER_OCTAVE);
    return (int) (octave * BUCKETS_PER_OCTAVE + (ticks >>> octave));
  }

  /** The lowest re-use time of a bucket, in ticks. */
  private static double startOf(int bucket) {
    if (bucket < BUCKETS_PER_OCTAVE) {
      return bucket;
    }
    int octave = bucket / BUCKETS_PER_OCTAVE - 1;
    return Math.scalb((double) (bucket - octave * BUCKETS_PER_OCTAVE), octave);
  }

  /** Whether the third window has begun: the first one, where all keys seem new, is forgotten. */
  public boolean isSettled() {
    return windowStart >= 2 * windowTicks * tickWrites;
  }

  /**
   * What was learnt from this window and the one before.
   *
   * @throws IllegalStateException if nothing was written yet
   */
  public LearntPopularity popularity() {
    double all = writesBefore + (double) (writes - windowStart);
    if (all == 0) {
      throw new IllegalStateException("nothing was written yet");
    }
    int last = bucket(windowTicks - 1) + 1;
    double[] ages = new double[last + 1];
    double[] fresh = new double[last + 1];
    double later = now[now.length - 1] + before[now.length - 1];
    for (int i = last; i >= 0; i--) {
      ages[i] = Math.min(startOf(i), windowTicks) * tickWrites;
      fresh[i] = Math.min(1, later / all);
      later += i == 0 ? 0 : now[i - 1] + before[i - 1];
    }
    return new LearntPopularity(ages, fresh);
  }
}
