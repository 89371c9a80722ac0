package io.isobardb.lsm.version;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.range.SavedRanges;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The live disk SSTables of one tree: groups of L0, and levels L1..Ln, n at least 1.
 *
 * <p>Immutable. Invariants: every group and level is a sorted, disjoint run; an SSTable stands in
 * one place; groups are ordered from newest to oldest and none is empty. Of two SSTables whose keys
 * overlap, the one in the newer group, or the higher level, is the newer one.
 */
public final class Version {
  private final KeyOrder order;
  private final List<Group> groups;
  private final List<Level<SSTableMeta>> byHeight;
  private final long sizeBytes;
  private final int tableCount;
  private final SavedRanges ranges;

  private Version(
      KeyOrder order, List<Group> groups, List<Level<SSTableMeta>> byHeight, SavedRanges ranges) {
    this.ranges = ranges;
    this.order = order;
    this.groups = List.copyOf(groups);
    this.byHeight = List.copyOf(byHeight);
    long bytes = 0;
    int tables = 0;
    for (Level<SSTableMeta> run : runs()) {
      bytes += run.sizeBytes();
      tables += run.size();
    }
    this.sizeBytes = bytes;
    this.tableCount = tables;
  }

  /** A tree without SSTables: no groups, and one empty level. */
  public static Version empty(KeyOrder order) {
    return new Version(order, List.of(), List.of(Level.empty(order)), SavedRanges.none(order));
  }

  /**
   * A tree with these SSTables.
   *
   * @param levels how many levels there are below L0
   * @throws IllegalArgumentException if an invariant does not hold
   */
  public static Version of(KeyOrder order, int levels, Collection<VersionEdit.Added> tables) {
    Map<Place, List<SSTableMeta>> places = new HashMap<>();
    Set<Long> numbers = new HashSet<>();
    for (VersionEdit.Added table : tables) {
      if (!numbers.add(table.meta().fileNumber())) {
        throw new IllegalArgumentException(table.meta().fileName() + " is added twice");
      }
      places.computeIfAbsent(table.place(), place -> new ArrayList<>()).add(table.meta());
    }
    List<Level<SSTableMeta>> byHeight = new ArrayList<>(levels);
    for (int height = 0; height < levels; height++) {
      List<SSTableMeta> run = places.remove(Place.level(height));
      byHeight.add(Level.of(run == null ? List.of() : run, order));
    }
    return new Version(order, groupsOf(places, order), byHeight, SavedRanges.none(order));
  }

  /** This version with these range deletes instead of its own. */
  public Version withRanges(SavedRanges other) {
    return new Version(order, groups, byHeight, other);
  }

  /** What the manifest has of range deletes. */
  public SavedRanges ranges() {
    return ranges;
  }

  /** The range deletes that the manifest has. */
  public RangeDeletes rangeDeletes() {
    return ranges.deletes();
  }

  /** The order of the tree's keys. */
  public KeyOrder order() {
    return order;
  }

  /** L0, from the newest group to the oldest. */
  public List<Group> groups() {
    return groups;
  }

  /** Bytes of all groups of L0. */
  public long l0Bytes() {
    long bytes = 0;
    for (Group group : groups) {
      bytes += group.run().sizeBytes();
    }
    return bytes;
  }

  /** Whether L0 has so many groups that nothing is flushed for memory until they were merged. */
  public boolean l0Full(L0Limits limits) {
    return groups.size() >= limits.stop();
  }

  /** How many levels there are below L0: n, at least 1. Some may be empty. */
  public int levelCount() {
    return byHeight.size();
  }

  /** L<sub>i</sub>, with {@code i} from 1 to {@link #levelCount}. */
  public Level<SSTableMeta> level(int i) {
    return byHeight.get(byHeight.size() - i);
  }

  /** The level that stands so many levels above the last one. */
  public Level<SSTableMeta> atHeight(int height) {
    return byHeight.get(height);
  }

