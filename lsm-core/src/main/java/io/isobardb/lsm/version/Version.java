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
 * The live disk SSTables of one tree: groups of L0, tiers, and levels L1..Ln, n at least 1.
 *
 * <p>Immutable. Invariants: every group, tier and level is a sorted, disjoint run; an SSTable
 * stands in one place; groups and tiers are ordered from newest to oldest and none is empty. Of two
 * SSTables whose keys overlap, the one in the newer group or tier, or the higher level, is the
 * newer one; groups are newer than tiers, and tiers than levels.
 */
public final class Version {
  private final KeyOrder order;
  private final List<PlacedRun> groups;
  private final List<PlacedRun> tiers;
  private final List<Level<SSTableMeta>> byHeight;
  private final long sizeBytes;
  private final int tableCount;
  private final SavedRanges ranges;

  private Version(
      KeyOrder order,
      List<PlacedRun> groups,
      List<PlacedRun> tiers,
      List<Level<SSTableMeta>> byHeight,
      SavedRanges ranges) {
    this.ranges = ranges;
    this.order = order;
    this.groups = List.copyOf(groups);
    this.tiers = List.copyOf(tiers);
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
    return new Version(
        order, List.of(), List.of(), List.of(Level.empty(order)), SavedRanges.none(order));
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
    List<PlacedRun> groups = runsOf(Place.Kind.GROUP, places, order);
    List<PlacedRun> tiers = runsOf(Place.Kind.TIER, places, order);
    if (!places.isEmpty()) {
      throw new IllegalArgumentException("there is no level " + places.keySet().iterator().next());
    }
    return new Version(order, groups, tiers, byHeight, SavedRanges.none(order));
  }

