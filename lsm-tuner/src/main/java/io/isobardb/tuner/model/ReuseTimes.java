package io.isobardb.tuner.model;

import java.util.Arrays;
import java.util.function.LongSupplier;

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
 * <p>Time is counted in writes, or goes by a clock that advances about evenly with them. With a
 * clock, only those writes need be told whose keys are {@linkplain #looksAt looked at}.
 *
 * <p>Thread rule: one thread at a time, but for {@link #looksAt}, which any may call.
 */
public final class ReuseTimes {
  /** The longest window. */
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

  /** The share of the threshold that is left when there are too many keys. */
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
  private final double mostKept;
  private int keys;

  /** Writes, where nobody else counts them. */
  private long writes;

  /** When this window began, what had been written then, and how many windows had ended. */
  private long windowStart;

  private long startWrites;
  private int turns;

  /** How long the window before was, and what was written in it. */
  private long lengthBefore;

  private long writesBefore;

  /** The last write that was told. */
  private long latest;

  /** Keys whose hashes are below this share of all hashes are kept. */
  private volatile double kept;

  /**
   * Keys whose hashes are below this share have been kept for at least a window, so their writes
   * count.
   */
  private double counted;

  /**
   * Counts the time in writes.
   *
   * @param window writes from which on a key counts as new, and after two of which all is forgotten
   * @param memoryBytes that it may take, {@link #LEAST_BYTES} to {@link #MOST_BYTES}
   */
  public ReuseTimes(long window, int memoryBytes) {
    this(window, memoryBytes, 1, 0, 0);
  }

  /**
   * Goes by a clock.
   *
   * @param window from which on a key counts as new, by the clock
   * @param memoryBytes that it may take, {@link #LEAST_BYTES} to {@link #MOST_BYTES}
   * @param mostKept the most of all keys that are looked at, as a share of them
   * @param now by the clock
   * @param written how much has been written
   */
  public ReuseTimes(long window, int memoryBytes, double mostKept, long now, long written) {
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
    this.mostKept = mostKept;
    this.kept = mostKept;
    this.counted = mostKept;
    this.windowStart = now;
    this.startWrites = written;
    this.latest = now;
  }

  /**
   * Takes note of a write, where the time is counted in writes.
   *
   * @param hash of its key: all bits must depend on the key
   */
  public void write(long hash) {
    if (writes - windowStart >= windowTicks * tickWrites) {
      turn(writes, writes);
    }
    note(hash, writes++);
  }

  /**
   * Takes note of a write whose key is looked at.
   *
   * @param hash of its key: all bits must depend on the key
   * @param now by the clock; a little earlier than at the write before is taken for the same time
   * @param written tells how much has been written; rarely asked
   */
  public void write(long hash, long now, LongSupplier written) {
    latest = Math.max(latest, now);
    if (latest - windowStart >= windowTicks * tickWrites) {
      turn(latest, written.getAsLong());
    }
    note(hash, latest);
  }

  /**
   * {@return whether writes of this key are looked at, as of now}
   *
   * @param hash of the key; the same one each time
   */
  public boolean looksAt(long hash) {
    return position(hash) < kept;
  }

  private static double position(long hash) {
    return (hash >>> 11) * 0x1p-53;
  }

  private void note(long hash, long at) {
    double position = position(hash);
    if (position < kept) {
      note(hash | 1L << TIME_BITS, position, at / tickWrites);
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

  private void turn(long at, long written) {
    boolean paused = at - windowStart >= 2 * windowTicks * tickWrites;
    System.arraycopy(now, 0, before, 0, now.length);
    Arrays.fill(now, 0);
    writesBefore = written - startWrites;
    startWrites = written;
    lengthBefore = at - windowStart;
    windowStart = at;
    turns++;
    // What was kept for a window counts from now on.
    counted = kept;
    if (paused) {
      // Nothing was written for a window. Of times that lie farther back the upper bits are
      // missing.
      Arrays.fill(slots, 0);
      keys = 0;
    } else {
      sweep(at / tickWrites);
    }
    if (keys < mostKeys / 3) {
      kept = Math.min(mostKept, 2 * kept);
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

  /**
   * {@return whether the third window has begun} Then the first one is forgotten, where all keys
   * seem new.
   */
  public boolean isSettled() {
    return turns >= 2;
  }

  /**
   * {@return what was learnt from this window and the one before}
   *
   * @throws IllegalStateException if nothing was written yet
   */
  public LearntPopularity popularity() {
    return popularity(writes, writes);
  }

  /**
   * {@return what was learnt from this window and the one before, where the time goes by a clock}
   *
   * @param at when, by the clock
   * @param written how much has been written
   * @throws IllegalStateException if nothing was written yet
   */
  public LearntPopularity popularity(long at, long written) {
    double all = writesBefore + (double) (written - startWrites);
    if (!(all > 0)) {
      throw new IllegalStateException("nothing was written yet");
    }
    double perTime = all / Math.max(1, lengthBefore + (double) (at - windowStart));
    int last = bucket(windowTicks - 1) + 1;
    double[] ages = new double[last + 1];
    double[] fresh = new double[last + 1];
    double later = now[now.length - 1] + before[now.length - 1];
    for (int i = last; i >= 0; i--) {
      ages[i] = Math.min(startOf(i), windowTicks) * tickWrites * perTime;
      fresh[i] = Math.min(1, later / all);
      later += i == 0 ? 0 : now[i - 1] + before[i - 1];
    }
    return new LearntPopularity(ages, fresh);
  }
}
