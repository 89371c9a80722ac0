package io.isobardb.ycsb;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which tree a key belongs to: keys are spread over the trees by a hash, a share of them over a few
 * hot trees. Immutable, thread-safe.
 *
 * <p>With {@code 80:20} and 10 trees, 80 % of the keys, and so about of the operations, belong to
 * trees 0 and 1.
 */
final class TreeChoice {
  private static final Pattern FORM = Pattern.compile("([0-9]{1,3}):([0-9]{1,3})");

  private final int trees;
  private final int hotTrees;
  private final int hotPercent;

  /**
   * @param trees from 1
   * @param hot {@code KEYS:TREES}, both in percent; empty to spread evenly
   */
  TreeChoice(int trees, String hot) {
    this.trees = trees;
    if (hot.isEmpty()) {
      hotTrees = trees;
      hotPercent = 100;
      return;
    }
    Matcher matcher = FORM.matcher(hot);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "'" + hot + "' is not a hot-spot share; write for example 80:20");
    }
    int treePercent = Integer.parseInt(matcher.group(2));
    hotPercent = Integer.parseInt(matcher.group(1));
    if (hotPercent > 100 || treePercent > 100) {
      throw new IllegalArgumentException("'" + hot + "' has more than 100 percent");
    }
    hotTrees = Math.max(1, (int) Math.round(trees * treePercent / 100.0));
  }

  /** The tree of a key, in {@code [0, trees)}. */
  int of(byte[] key) {
    if (trees == 1) {
      return 0;
    }
    long hash = 0xcbf29ce484222325L;
    for (byte b : key) {
      hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
    }
    hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
    hash ^= hash >>> 32;
    int within = (int) ((hash & 0xffffff) >>> 1);
    boolean hot = hotTrees == trees || Long.remainderUnsigned(hash >>> 24, 100) < hotPercent;
    return hot ? within % hotTrees : hotTrees + within % (trees - hotTrees);
  }
}
