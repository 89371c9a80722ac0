package io.isobardb.tuner.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What a tree of this engine costs if its levels may have several sorted runs: bytes written, pages
 * of lookups and scans, space. It knows no code of the engine, only this design.
 *
 * <p>A key is flushed every R requests, as {@link EngineModel} tells, and joins a young group of
 * L0. When there are g groups in a column of keys, they are merged: into a run of the tiers, or
 * into the levels if there are no tiers. What tiers leave to the levels costs what {@link
 * LevelMerges} says of it.
 *
 * <p>If space is bounded, all tiers together hold what it has room for, as in the engine. What
 * merges among them cost is {@link TierMerges}.
 *
 * <p>Without a bound the tiers are those of SAMT (appendix B of the paper) and <i>Dostoevsky</i>:
 * one whose K runs have come together is merged into a run of the next tier, and the last one with
 * the run of all keys.
 *
 * <p>Columns are merged one after another, so that at any moment they are in all phases. Young
 * groups do not count against {@code maxSpace}. It leaves out what {@link EngineModel} leaves out,
 * and caches.
 */
public final class RunsModel implements WriteModel {
  /** More levels or tiers than that are of no use. */
  private static final int MOST_LEVELS = 12;

  private static final int SOLVE_STEPS = 60;

  /** Tiers hold this part of what they may in the mean, since columns go down beyond that. */
  private static final double FILLED = 0.94;

  /** A tree has tiers where they may hold so many times what L0 delivers at a time. */
  private static final int WORTH_TIERS = 2;

  private final EngineShape.Disk disk;
  private final boolean whole;

  /** R, for the popularity of a tree's keys. */
  private final ToDoubleFunction<Popularity> rounds;

  private final RunPolicy policy;
  private final Reads reads;
  private final double maxSpace;

  /**
   * What lookups and scans depend on.
   *
   * @param pageEntries entries of a data page, more than 0
   * @param filterBits bits of filter per key in the mean, 0 to 24
   * @param byLevel whether small runs get larger filters ({@link FilterBits})
   */
  public record Reads(double pageEntries, double filterBits, boolean byLevel) {
    /**
     * Checks the numbers.
     *
     * @param pageEntries above 0
     * @param filterBits 0 to 24
     * @param byLevel whether small runs get larger filters
     */
    public Reads {
      if (!(pageEntries > 0) || !(filterBits >= 0 && filterBits <= FilterBits.MOST)) {
        throw new IllegalArgumentException(
            "a page must hold more than 0 entries and filters have 0 to "
                + FilterBits.MOST
                + " bits per key, not "
                + (pageEntries + " and " + filterBits));
      }
    }
  }

  /**
   * A run of a tree, or several that are alike.
   *
   * @param entries in it
   * @param presence the part of the time that it is there, 0 to 1
   * @param passed the share of lookups as written that ask it and do not find their key in it
   */
  private record Run(double entries, double presence, double passed) {}

  /**
   * A tree's runs below memory, from the newest to the oldest.
   *
   * @param round R
   * @param tierWrites entries written to each tier for each entry put
   * @param levels sizes of the leveled levels, the last one included
   * @param merges what brings entries into them
   */
  private record Tree(
      double round, double[] tierWrites, double[] levels, LevelMerges merges, List<Run> runs) {}

  /**
   * A tree of a store.
   *
   * @param shape of all trees of the store
   * @param policy how many runs each level may have
   * @param reads what they depend on
   * @param maxSpace entries in tiers and levels together for each key, above 1; may be infinite
   */
  public RunsModel(EngineShape shape, RunPolicy policy, Reads reads, double maxSpace) {
    this(
        shape.disk(),
        shape.whole(),
        new EngineModel(shape)::roundRequests,
        policy,
        reads,
        maxSpace);
  }

  /**
   * A tree that was measured, and is flushed in slices.
   *
   * @param disk as it was measured
   * @param round R: writes to the tree between two flushes of the same key, more than 0
   * @param policy how many runs each level may have
   * @param reads what they depend on
   * @param maxSpace as above
   */
  public RunsModel(
      EngineShape.Disk disk, double round, RunPolicy policy, Reads reads, double maxSpace) {
    this(disk, false, popularity -> round, policy, reads, maxSpace);
    if (!(round > 0)) {
      throw new IllegalArgumentException("a round has more than 0 writes, not " + round);
    }
  }

