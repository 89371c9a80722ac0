package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Group;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
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
  private final KeyOrder order;
  private final List<byte[]> seams;
  private final long targetBytes;
  private final byte @Nullable [] border;
  private boolean beforeBorder;
  private int next;
  private int passed;
  private boolean aligned = true;

  private OutputCuts(
      KeyOrder order, List<byte[]> seams, long targetBytes, byte @Nullable [] border) {
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
    return new OutputCuts(order, List.of(), targetBytes, border);
  }

  /**
   * Cuts of what goes to L0: where groups have SSTables, those of the groups, else of the level
   * below. A sweep over all keys so has the same slices as the one before.
   *
   * @param version the tree's SSTables of now
   * @param targetBytes the size of an output
   */
  public static OutputCuts inL0(Version version, long targetBytes) {
    List<byte[]> seams = new ArrayList<>();
    for (Group group : version.groups()) {
      addStarts(group.run(), seams);
    }
    List<byte[]> below = new ArrayList<>();
    addStarts(below(version, version.levelCount()), below);
    below.removeIf(key -> isInL0(version, key));
    seams.addAll(below);
    KeyOrder order = version.order();
    seams.sort((a, b) -> order.compare(a, 0, a.length, b, 0, b.length));
    return new OutputCuts(order, seams, targetBytes, null);
  }

  /** Cuts of what goes to the level of this height, and later to the one below. */
  public static OutputCuts inLevel(Version version, int height, long targetBytes) {
    List<byte[]> seams = new ArrayList<>();
    addStarts(below(version, height), seams);
    return new OutputCuts(version.order(), seams, targetBytes, null);
  }

  private static boolean isInL0(Version version, byte[] key) {
    return version.groups().stream()
        .anyMatch(group -> !group.run().overlapping(key, key).isEmpty());
  }

  private static void addStarts(Level<SSTableMeta> level, List<byte[]> to) {
    level.elements().forEach(table -> to.add(table.minKey()));
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
    advance(key, length);
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
      boolean waits = next < seams.size() && (aligned || passed > 0);
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
    int first = next;
    while (next < seams.size() && isReached(key, length, seams.get(next))) {
      next++;
    }
    return next > first;
  }

  private boolean isReached(byte[] key, int length, byte[] seam) {
    return order.compare(key, 0, length, seam, 0, seam.length) >= 0;
  }
}