  /** All runs in the order in which reads must visit them: groups from the newest, then L1..Ln. */
  public List<Level<SSTableMeta>> runs() {
    List<Level<SSTableMeta>> runs = new ArrayList<>(groups.size() + byHeight.size());
    for (Group group : groups) {
      runs.add(group.run());
    }
    for (int height = byHeight.size() - 1; height >= 0; height--) {
      runs.add(byHeight.get(height));
    }
    return runs;
  }

  /** Bytes of all SSTables. */
  public long sizeBytes() {
    return sizeBytes;
  }

  /** How many SSTables there are. */
  public int tableCount() {
    return tableCount;
  }

  /**
   * Whether no level below the one at this height holds keys in the closed range, so that a delete
   * marker in that level, newest of its key for every reader, has nothing to hide.
   *
   * <p>The caller sees to it that no older group of L0 overlaps what the merge brings to the level;
   * {@code MergeChoice} does.
   */
  public boolean nothingBelow(int height, byte[] minKey, byte[] maxKey) {
    for (int below = 0; below < height; below++) {
      if (byHeight.get(below).overlaps(minKey, maxKey)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Where flushed SSTables go: into the oldest group such that neither it nor any newer one
   * overlaps, or else into a new group. So an SSTable is newer than all it overlaps in older
   * groups.
   *
   * <p>SSTables that overlap must be placed in the order they were written, and against the version
   * that the edit is applied to.
   *
   * @param flushed SSTables that are disjoint
   * @return a place for each of them, in the same order
   */
  public List<Place> place(L0Structure structure, List<SSTableMeta> flushed) {
    long next = groups.isEmpty() ? 1 : groups.get(0).number() + 1;
    List<Place> places = new ArrayList<>(flushed.size());
    for (SSTableMeta table : flushed) {
      if (structure == L0Structure.ORIGINAL) {
        places.add(Place.group(next++));
        continue;
      }
      Place place = Place.group(next);
      for (Group group : groups) {
        if (group.run().overlaps(table.minKey(), table.maxKey())) {
          break;
        }
        place = group.place();
      }
      places.add(place);
    }
    return places;
  }

  /**
   * Where SSTables go that are newer than all there is: each into the lowest level such that
   * neither that nor anything above it overlaps, or else into L0.
   *
   * @param loaded SSTables that are disjoint
   * @param free whether no merge is about to write to where an SSTable has keys
   * @return a place for each of them, in the same order
   */
  public List<Place> placeLow(List<SSTableMeta> loaded, Predicate<SSTableMeta> free) {
    List<Place> places = new ArrayList<>(loaded.size());
    for (SSTableMeta table : loaded) {
      Place place = place(L0Structure.GREEDY_GROUPED, List.of(table)).get(0);
      if (free.test(table) && overlapsNoGroup(table)) {
        for (int height = byHeight.size() - 1; height >= 0; height--) {
          if (byHeight.get(height).overlaps(table.minKey(), table.maxKey())) {
            break;
          }
          place = Place.level(height);
        }
      }
      places.add(place);
    }
    return places;
  }

  private boolean overlapsNoGroup(SSTableMeta table) {
    return groups.stream().noneMatch(group -> group.run().overlaps(table.minKey(), table.maxKey()));
  }

  /**
   * The version after an edit. Runs that the edit leaves alone are shared.
   *
   * @throws IllegalArgumentException if the edit names an SSTable that is not there, adds one that
   *     is, drops a level that is not empty, or breaks an invariant of a run
   */
  public Version apply(VersionEdit edit) {
    Map<Place, List<SSTableMeta>> coming = new HashMap<>();
    Set<Long> going = new HashSet<>(edit.removed());
    for (VersionEdit.Moved moved : edit.moved()) {
      SSTableMeta meta = find(moved.fileNumber());
      if (meta == null || !going.add(moved.fileNumber())) {
        throw new IllegalArgumentException("can't move " + moved);
      }
      coming.computeIfAbsent(moved.to(), place -> new ArrayList<>()).add(meta);
    }
    Set<Long> fresh = new HashSet<>();
    for (VersionEdit.Added added : edit.added()) {
      if (!fresh.add(added.meta().fileNumber())) {
        throw new IllegalArgumentException(added.meta().fileName() + " is added twice");
      }
      coming.computeIfAbsent(added.place(), place -> new ArrayList<>()).add(added.meta());
    }
    int levels = edit.levels() == VersionEdit.UNCHANGED ? levelCount() : edit.levels();
    Change change = new Change(going, fresh);
    List<Level<SSTableMeta>> newLevels = new ArrayList<>();
    for (int height = 0; height < Math.max(levels, levelCount()); height++) {
      Level<SSTableMeta> old = height < levelCount() ? byHeight.get(height) : Level.empty(order);
      Level<SSTableMeta> run = change.apply(old, coming.remove(Place.level(height)));
      if (height < levels) {
        newLevels.add(run);
      } else if (!run.isEmpty()) {
        throw new IllegalArgumentException(
            "a level that is dropped holds "
                + run.elements().stream().map(SSTableMeta::fileName).toList());
      }
    }
    List<Group> newGroups = new ArrayList<>();
    for (Group group : groups) {
      Level<SSTableMeta> run = change.apply(group.run(), coming.remove(group.place()));
      if (!run.isEmpty()) {
        newGroups.add(run == group.run() ? group : new Group(group.number(), run));
      }
    }
    newGroups.addAll(groupsOf(coming, order));
    newGroups.sort((a, b) -> Long.compare(b.number(), a.number()));
    if (change.found != going.size()) {
      throw new IllegalArgumentException("not all of " + going + " are there to be removed");
    }
    Version changed = new Version(order, newGroups, newLevels, ranges);
    return edit.rangesReset() || !edit.rangeDeletes().isEmpty() ? changed.ranges(edit) : changed;
  }

  private Version ranges(VersionEdit edit) {
    SavedRanges before = edit.rangesReset() ? SavedRanges.none(order) : ranges;
    return withRanges(
        new SavedRanges(
            before.deletes().withAll(edit.rangeDeletes(), RangeDeletes.NOBODY, Long.MAX_VALUE),
            before.idle(),
            before.records() + edit.rangeDeletes().size()));
  }

  /** New groups, from the newest to the oldest. */
  private static List<Group> groupsOf(Map<Place, List<SSTableMeta>> places, KeyOrder order) {
    List<Group> groups = new ArrayList<>(places.size());
    places.forEach(
        (place, tables) -> {
          if (!place.inL0()) {
            throw new IllegalArgumentException("there is no level " + place);
          }
          groups.add(new Group(place.number(), Level.of(tables, order)));
        });
    groups.sort((a, b) -> Long.compare(b.number(), a.number()));
    return groups;
  }

  /** The SSTable with this file number, or null. Looks at all of them. */
  public @Nullable SSTableMeta find(long fileNumber) {
    for (Level<SSTableMeta> run : runs()) {
      for (SSTableMeta meta : run.elements()) {
        if (meta.fileNumber() == fileNumber) {
          return meta;
        }
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return "L0" + groups + " levels" + byHeight;
  }

  /** What goes and what comes, applied run by run. */
  private final class Change {
    private final Set<Long> going;
    private final Set<Long> fresh;
    private int found;

    Change(Set<Long> going, Set<Long> fresh) {
      this.going = going;
      this.fresh = fresh;
    }

    Level<SSTableMeta> apply(Level<SSTableMeta> run, @Nullable List<SSTableMeta> coming) {
      List<SSTableMeta> kept = new ArrayList<>(run.size());
      for (SSTableMeta meta : run.elements()) {
        if (going.contains(meta.fileNumber())) {
          found++;
        } else if (fresh.contains(meta.fileNumber())) {
          throw new IllegalArgumentException(meta.fileName() + " is there already");
        } else {
          kept.add(meta);
        }
      }
      if (coming == null && kept.size() == run.size()) {
        return run;
      }
      return Level.of(kept, coming == null ? List.of() : coming, order);
    }
  }
}