  private RunsModel(
      EngineShape.Disk disk,
      boolean whole,
      ToDoubleFunction<Popularity> rounds,
      RunPolicy policy,
      Reads reads,
      double maxSpace) {
    if (!(maxSpace > 1)) {
      throw new IllegalArgumentException("space must be more than 1, not " + maxSpace);
    }
    this.disk = disk;
    this.whole = whole;
    this.rounds = rounds;
    this.policy = policy;
    this.reads = reads;
    this.maxSpace = maxSpace;
  }

  /**
   * {@inheritDoc}
   *
   * <p>The levels are tiers first, then leveled levels.
   *
   * @param popularity of the keys of one tree
   */
  @Override
  public WriteCost cost(Popularity popularity) {
    Tree tree = tree(popularity);
    double[] leveled = tree.merges.written(popularity, tree.levels);
    double[] all = Arrays.copyOf(tree.tierWrites, tree.tierWrites.length + leveled.length);
    System.arraycopy(leveled, 0, all, tree.tierWrites.length, leveled.length);
    return new WriteCost(1, popularity.unique(tree.round) / tree.round, all);
  }

  /**
   * What operations cost.
   *
   * @param written bytes written for each byte put by flushes and merges; the log is left out
   * @param found data pages that a lookup reads if keys are looked up as they are written
   * @param absent data pages that a lookup of a key reads that is not there
   * @param runs that a scan asks in the mean
   * @param space entries in all runs, young groups included, for each key
   * @param tiers how many there are
   * @param levels leveled levels, the last included
   * @param pageEntries entries of a data page
   */
  public record Costs(
      double written,
      double found,
      double absent,
      double runs,
      double space,
      int tiers,
      int levels,
      double pageEntries) {
    /**
     * {@return data pages that a scan of so many entries reads} In each run it stands somewhere in
     * a page when it begins, and it reads from each run what lies between its ends
     * (<i>Dostoevsky</i>, section 4.2, for short and for long scans).
     *
     * @param entries 1 or more
     */
    public double scan(double entries) {
      return runs + entries * space / pageEntries;
    }
  }

  /**
   * {@return all costs}
   *
   * @param popularity of the keys of one tree
   */
  public Costs costs(Popularity popularity) {
    Tree tree = tree(popularity);
    double[] entries = tree.runs.stream().mapToDouble(Run::entries).toArray();
    double[] presence = tree.runs.stream().mapToDouble(Run::presence).toArray();
    double[] bits = new double[entries.length];
    Arrays.fill(bits, reads.filterBits());
    if (reads.byLevel()) {
      bits = FilterBits.of(entries, presence, reads.filterBits());
    }
    double found = popularity.unique(tree.round) / tree.round;
    double stored = 0;
    for (int i = 0; i < bits.length; i++) {
      found += FilterBits.falsePositives(bits[i]) * tree.runs.get(i).passed();
      stored += entries[i] * presence[i];
    }
    return new Costs(
        cost(popularity).total() - 1,
        found,
        FilterBits.falsePositives(bits, presence),
        Arrays.stream(presence).sum(),
        stored / popularity.keys(),
        tree.tierWrites.length,
        tree.levels.length,
        reads.pageEntries());
  }

  private Tree tree(Popularity popularity) {
    double round = rounds.applyAsDouble(popularity);
    boolean several = policy.kind() != RunPolicy.Kind.LEVELED && policy.most() > 1;
    if (!several || maxSpace == Double.POSITIVE_INFINITY) {
      return counted(popularity, round);
    }
    Tiers tiers = tiers(popularity, round);
    return tiers.entries >= WORTH_TIERS * tiers.delivered
        ? crowded(popularity, round, tiers)
        : new RunsModel(disk, whole, rounds, RunPolicy.leveled(), reads, maxSpace)
            .counted(popularity, round);
  }

  /**
   * What space lets tiers be.
   *
   * @param below leveled levels below them
   * @param ratio of a leveled level to the one above it, and of the first to the tiers
   * @param entries that all may hold together
   * @param delivered what L0 holds when a column of it leaves
   * @param runs how many there may be of a size
   */
  private record Tiers(int below, double ratio, double entries, double delivered, int runs) {}

