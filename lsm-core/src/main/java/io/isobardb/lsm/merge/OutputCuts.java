package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the SSTables that a flush or merge writes end: at about their size, and where others begin
 * that they will be merged with, if there is such a key nearby. So fewer of those have to be
 * rewritten for a part of their keys only.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class OutputCuts {
  /**
   * SSTables of tiers are so many times smaller. A tier is thin: its SSTables lie over many of the
   * level below. The less of that each covers, the narrower the columns of keys that go down, and
   * the fuller are those that can be chosen (decision 0085).
   */
  private static final int TIER_PARTS = 4;

  private final KeyOrder order;
  private final Seams seams;
  private final long targetBytes;
  private final byte @Nullable [] border;
  private boolean beforeBorder;

  /** The next one behind all keys so far; null if there is none. */
  private byte @Nullable [] seam;

  private int passed;
  private boolean aligned = true;

  private OutputCuts(KeyOrder order, Seams seams, long targetBytes, byte @Nullable [] border) {
    this.order = order;
    this.seams = seams;
    this.targetBytes = targetBytes;
    this.border = border;
  }

  /**
   * Cuts by size, and at a border.
   *
   * @param border no output has both keys up to this one and keys above it; null for none
   */
  public static OutputCuts at(KeyOrder order, long targetBytes, byte @Nullable [] border) {
    return new OutputCuts(order, new Seams(List.of(), Level.empty(order)), targetBytes, border);
  }

  /**
   * Cuts of what goes to L0: where groups have SSTables, those of the groups, else of the level
   * below. A sweep over all keys so has the same slices as the one before.
   *
   * @param version the tree's SSTables of now
   * @param targetBytes the size of an output
   */
  public static OutputCuts inL0(Version version, long targetBytes) {
    return above(version, version.groups(), targetBytes);
  }

  private static OutputCuts above(Version version, List<PlacedRun> runs, long targetBytes) {
    List<Level<SSTableMeta>> beside = runs.stream().map(PlacedRun::run).toList();
    Seams seams = new Seams(beside, below(version, version.levelCount()));
    return new OutputCuts(version.order(), seams, targetBytes, null);
  }

  /** Cuts of what goes to a place. */
  public static OutputCuts in(Version version, Place place, long targetBytes) {
    return switch (place.kind()) {
      case GROUP -> inL0(version, targetBytes);
      case TIER -> above(version, version.tiers(), targetBytes / TIER_PARTS);
      case LEVEL -> inLevel(version, place.height(), targetBytes);
    };
  }

  /** Cuts of what goes to the level of this height, and later to the one below. */
  static OutputCuts inLevel(Version version, int height, long targetBytes) {
    Seams seams = new Seams(List.of(), below(version, height));
    return new OutputCuts(version.order(), seams, targetBytes, null);
  }

  /**
   * Where SSTables begin.
   *
   * @param groups those of L0, or the tiers
   * @param below counts where no group has an SSTable
   */
  private record Seams(List<Level<SSTableMeta>> groups, Level<SSTableMeta> below) {
    /** The first one behind a key; null if there is none. */
    byte @Nullable [] behind(byte[] key, int length) {
      byte[] first = null;
      for (Level<SSTableMeta> group : groups) {
        first = earlier(first, start(group.startingBehind(key, length)));
      }
      return earlier(first, behindBelow(key, length));
    }

    private byte @Nullable [] behindBelow(byte[] key, int length) {
      byte[] start = start(below.startingBehind(key, length));
      while (start != null) {
        byte[] covered = coveredTo(start);
        if (covered == null) {
          return start;
        }
        start = start(below.startingBehind(covered, covered.length));
      }
      return null;
    }

    /** The end of an SSTable of a group that may have the key; null if there is none. */
    private byte @Nullable [] coveredTo(byte[] key) {
      for (Level<SSTableMeta> group : groups) {
        int at = group.find(key, 0, key.length);
        if (at >= 0) {
          return group.meta(at).maxKey();
        }
      }
      return null;
    }

    private byte @Nullable [] earlier(byte @Nullable [] a, byte @Nullable [] b) {
      if (a == null || b == null) {
        return a == null ? b : a;
      }
      return below.order().compare(a, 0, a.length, b, 0, b.length) <= 0 ? a : b;
    }

    private static byte @Nullable [] start(@Nullable SSTableMeta table) {
      return table == null ? null : table.minKey();
    }
  }

  private static Level<SSTableMeta> below(Version version, int height) {
    int below = height - 1;
    while (below > 0 && version.atHeight(below).isEmpty()) {
      below--;
    }
    return below < 0 ? Level.empty(version.order()) : version.atHeight(below);
  }

  /** An output begins with this key. */
  public void begin(byte[] key, int length) {
    seam = seams.behind(key, length);
    passed = 0;
    beforeBorder = border != null && !isBehindBorder(key, length);
  }

  /**
   * Whether the output ends before this key, if that is another than the one before.
   *
   * @param bytes of the output so far
   */
  public boolean before(byte[] key, int length, long bytes) {
    if (beforeBorder && isBehindBorder(key, length)) {
      return true;
    }
    boolean atSeam = advance(key, length);
    boolean ends;
    if (atSeam) {
      // They are about as far apart: is this one nearer to the wanted size than the next one?
      passed++;
      ends = bytes + bytes / (2 * passed) >= targetBytes;
      aligned |= ends;
    } else {
      // Where the last output met none, this one need not wait for one either.
      boolean waits = seam != null && (aligned || passed > 0);
      ends = bytes >= (waits ? targetBytes + targetBytes / 2 : targetBytes);
      aligned &= !ends;
    }
    return ends;
  }

  private boolean isBehindBorder(byte[] key, int length) {
    byte[] last = border;
    return last != null && order.compare(key, 0, length, last, 0, last.length) > 0;
  }

  /** Moves behind the seams that the key has reached; says whether there were any. */
  private boolean advance(byte[] key, int length) {
    byte[] at = seam;
    if (at == null || order.compare(key, 0, length, at, 0, at.length) < 0) {
      return false;
    }
    seam = seams.behind(key, length);
    return true;
  }
}
