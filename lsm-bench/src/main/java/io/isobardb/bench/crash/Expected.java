package io.isobardb.bench.crash;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a store may hold after a crash: all versions of all keys, numbered in the order of the
 * writes, and how far they are safe.
 *
 * <p>Logged trees together must hold what a prefix of the writes makes, at least up to the last
 * acknowledged one, and if only the process has died, up to the last one that has returned.
 * Unlogged trees together must stand at the last checkpoint, or at one that is under way. Creating
 * and dropping a tree are writes like others, though a crash that takes what came before may leave
 * them. A tree whose creation or drop is under way may be there or not.
 *
 * <p>Thread rule: one thread.
 */
final class Expected {
  /**
   * What a write does to a key.
   *
   * @param value null if it deletes it
   */
  record Action(ExpectedTree tree, byte[] key, @Nullable ModelValue value) {}

  /** One tree. */
  static final class ExpectedTree extends ModelTree {
    private boolean created;
    private boolean dropping;
    private boolean dropped;

    /** The number of its creation; 0 if no crash can take that. */
    private long createdAt;

    /** The number of its drop; 0 if no crash can take that. */
    private long droppedAt;

    /** Keys of which a value that expires was taken back by a crash. A backup may have it. */
    private final TreeSet<byte[]> takenBack = new TreeSet<>(keys.comparator());

    private ExpectedTree(String name, TreeOptions options) {
      super(name, options);
    }

    private boolean logged() {
      return options.logged();
    }

    @Override
    public void forget(Predicate<Version> lost) {
      keys.forEach(
          (key, versions) -> {
            if (versions.stream().anyMatch(lost.and(version -> version.expires() != NEVER))) {
              takenBack.add(key);
            }
          });
      super.forget(lost);
    }

    /** Whether a key has, or had, a value that expires. */
    boolean everExpires(byte[] key) {
      return takenBack.contains(key)
          || keys.getOrDefault(key, List.of()).stream()
              .anyMatch(version -> version.expires() != NEVER);
    }
  }

  /**
   * What a store holds.
   *
   * @param trees of all its trees, by name
   * @param from the time of its clock before it was read
   * @param to the time after that
   */
  record Found(Map<String, ? extends Map<byte[], byte[]>> trees, long from, long to) {
    /** What expires is not judged. */
    static Found of(Map<String, ? extends Map<byte[], byte[]>> trees) {
      return new Found(trees, 0, 0);
    }
  }

  /** The moments a store may stand at: bit {@code i} is write number {@code first + i}. */
  record Moments(long first, BitSet logged, BitSet unlogged) {
    /** Whether a later look at the same store may have found {@code other}. */
    boolean agreesWith(Moments other) {
      return logged.intersects(other.logged) && unlogged.intersects(other.unlogged);
    }

    /** Takes out the moments from a write on; whether any are left. */
    private boolean endBefore(long write) {
      int from = (int) Math.max(0, write - first);
      logged.clear(from, Math.max(from, logged.length()));
      unlogged.clear(from, Math.max(from, unlogged.length()));
      return !logged.isEmpty() && !unlogged.isEmpty();
    }

    long latest() {
      return first + logged.length() - 1;
    }

    long checkpoint() {
      return first + unlogged.length() - 1;
    }
  }

  private final Map<String, ExpectedTree> trees = new TreeMap<>();

  /** Writes begun, each one operation or batch. */
  private long begun;

  /** Writes whose call has returned: the death of the process alone takes none of them. */
  private long returned;

  /** All writes to logged trees up to this one are durable. */
  private long acknowledged;

  private long checkpoint;

  /** What a checkpoint under way will be, or the last one. */
  private long nextCheckpoint;

  /** The next write's number. */
  long begin() {
    return ++begun;
  }

  long begun() {
    return begun;
  }

  /** The call of the write that was begun last has returned. */
  void returned() {
    returned = begun;
  }

  /** The machine has failed: what was not synced may be gone. */
  void machineFailed() {
    returned = Math.min(returned, acknowledged);
  }

  /** The write that was begun last was refused for want of room: it is not there, and never is. */
  void refused() {
    if (returned < begun) {
      trees.values().forEach(tree -> tree.forget(version -> version.at() == begun));
      returned = begun;
    }
  }

  /** All that was begun is durable, in logged trees. */
  void acknowledge() {
    acknowledged = begun;
  }

  void checkpointing() {
    nextCheckpoint = begun;
  }

  /** The same for a store whose last write may have been refused: {@code live} is what it shows. */
  void checkpointing(Moments live) {
    nextCheckpoint = live.checkpoint();
  }