  private Tiers tiers(Popularity popularity, double round) {
    int below = 1;
    int last = policy.kind() == RunPolicy.Kind.TIERED ? policy.most() : 1;
    if (policy.kind() == RunPolicy.Kind.LIST) {
      below = Math.max(1, (int) policy.levels().stream().filter(runs -> runs == 1).count());
      last = policy.levels().get(policy.levels().size() - 1);
    }
    double ratio = leastRatio(below + 1, maxSpace - 1);
    double part = last > 1 ? Math.min(maxSpace - 1, last) : StrictMath.pow(ratio, -below);
    double entries = part * popularity.keys() / disk.tierWeight();
    int groups = disk.l0Groups();
    double delivered = popularity.unique(round * groups) * (groups + 1) / (2 * groups);
    int fitting = (int) Math.max(2, Math.min(RunPolicy.MOST_RUNS, entries / delivered));
    return new Tiers(below, ratio, entries, delivered, Math.min(policy.most(), fitting));
  }

  /** A tree whose tiers hold what space lets them. */
  private Tree crowded(Popularity popularity, double round, Tiers tiers) {
    double keys = popularity.keys();
    double first = round * disk.l0Groups();
    TierMerges tierMerges = new TierMerges(first, tiers.entries, tiers.runs);
    List<Run> runs = new ArrayList<>();
    addRuns(runs, popularity, round, disk.l0Groups());
    addSizes(runs, popularity, first, tierMerges.climbs(popularity), tiers);
    double[] levels = new double[tiers.below];
    for (int l = 0; l < levels.length; l++) {
      levels[l] = keys * StrictMath.pow(tiers.ratio, l + 1 - levels.length);
    }
    double interval = tierMerges.interval(popularity);
    LevelMerges merges = new LevelMerges(interval, disk.tableEntries(), 1, false);
    addLevels(runs, popularity, merges, levels);
    return new Tree(round, tierMerges.written(popularity), levels, merges, runs);
  }

  /** Runs of tiers: of each size that they climb through from one to all that there may be. */
  private static void addSizes(
      List<Run> runs, Popularity popularity, double first, double climbs, Tiers tiers) {
    List<Run> added = new ArrayList<>();
    double stored = 0;
    double age = first;
    double interval = first;
    for (int i = 0; i < climbs; i++) {
      double size = popularity.unique(interval);
      for (int j = 0; j < tiers.runs; j++) {
        double presence = Math.min(1, climbs - i) * (tiers.runs - j) / tiers.runs;
        double slope = (popularity.unique(age + interval) - popularity.unique(age)) / interval;
        added.add(new Run(size, presence, presence * slope));
        stored += size * presence;
        age += interval * presence;
      }
      interval *= tiers.runs + 1;
    }
    double scale = FILLED * tiers.entries / stored;
    added.forEach(run -> runs.add(new Run(run.entries * scale, run.presence, run.passed)));
  }

  private static void addLevels(
      List<Run> runs, Popularity popularity, LevelMerges merges, double[] levels) {
    double[] intervals = merges.intervals(popularity, levels);
    for (int l = 0; l < levels.length; l++) {
      boolean last = l == levels.length - 1;
      double below = last ? 0 : intervals[l + 1];
      runs.add(new Run(levels[l], 1, last ? 0 : popularity.unique(below) / below));
    }
  }

  /** A tree of levels alone, or with tiers that go by numbers of runs. */
  private Tree counted(Popularity popularity, double round) {
    double keys = popularity.keys();
    List<Run> runs = new ArrayList<>();
    addRuns(runs, popularity, round, disk.l0Groups());
    double interval = round * disk.l0Groups();
    double room = (maxSpace - 1) * keys;
    List<Double> written = new ArrayList<>();
    for (int tier = 0; tier < MOST_LEVELS; tier++) {
      double size = popularity.unique(interval);
      boolean last = isLastTier(tier, size, keys);
      double allowed = allowed(tier, last);
      double most = mean(allowed) * size <= room ? allowed : fitting(room / size);
      if (most <= 1) {
        break;
      }
      written.add(size / interval);
      addRuns(runs, popularity, interval, most);
      room -= mean(most) * size;
      interval *= most;
      if (last || most < allowed) {
        break;
      }
    }
    double[] tiers = written.stream().mapToDouble(Double::doubleValue).toArray();
    double batch = popularity.unique(interval);
    LevelMerges merges = merges(popularity, interval, round, tiers.length);
    double[] levels = levels(popularity, merges, Math.min(batch, keys), Math.max(0, room));
    addLevels(runs, popularity, merges, levels);
    return new Tree(round, tiers, levels, merges, runs);
  }

