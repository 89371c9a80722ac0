package io.isobardb.lsm.model;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the store of a {@link CombinedHistory} holds at each moment, and what of it a crash may
 * leave. A moment is a number that each write gets, and each look at another time.
 */
final class CombinedModel {
  /** A tree, and when it was there under which name. */
  static final class Known extends ModelTree {
    long createdAt;
    long droppedAt = Long.MAX_VALUE;
    final TreeMap<Long, String> names = new TreeMap<>();

    /** What it may be told to be: one, or two while that changes. */
    final List<String> adjusted = new ArrayList<>();

    Known(String name, TreeOptions options, TreeMap<Long, Long> clock, long at) {
      super(name, options, when -> clock.floorEntry(when).getValue());
      createdAt = at;
      names.put(at, name);
    }

    void settle() {
      while (adjusted.size() > 1) {
        adjusted.remove(0);
      }
    }

    boolean isAt(long at) {
      return createdAt <= at && at < droppedAt;
    }

    String nameAt(long at) {
      return names.floorEntry(at).getValue();
    }

    String name() {
      return names.lastEntry().getValue();
    }

    boolean logged() {
      return options.logged();
    }
  }

  record Found(
      Map<String, TreeMap<byte[], byte[]>> trees,
      Map<String, String> adjusted,
      long from,
      long to) {}

  /** Moments at which a store would hold what was found. */
  record Moment(long log, long manifest, long checkpoint) {}

  /** The time from each moment on. */
  final TreeMap<Long, Long> clock = new TreeMap<>();

  final List<Known> trees = new ArrayList<>();
  long now;

  /** The last moment whose write has returned. */
  long returned;

  /** The last one that is on the device: of what is written, and of what trees there are. */
  long acked;

  long manifestAcked;

  /** Where unlogged trees stand after a crash: there, or where the checkpoint under way is. */
  long checkpoint;

  long nextCheckpoint;

  /** Where a checkpoint may stand that a store makes as it is closed. */
  final List<Long> closing = new ArrayList<>();

  /** What is read from now on is judged by this time. */
  void tick(long millis) {
    boolean quiet = returned == now;
    boolean safe = acked == now;
    clock.put(++now, millis);
    returned = quiet ? now : returned;
    acked = safe ? now : acked;
  }

  /** A write begins. */
  long begin() {
    long time = clock.lastEntry().getValue();
    clock.put(++now, time);
    return now;
  }

  List<Known> live() {
    return trees.stream().filter(tree -> tree.isAt(now)).collect(Collectors.toList());
  }

  static String adjusted(TreeOptions of) {
    return of.timeToLive() + " " + of.runs() + " " + of.maxSpace() + " " + of.compression();
  }