  void checkpointed() {
    checkpoint = nextCheckpoint;
    acknowledge();
  }

  /** A tree whose creation begins. Names are not used twice. */
  ExpectedTree creating(String name, TreeOptions options) {
    ExpectedTree tree = new ExpectedTree(name, options);
    tree.createdAt = begin();
    trees.put(name, tree);
    return tree;
  }

  /**
   * A tree is there.
   *
   * @param durably whether no crash may take it
   */
  void created(ExpectedTree tree, boolean durably) {
    tree.created = true;
    tree.createdAt = durably ? 0 : tree.createdAt;
    returned();
  }

  void dropping(ExpectedTree tree) {
    tree.dropping = true;
    tree.droppedAt = begin();
  }

  /**
   * A tree is gone.
   *
   * @param durably whether no crash may bring it back
   */
  void dropped(ExpectedTree tree, boolean durably) {
    tree.dropped = true;
    tree.droppedAt = durably ? 0 : tree.droppedAt;
    returned();
  }

  /** Trees that are there and stay. */
  List<ExpectedTree> live() {
    return trees.values().stream().filter(tree -> tree.created && !tree.dropping).toList();
  }

  int treesEver() {
    return trees.size();
  }

  ExpectedTree tree(String name) {
    ExpectedTree tree = trees.get(name);
    if (tree == null) {
      throw new AssertionError("a tree that never was: " + name);
    }
    return tree;
  }

  /** A crash has taken back what came after the moments that were found. */
  void cutTo(Moments found) {
    for (ExpectedTree tree : trees.values()) {
      long end = tree.logged() ? found.latest() : found.checkpoint();
      tree.forget(version -> version.at() > end);
    }
    acknowledged = begun;
    returned = begun;
    checkpoint = begun;
    nextCheckpoint = begun;
  }

  /** What a write did to logged trees; empty if nothing. */
  List<Action> actions(long at) {
    List<Action> actions = new ArrayList<>();
    for (ExpectedTree tree : trees.values()) {
      tree.keys.forEach(
          (key, versions) -> {
            for (ModelTree.Version version : versions) {
              if (version.at() == at && tree.logged()) {
                actions.add(new Action(tree, key, version.value()));
              }
            }
          });
    }
    return actions;
  }

  /** The trees that are there after a failure. */
  void settle(List<String> names) {
    for (ExpectedTree tree : trees.values()) {
      boolean there = names.contains(tree.name);
      tree.created |= there;
      tree.dropped = tree.created && !there;
      tree.dropping = tree.dropped;
      tree.createdAt = 0;
      tree.droppedAt = 0;
    }
  }

  /**
   * As {@link #check}, of a store that has been open all the time: the last write may be missing.
   */
  Moments checkLive(Found contents) {
    long first = Math.max(0, begun - 1);
    Moments moments = new Moments(first, new BitSet(), new BitSet());
    moments.logged.set(0, (int) (begun - first) + 1);
    moments.unlogged.set(0, (int) (begun - first) + 1);
    return check(contents, moments);
  }

  /**
   * The moments at which the store would hold this.
   *
   * @param killed whether only processes have died, not the machine
   * @throws AssertionError if there is none, or a tree is missing or too many
   */
  Moments check(Found contents, boolean killed) {
    long first = Math.min(acknowledged, checkpoint);
    long least = killed ? Math.max(acknowledged, returned) : acknowledged;
    Moments moments = new Moments(first, new BitSet(), new BitSet());
    moments.logged.set((int) (least - first), (int) (begun - first) + 1);
    moments.unlogged.set((int) (checkpoint - first));
    moments.unlogged.set((int) (nextCheckpoint - first));
    return check(contents, moments);
  }

  /**
   * Passes if all trees, unlogged ones included, stand at one moment between two writes.
   *
   * @param from the first write after which they may stand
   * @param to the last one
   */
  void checkOneMoment(Found contents, long from, long to) {
    Moments moments = new Moments(from, new BitSet(), new BitSet());
    moments.logged.set(0, (int) (to - from) + 1);
    moments.unlogged.set(0, (int) (to - from) + 1);
    check(contents, moments);
    if (!moments.logged.intersects(moments.unlogged)) {
      throw new AssertionError(
          "logged trees stand at "
              + ranges(moments.logged, from)
              + "and unlogged ones at "
              + ranges(moments.unlogged, from));
    }
  }