  /** This version with these range deletes instead of its own. */
  public Version withRanges(SavedRanges other) {
    return new Version(order, groups, tiers, byHeight, other);
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
  public List<PlacedRun> groups() {
    return groups;
  }

  /** The tiers, from the newest to the oldest. */
  public List<PlacedRun> tiers() {
    return tiers;
  }

  /** Bytes of all groups of L0. */
  public long l0Bytes() {
    return bytesOf(groups);
  }

  /** Bytes of all tiers. */
  public long tierBytes() {
    return bytesOf(tiers);
  }

  private static long bytesOf(List<PlacedRun> runs) {
    long bytes = 0;
    for (PlacedRun placed : runs) {
      bytes += placed.run().sizeBytes();
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

  /**
   * All runs in the order in which reads must visit them: groups and tiers from the newest, then
   * L1..Ln.
   */
  public List<Level<SSTableMeta>> runs() {
    List<Level<SSTableMeta>> runs = new ArrayList<>(aboveLevels() + byHeight.size());
    groups.forEach(group -> runs.add(group.run()));
    tiers.forEach(tier -> runs.add(tier.run()));
    for (int height = byHeight.size() - 1; height >= 0; height--) {
      runs.add(byHeight.get(height));
    }
    return runs;
  }

  /** As {@link #runs}, with their places. */
  public List<PlacedRun> placedRuns() {
    List<PlacedRun> runs = new ArrayList<>(aboveLevels() + byHeight.size());
    runs.addAll(groups);
    runs.addAll(tiers);
    for (int height = byHeight.size() - 1; height >= 0; height--) {
      runs.add(new PlacedRun(Place.level(height), byHeight.get(height)));
    }
    return runs;
  }

  /** What stands in a place; nothing if there is no such group, tier or level any more. */
  public Level<SSTableMeta> run(Place place) {
    if (place.isLevel()) {
      return place.height() < byHeight.size() ? byHeight.get(place.height()) : Level.empty(order);
    }
    for (PlacedRun placed : place.inL0() ? groups : tiers) {
      if (placed.place().equals(place)) {
        return placed.run();
      }
    }
    return Level.empty(order);
  }

  /** How many groups and tiers there are. */
  public int aboveLevels() {
    return groups.size() + tiers.size();
  }

  /** Bytes of all SSTables. */
  public long sizeBytes() {
    return sizeBytes;
  }

  /** How many SSTables there are. */
  public int tableCount() {
    return tableCount;
  }

  /** Whether an SSTable has keys on both sides of this one, or has it. */
  public boolean mayHold(byte[] key) {
    return runs().stream().anyMatch(run -> run.overlaps(key, key));
  }

  /**
   * Whether no tier and no level below this one holds keys in the closed range, so that a delete
   * marker there, newest of its key for every reader, has nothing to hide.
   *
   * <p>The caller sees to it that no older group of L0, and if the place is a level no tier,
   * overlaps what the merge brings there; {@code MergeChoice} does.
   *
   * @param place a tier or a level
   */
  public boolean nothingBelow(Place place, byte[] minKey, byte[] maxKey) {
    if (!place.isLevel()) {
      for (PlacedRun tier : tiers) {
        if (tier.number() < place.number() && tier.run().overlaps(minKey, maxKey)) {
          return false;
        }
      }
    }
    int height = place.isLevel() ? place.height() : byHeight.size();
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
    long next = next(groups);
    List<Place> places = new ArrayList<>(flushed.size());
    for (SSTableMeta table : flushed) {
      if (structure == L0Structure.ORIGINAL) {
        places.add(Place.group(next++));
        continue;
      }
      places.add(lowest(groups, Place.group(next), table));
    }
    return places;
  }

  /**
   * Where an SSTable goes that comes from L0 to the tiers: into the oldest one such that neither it
   * nor any newer one overlaps, or else into a new one.
   */
  public Place placeInTiers(SSTableMeta table) {
    return lowest(tiers, Place.tier(next(tiers)), table);
  }

  private static long next(List<PlacedRun> runs) {
    return runs.isEmpty() ? 1 : runs.get(0).number() + 1;
  }

  private static Place lowest(List<PlacedRun> runs, Place fresh, SSTableMeta table) {
    Place place = fresh;
    for (PlacedRun placed : runs) {
      if (placed.run().overlaps(table.minKey(), table.maxKey())) {
        break;
      }
      place = placed.place();
    }
    return place;
  }

  /**
   * Where SSTables go that are newer than all there is: each into the lowest level such that
   * neither that nor anything above it overlaps, or else into the tiers or L0.
   *
   * @param loaded SSTables that are disjoint
   * @param free whether no merge is about to write to where an SSTable has keys
   * @return a place for each of them, in the same order
   */
  public List<Place> placeLow(List<SSTableMeta> loaded, Predicate<SSTableMeta> free) {
    List<Place> places = new ArrayList<>(loaded.size());
    for (SSTableMeta table : loaded) {
      Place place = place(L0Structure.GREEDY_GROUPED, List.of(table)).get(0);
      if (free.test(table) && overlapsNone(groups, table)) {
        if (!tiers.isEmpty()) {
          place = placeInTiers(table);
        }
        for (int height = byHeight.size() - 1;
            height >= 0 && overlapsNone(tiers, table);
            height--) {
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

  private static boolean overlapsNone(List<PlacedRun> runs, SSTableMeta table) {
    return runs.stream().noneMatch(one -> one.run().overlaps(table.minKey(), table.maxKey()));
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
    List<PlacedRun> newGroups = change.apply(groups, Place.Kind.GROUP, coming);
    List<PlacedRun> newTiers = change.apply(tiers, Place.Kind.TIER, coming);
    if (!coming.isEmpty()) {
      throw new IllegalArgumentException("there is no level " + coming.keySet().iterator().next());
    }
    if (change.found != going.size()) {
      throw new IllegalArgumentException("not all of " + going + " are there to be removed");
    }
    Version changed = new Version(order, newGroups, newTiers, newLevels, ranges);
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

  /** New groups or tiers, from the newest to the oldest, which leave the map. */
  private static List<PlacedRun> runsOf(
      Place.Kind kind, Map<Place, List<SSTableMeta>> places, KeyOrder order) {
    List<PlacedRun> runs = new ArrayList<>();
    places.forEach(
        (place, tables) -> {
          if (place.kind() == kind) {
            runs.add(new PlacedRun(place, Level.of(tables, order)));
          }
        });
    runs.forEach(run -> places.remove(run.place()));
    runs.sort((a, b) -> Long.compare(b.number(), a.number()));
    return runs;
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
    return "L0" + groups + " tiers" + tiers + " levels" + byHeight;
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

    /** Groups, or tiers, from the newest to the oldest; what comes to them leaves the map. */
    List<PlacedRun> apply(
        List<PlacedRun> old, Place.Kind kind, Map<Place, List<SSTableMeta>> coming) {
      List<PlacedRun> changed = new ArrayList<>();
      for (PlacedRun placed : old) {
        Level<SSTableMeta> run = apply(placed.run(), coming.remove(placed.place()));
        if (!run.isEmpty()) {
          changed.add(run == placed.run() ? placed : new PlacedRun(placed.place(), run));
        }
      }
      changed.addAll(runsOf(kind, coming, order));
      changed.sort((a, b) -> Long.compare(b.number(), a.number()));
      return changed;
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
