package io.isobardb.lsm.entry;

import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.memory.pool.PerThread;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a reader asks of the versions of a key, on its way from the newest component to the oldest;
 * and the one rule for what a stored entry says to it ({@link #judge}).
 *
 * <p>An answer is the value's length, if the value is here, or one of the constants. The key is
 * handed on beside the probe: a probe outlives many reads, and writing a young array into an old
 * object costs more than passing it.
 *
 * <p>Made for reuse. Thread rule: one thread at a time.
 */
public final class Probe implements PerThread.Reusable {
  /** There is no version that the reader may see. */
  public static final int ABSENT = -1;

  /** The version that the reader sees says that there is no value: deleted, hidden or expired. */
  public static final int DELETED = -2;

  /** The reader's LSN is out of date. */
  public static final int RETRY = -3;

  /** The version that the reader sees is an operand: the answer takes older versions, too. */
  public static final int OPERAND = -4;

  /** The value is elsewhere, or can't be told here; so are answers below this one. */
  public static final int ELSEWHERE = -5;

  /** The value is in the entry. */
  public static final int HERE = 0;

  /** An answer in vain counts for so many others. */
  private static final int VAIN_WEIGHT = 2;

  private static final int DOUBT = 4;
  private static final int MOST_DOUBT = 8;
  private static final int TRUST = 4;
  private static final int MOST_TRUST = 8;

  /** One answer in so many stands for all of them. */
  public static final int SAMPLE = 64;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final LongSupplier AT_ANY_TIME = () -> 0;

  private final ByteBuffer scratch;
  private long hash;
  private long lsn;
  private long floor;
  private LongSupplier now = AT_ANY_TIME;
  private ByteBuffer target;

  /** Whether a buffer is made for a value that is too large for the target. */
  private boolean grows;

  /** What a read has made of operands, which may be the operator's own array; else null. */
  private byte @Nullable [] folded;

  /** How often indexes were asked in vain lately, over all reads with it. */
  private int doubt;

  /** How often the last run had what was loaded from it lately, over all reads with it. */
  private int trust;

  /** Answers that were asked whether they are of the sample, over all reads with it. */
  private int samples;

  /** Whether the runs that the read asks are to be counted. */
  private boolean counted;

  /** Whether a read is under way with it. */
  private boolean taken;

  /**
   * @param scratchBytes the size of its {@link #scratch}
   */
  public Probe(int scratchBytes) {
    this.scratch = scratchBytes == 0 ? NOTHING : ByteBuffer.allocate(scratchBytes);
    this.target = scratch;
  }

  @Override
  public boolean tryTake() {
    boolean free = !taken;
    taken = true;
    return free;
  }

  /** Ends the read. */
  public void give() {
    folded = null;
    grows = false;
    counted = false;
    into(scratch);
    taken = false;
  }

  /** Whether an answer is the one in {@value #SAMPLE} that is counted. */
  public boolean isSampled() {
    return (++samples & SAMPLE - 1) == 0;
  }

  /** Whether the runs that the read asks are to be counted once it has its answer. */
  public boolean isCounted() {
    return counted;
  }

  /** See {@link #isCounted}; ends with the read. */
  public void setCounted(boolean counts) {
    counted = counts;
  }

  /** Looks for a key with this {@code KeyHash}. */
  public Probe of(long keyHash) {
    hash = keyHash;
    return this;
  }

  /**
   * Looks for versions that are seen at a moment.
   *
   * @param readLsn versions above it are not seen
   * @param clock the time to judge by; asked only of what expires
   */
  public Probe at(long readLsn, LongSupplier clock) {
    lsn = readLsn;
    if (now != clock) {
      now = clock;
    }
    return this;
  }

  /**
   * Looks for versions with this LSN or a higher one: a range delete hides the others.
   *
   * @param coveringLsn 0 if none does
   */
  public Probe above(long coveringLsn) {
    floor = coveringLsn;
    return this;
  }

  /** Has the value put at the position of a buffer, which does not move, if there is room. */
  public Probe into(ByteBuffer buffer) {
    if (target != buffer) {
      target = buffer;
    }
    return this;
  }

  /** The key's {@code KeyHash}. */
  public long hash() {
    return hash;
  }

  /** Versions above it are not seen. */
  public long lsn() {
    return lsn;
  }

  /** Versions below it are hidden by a range delete; 0 if there is none. */
  public long floor() {
    return floor;
  }

  /** Has the value put into a buffer of the probe, whatever its length: see {@link #value}. */
  public Probe growing() {
    grows = true;
    return into(scratch());
  }

  /** Where the value goes, at the buffer's position. */
  public ByteBuffer target() {
    return target;
  }

  /** Whether there is room for a value; if the target grows, a buffer is made for it. */
  public boolean hasRoom(int length) {
    if (length > target.remaining() && grows) {
      target = ByteBuffer.allocate(length);
    }
    return length <= target.remaining();
  }

  /** The value that was put into the buffer of the probe, in an array that the caller may keep. */
  public byte[] value(int length) {
    if (target != scratch && target.capacity() == length) {
      return target.array();
    }
    byte[] value = new byte[length];
    target.get(target.position(), value);
    return value;
  }

  /** A buffer of its own, all of which remains. */
  public ByteBuffer scratch() {
    return scratch.clear();
  }

  /**
   * Whether the filter of an SSTable should be asked before its index over entries. The filter is
   * smaller, and worth a look if the key is not there; if it is, that is a cache miss for nothing.
   */
  public boolean doubtsIndexes() {
    return doubt > DOUBT;
  }

  /** An index over entries was asked, and knew the key or did not. */
  public void onIndexAsked(boolean found) {
    if (!found) {
      doubt = Math.min(MOST_DOUBT, doubt + VAIN_WEIGHT);
    } else if (doubt > 0) {
      doubt--;
    }
  }

  /**
   * Whether the last run has most keys for which pages of it are read. Then a page of its filter is
   * not worth a read: those of its index and the data follow anyway.
   */
  public boolean trustsLastRun() {
    return trust >= TRUST;
  }

  /** Pages of the last run on the way were read, and it knew the key or did not. */
  public void onLastRunLoaded(boolean found) {
    if (!found) {
      trust = Math.max(0, trust - VAIN_WEIGHT);
    } else if (trust < MOST_TRUST) {
      trust++;
    }
  }

  /** Keeps what was made of operands, for a reader that wants it whatever its length. */
  public void fold(byte[] value) {
    folded = value;
  }

  /** What was made of operands; null if nothing was. */
  public byte @Nullable [] folded() {
    return folded;
  }

  /**
   * What the version that the reader sees says.
   *
   * @param kind as it is stored
   * @param entryLsn its LSN; if there is no {@link #floor}, any that is not negative will do
   * @param expiry when it expires, or {@link Expiry#NEVER}; the newest version's counts
   * @return {@link #HERE}, {@link #ELSEWHERE}, {@link #DELETED} or {@link #OPERAND}
   */
  public int judge(int kind, long entryLsn, long expiry) {
    if (entryLsn < floor) {
      return DELETED;
    }
    if (kind == Kind.PUT) {
      return HERE;
    }
    int plain = Kind.plain(kind);
    if (Kind.isDelete(plain) || expiry != Expiry.NEVER && Expiry.isOver(expiry, now.getAsLong())) {
      return DELETED;
    }
    if (Kind.isOperand(plain)) {
      return OPERAND;
    }
    return plain == Kind.PUT_OVERFLOW ? ELSEWHERE : HERE;
  }
}