  private Moments check(Found contents, Moments moments) {
    for (ExpectedTree tree : trees.values()) {
      boolean there = contents.trees.containsKey(tree.name);
      if (tree.dropped && there && !moments.endBefore(tree.droppedAt)) {
        throw new AssertionError("tree " + tree.name + " was dropped and is there");
      }
      if (tree.created && !tree.dropping && !there && !moments.endBefore(tree.createdAt)) {
        throw new AssertionError("tree " + tree.name + " was created and is missing");
      }
    }
    contents.trees.forEach((name, entries) -> narrow(moments, tree(name), entries, contents));
    if (moments.logged.isEmpty() || moments.unlogged.isEmpty()) {
      throw new AssertionError(
          (moments.logged.isEmpty()
                  ? "no prefix of the writes from "
                      + acknowledged
                      + (" (returned: " + returned + ") to ")
                      + begun
                  : "neither checkpoint " + checkpoint + " nor " + nextCheckpoint)
              + " makes this:"
              + describe(contents));
    }
    return moments;
  }

  private static void narrow(
      Moments moments, ExpectedTree tree, Map<byte[], byte[]> entries, Found times) {
    BitSet candidates = tree.logged() ? moments.logged : moments.unlogged;
    int known = 0;
    for (Map.Entry<byte[], List<ModelTree.Version>> key : tree.keys.entrySet()) {
      byte[] found = entries.get(key.getKey());
      known += found == null ? 0 : 1;
      narrow(candidates, moments.first, key.getValue(), found, times);
    }
    if (known != entries.size()) {
      for (byte[] key : entries.keySet()) {
        if (!tree.keys.containsKey(key)) {
          throw new AssertionError(
              "tree " + tree.name + " holds a key that never was: " + text(key));
        }
      }
    }
  }

  /** Takes out the moments at which a key would not have the value that was found. */
  private static void narrow(
      BitSet candidates,
      long first,
      List<ModelTree.Version> versions,
      byte @Nullable [] found,
      Found times) {
    int end = candidates.length();
    for (int i = versions.size() - 1; i >= 0 && end > 0; i--) {
      ModelTree.Version version = versions.get(i);
      int from = (int) Math.max(0, version.at() - first);
      if (from < end) {
        if (!version.is(found, times.from, times.to)) {
          candidates.clear(from, end);
        }
        end = from;
      }
    }
    if (end > 0 && found != null) {
      candidates.clear(0, end);
    }
  }

  /** The moments at which each key would be what it is, where those are not all. */
  private String describe(Found contents) {
    long first = Math.min(acknowledged, checkpoint);
    StringBuilder text = new StringBuilder();
    contents.trees.forEach(
        (name, entries) -> {
          ExpectedTree tree = tree(name);
          tree.keys.forEach(
              (key, versions) -> {
                BitSet fits = new BitSet();
                fits.set((int) ((tree.logged() ? acknowledged : checkpoint) - first));
                fits.set((int) (acknowledged - first), (int) (begun - first) + 1);
                int all = fits.cardinality();
                narrow(fits, first, versions, entries.get(key), contents);
                if (fits.cardinality() < all && text.length() < 4000) {
                  text.append("\n  ").append(name).append(' ').append(text(key));
                  text.append(" fits ").append(ranges(fits, first));
                  text.append(found(versions, entries.get(key), contents));
                }
              });
        });
    return text.toString();
  }

  /** Which versions of a key were found: older ones than may be, or none at all. */
  private static String found(
      List<ModelTree.Version> versions, byte @Nullable [] found, Found times) {
    StringBuilder text =
        new StringBuilder(found == null ? "(not there" : "(" + found.length + " bytes");
    for (ModelTree.Version version : versions) {
      boolean fits = version.is(found, times.from, times.to);
      text.append(fits ? ", as written by " : ", not ").append(version.at());
      if (version.expires() != ModelTree.NEVER) {
        text.append(" until ").append(version.expires());
      }
    }
    return text.append("; read at ").append(times.to).append(')').toString();
  }

  private static String ranges(BitSet moments, long first) {
    StringBuilder text = new StringBuilder();
    for (int from = moments.nextSetBit(0); from >= 0 && text.length() < 200; ) {
      int to = moments.nextClearBit(from);
      text.append(first + from).append("..").append(first + to - 1).append(' ');
      from = moments.nextSetBit(to);
    }
    return text.isEmpty() ? "none" : text.toString();
  }

  /** The start of a key, as text. */
  static String text(byte[] key) {
    String text = new String(key, 0, Math.min(key.length, 30), UTF_8);
    return key.length > 30 ? text + "... (" + key.length + " bytes)" : text;
  }
}