  /** Whether runs of a tier are such that all that may come together could hold all keys. */
  private boolean isLastTier(int tier, double size, double keys) {
    return policy.kind() == RunPolicy.Kind.LIST
        ? tier >= policy.levels().size() - 1
        : size * policy.most() >= keys;
  }

  /** How many runs may come together in a tier; 1 if there is no such tier. */
  private int allowed(int tier, boolean last) {
    return switch (policy.kind()) {
      case LEVELED -> 1;
      case LAZY -> policy.most();
      // One of the last level's runs is that of all keys.
      case TIERED -> Math.max(1, policy.most() - (last ? 1 : 0));
      case LIST -> Math.max(1, policy.levels().get(tier) - (last ? 1 : 0));
    };
  }

  /**
   * Runs that are there in the mean if so many come together, 1 or more, before they are merged.
   */
  private static double mean(double most) {
    double whole = Math.ceil(most) - 1;
    return whole - whole * (whole + 1) / (2 * most);
  }

  /** The inverse of {@link #mean}. */
  private static double fitting(double mean) {
    double whole = Math.floor(2 * mean) + 1;
    return whole * (whole + 1) / (2 * (whole - mean));
  }

  /**
   * Runs that come every so many requests and are merged when {@code most} have come together. The
   * j-th from the newest is there while at least j have come, and holds what is up to j + 1
   * intervals old, less the part of the last interval that has not come down yet.
   */
  private static void addRuns(List<Run> runs, Popularity popularity, double interval, double most) {
    double size = popularity.unique(interval);
    double younger = size;
    for (int j = 1; j < most; j++) {
      double presence = (most - j) / most;
      double older = popularity.unique((j + 1) * interval);
      runs.add(new Run(size, presence, presence * (older - younger) / interval));
      younger = older;
    }
  }

  private LevelMerges merges(Popularity popularity, double interval, double round, int tiers) {
    if (tiers == 0) {
      double columns = popularity.unique(round) / disk.sliceEntries();
      return new LevelMerges(interval, disk.tableEntries(), columns, whole);
    }
    double columns = popularity.unique(interval) / disk.tableEntries();
    return new LevelMerges(interval, disk.tableEntries(), columns, false);
  }

  /**
   * Sizes of the leveled levels: each as many times as large as the one above it, within the room
   * that is left above the last. Their number is that of the policy, or the cheapest.
   */
  private double[] levels(Popularity popularity, LevelMerges merges, double batch, double room) {
    if (policy.kind() == RunPolicy.Kind.LIST) {
      int ones = (int) policy.levels().stream().filter(runs -> runs == 1).count();
      return sizes(Math.max(1, ones), batch, popularity.keys(), room);
    }
    double[] best = sizes(1, batch, popularity.keys(), room);
    if (policy.kind() != RunPolicy.Kind.LEVELED) {
      return best;
    }
    double least = merges.cost(popularity, best);
    for (int count = 2; count <= MOST_LEVELS; count++) {
      double[] sizes = sizes(count, batch, popularity.keys(), room);
      double cost = merges.cost(popularity, sizes);
      if (cost < least) {
        best = sizes;
        least = cost;
      }
    }
    return best;
  }

  private static double[] sizes(int count, double batch, double keys, double room) {
    double ratio = Math.max(1.01, StrictMath.pow(keys / batch, 1.0 / count));
    double part = Math.max(room / keys, 1e-9);
    if (above(count, ratio) > part) {
      ratio = leastRatio(count, part);
    }
    double[] sizes = new double[count];
    for (int l = count - 1; l >= 0; l--) {
      sizes[l] = l == count - 1 ? keys : sizes[l + 1] / ratio;
    }
    return sizes;
  }

  /** The ratio with which the levels above the last hold such a part of it; 1 if all can. */
  private static double leastRatio(int count, double part) {
    double low = 1;
    double high = 1 + 2 / part;
    for (int step = 0; step < SOLVE_STEPS; step++) {
      double middle = (low + high) / 2;
      if (above(count, middle) > part) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  /** What the levels above the last hold together, by what that holds. */
  private static double above(int count, double ratio) {
    double sum = 0;
    double level = 1;
    for (int height = 1; height < count; height++) {
      level /= ratio;
      sum += level;
    }
    return sum;
  }
}