  static Map<String, TreeMap<byte[], byte[]>> contents(Store of) {
    Map<String, TreeMap<byte[], byte[]>> contents = new TreeMap<>();
    for (String name : of.treeNames()) {
      Tree tree = of.tree(name);
      TreeMap<byte[], byte[]> entries =
          new TreeMap<>(ModelTree.comparator(tree.options().keyOrder()));
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          entries.put(cursor.key(), cursor.value());
        }
      }
      contents.put(name, entries);
    }
    return contents;
  }

  static Found find(Store of) {
    StoreClock time = Inside.of(of).engine().snapshots().time();
    long from = time.getAsLong();
    Map<String, TreeMap<byte[], byte[]>> contents = contents(of);
    Map<String, String> adjusted = new TreeMap<>();
    of.treeNames().forEach(name -> adjusted.put(name, adjusted(of.tree(name).options())));
    return new Found(contents, adjusted, from, time.getAsLong());
  }

  void checkOneMoment(Found found, long from) {
    for (long at = now; at >= from; at--) {
      if (find(found, at, at, at, new HashMap<>(), from) != null) {
        return;
      }
    }
    throw new AssertionError(
        "the copy is of no moment from " + from + " to " + now + ": " + describe(found, from, now));
  }

  void settled() {
    acked = now;
    returned = now;
    manifestAcked = now;
    checkpoint = now;
    nextCheckpoint = now;
  }

  void cut(Moment moment, Found found) {
    trees.removeIf(tree -> !tree.isAt(moment.manifest));
    for (Known tree : trees) {
      long end = tree.logged() ? moment.log : moment.checkpoint;
      tree.forget(version -> version.at() > end);
      tree.droppedAt = Long.MAX_VALUE;
      tree.createdAt = 0;
      String name = tree.nameAt(moment.manifest);
      tree.names.clear();
      tree.names.put(0L, name);
      tree.adjusted.clear();
      tree.adjusted.add(found.adjusted.get(name));
    }
  }

  /** Later moments are found first, and one that holds the same may be gone by then. */
  boolean same(Moment one, Moment other) {
    return one.log == other.log || one.checkpoint != other.checkpoint;
  }

  // What there may be.

  Moment check(Found found, boolean killed) {
    long least = killed ? Math.max(acked, returned) : acked;
    long base = Math.min(least, points().stream().mapToLong(Long::longValue).min().orElseThrow());
    Map<String, BitSet> fits = new HashMap<>();
    for (long log = now; log >= least; log--) {
      for (long manifest = now; manifest >= Math.max(log, manifestAcked); manifest--) {
        for (long point : points()) {
          Moment moment = find(found, log, manifest, point, fits, base);
          if (moment != null) {
            return moment;
          }
        }
        if (!isChange(manifest)) {
          // The same as one before, down to the last change.
          long changed = lastChange(manifest);
          if (changed < Math.max(log, manifestAcked)) {
            break;
          }
          manifest = changed + 1;
        }
      }
    }
    throw new AssertionError(
        "no moment from "
            + least
            + " to "
            + now
            + " (returned "
            + returned
            + ", acked "
            + acked
            + ", manifest "
            + manifestAcked
            + ", checkpoints "
            + checkpoint
            + ", "
            + nextCheckpoint
            + ") makes this: "
            + describe(found, base, now));
  }

  private List<Long> points() {
    List<Long> points = new ArrayList<>(closing);
    points.add(nextCheckpoint);
    points.add(checkpoint);
    return points;
  }

  private boolean isChange(long at) {
    return lastChange(at) == at;
  }

  /** The last change of trees up to a moment. */
  private long lastChange(long at) {
    long last = -1;
    for (Known tree : trees) {
      last = tree.createdAt <= at ? Math.max(last, tree.createdAt) : last;
      last = tree.droppedAt <= at ? Math.max(last, tree.droppedAt) : last;
      Long name = tree.names.floorKey(at);
      last = name == null ? last : Math.max(last, name);
    }
    return last;
  }

  @Nullable Moment find(
      Found found, long log, long manifest, long point, Map<String, BitSet> fits, long base) {
    int count = 0;
    for (Known tree : trees) {
      if (!tree.isAt(manifest)) {
        continue;
      }
      String name = tree.nameAt(manifest);
      TreeMap<byte[], byte[]> entries = found.trees.get(name);
      if (entries == null) {
        return null;
      }
      count++;
      BitSet moments =
          fits.computeIfAbsent(
              name + " " + trees.indexOf(tree), key -> fitting(tree, entries, found, base));
      if (!moments.get((int) ((tree.logged() ? log : point) - base))) {
        return null;
      }
      if (!tree.adjusted.contains(found.adjusted.get(name))) {
        throw new AssertionError(
            name + " is " + found.adjusted.get(name) + ", not " + tree.adjusted);
      }
    }
    return count == found.trees.size() ? new Moment(log, manifest, point) : null;
  }

  private BitSet fitting(Known tree, TreeMap<byte[], byte[]> entries, Found found, long base) {
    BitSet moments = new BitSet();
    moments.set(0, (int) (now - base) + 1);
    int known = 0;
    for (Map.Entry<byte[], List<ModelTree.Version>> key : tree.keys.entrySet()) {
      byte[] value = entries.get(key.getKey());
      known += value == null ? 0 : 1;
      narrow(moments, base, key.getValue(), value, found);
    }
    if (known != entries.size()) {
      moments.clear();
    }
    return moments;
  }

  private static void narrow(
      BitSet moments,
      long base,
      List<ModelTree.Version> versions,
      byte @Nullable [] value,
      Found found) {
    int end = moments.length();
    for (int i = versions.size() - 1; i >= 0 && end > 0; i--) {
      ModelTree.Version version = versions.get(i);
      int from = (int) Math.max(0, version.at() - base);
      if (from < end) {
        if (!version.is(value, found.from, found.to)) {
          moments.clear(from, end);
        }
        end = from;
      }
    }
    if (end > 0 && value != null) {
      moments.clear(0, end);
    }
  }

  String describe(Found found, long base, long to) {
    StringBuilder text = new StringBuilder("trees " + found.trees.keySet() + " of ");
    for (Known tree : trees) {
      text.append(tree.names)
          .append(tree.createdAt)
          .append("..")
          .append(tree.droppedAt)
          .append(tree.logged() ? " " : " unlogged ");
      for (String name : new TreeSet<>(tree.names.values())) {
        TreeMap<byte[], byte[]> entries = found.trees.get(name);
        if (entries == null) {
          continue;
        }
        BitSet all = fitting(tree, entries, found, base);
        text.append(" as ").append(name).append(" fits ").append(ranges(all, base));
        if (all.isEmpty()) {
          tree.keys.forEach(
              (key, versions) -> {
                BitSet fits = new BitSet();
                fits.set(0, (int) (to - base) + 1);
                narrow(fits, base, versions, entries.get(key), found);
                if (fits.cardinality() < to - base + 1 && text.length() < 4000) {
                  text.append("\n   ")
                      .append(SimulatedWorld.text(key))
                      .append(" fits ")
                      .append(ranges(fits, base))
                      .append(" versions ")
                      .append(
                          versions.stream()
                              .map(
                                  v ->
                                      v.at()
                                          + (v.value() == null ? "-" : "+" + v.value().length())
                                          + (v.expires() == ModelTree.NEVER
                                              ? ""
                                              : " until " + v.expires()))
                              .toList())
                      .append(entries.get(key) == null ? " absent" : " " + entries.get(key).length);
                }
              });
        }
      }
      text.append("; ");
    }
    return text + " read from " + found.from + " to " + found.to;
  }

  private static String ranges(BitSet moments, long base) {
    StringBuilder text = new StringBuilder();
    for (int from = moments.nextSetBit(0); from >= 0 && text.length() < 200; ) {
      int to = moments.nextClearBit(from);
      text.append(base + from).append("..").append(base + to - 1).append(' ');
      from = moments.nextSetBit(to);
    }
    return text.isEmpty() ? "none" : text.toString();
  }
}
