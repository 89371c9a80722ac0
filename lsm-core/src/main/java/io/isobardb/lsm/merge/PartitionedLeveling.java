package io.isobardb.lsm.merge;

import io.isobardb.lsm.merge.MergeChoice.Kind;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.workload.LevelShares;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Levels of one sorted run each, merged SSTable by SSTable, with grouped L0 and a number of levels
 * that follows the write memory ("Breaking Down Memory Walls in LSM-based Storage Systems", 4.1.2
 * and 4.1.3). Where the tree's {@code Runs} allow several runs, tiers stand between L0 and the
 * levels. Immutable.
 *
 * <p>Order of preference: L1 comes or goes; then by score, from 1 on; then an unwanted L1 is
 * drained. The score of a level is its size over its target. {@link DueL0} has that of L0. However
 * full L0 is, a level that is fuller goes first: what a merge of L0 costs is the size of L1, which
 * would grow and grow. While L1 is unwanted, or so much comes that it would go on at once, L0 is
 * merged into L2, along with what overlaps in L1.
 *
 * <p>With tiers, what leaves L0 is put on top of them, and nothing of them is rewritten. A {@link
 * Crowd} of tiers becomes one. Once all of them hold more than they may, the column goes down that
 * rewrites least of the level below for what it brings. Tiers that are left where there are to be
 * none go down like that, too, with the lowest priority as long as they are few.
 *
 * <p>If L0 has many groups that are small for what they overlap, as with little memory, they are
 * merged with each other first, unless another one is merged down for less (decision 0034).
 */
public final class PartitionedLeveling implements MergePolicy {
  /**
   * The share of delete markers from which on an SSTable is rewritten, not moved, where they can be
   * dropped.
   */
  private static final double MOVED_DELETES = 0.1;

  /**
   * If so many times as much of the level below is rewritten as comes from L0, groups of L0 are
   * merged with each other first. Merges of whole groups of the size of the write memory stay
   * below: L1 is at most T times that, and four groups come at a time.
   */
  private static final int TOO_MUCH = 4;

  /**
   * The same, if all of L0 is less than one SSTable, as with many trees in little memory: to make
   * one of it costs little then, and takes away what small SSTables have besides their entries.
   */
  private static final double TOO_MUCH_FOR_LITTLE = 1.5;

  /** If so many times as much is rewritten, groups of L0 are merged that are less alike, too. */
  private static final int FAR_TOO_MUCH = 8;

  /** How many times cheaper a merge has to be that takes what leaves L0 past a level. */
  private static final int MUCH_CHEAPER = 2;

  /** So many SSTables are weighed by what reads have lost at a time: those that lost most. */
  private static final int MOST_PASSED = 64;

  private final LevelingOptions options;

  /** The policy with these options. */
  public PartitionedLeveling(LevelingOptions options) {
    this.options = options;
  }

  @Override
  public @Nullable MergeChoice choose(MergeView view) {
    return new Search(view).choose();
  }

  @Override
  public @Nullable MergeChoice choose(MergeView view, MergeDown wish) {
    return new Search(view).choose(wish);
  }

  @Override
  public List<MergeDown.Passed> paidFor(MergeView view, ReadLosses losses) {
    return new Search(view).paidFor(losses);
  }

  /** What the levels are to hold; one that is about to come has its share, too. */
  public LevelShares levelShares(MergeView view) {
    return new LevelTargets(options, view).shares();
  }

  /** What of L0 is due, and what levels hold beyond their targets. */
  @Override
  public long debtBytes(MergeView view) {
    return new Search(view).debtBytes();
  }

  @Override
  public long chainBytes(MergeView view) {
    return new Search(view).chain().bytes();
  }

  @Override
  public LevelCosts expected(MergeView view) {
    return new LevelTargets(options, view).costs();
  }

  /** A source of merges. */
  private enum Source {
    LEVEL,
    TIERS,
    CROWD,
    L0
  }

  /**
   * A merge that is worth it.
   *
   * @param height of a level
   * @param score how much
   */
  private record Candidate(Source source, int height, double score, String reason) {}

  /** One call. */
  private final class Search {
    private final MergeView view;
    private final Version version;
    private final LevelTargets targets;
    private final Set<Long> busy = new HashSet<>();
    private final int top; // L1's height
    private final boolean draining;
    private final DueL0 l0;

    /** What candidates were told of; null if no tiers are too many. */
    private @Nullable Crowd crowd;

    Search(MergeView view) {
      this.view = view;
      this.version = view.version();
      this.targets = new LevelTargets(options, view);
      this.top = version.levelCount() - 1;
      this.draining = targets.wantsNoL1();
      this.l0 = DueL0.of(version, options.l0Limits().startingAt(view.shape().l0Start()), targets);
      view.running().forEach(running -> busy.addAll(running.files()));
    }

    @Nullable MergeChoice choose() {
      if (view.running().stream().anyMatch(choice -> choice.inputs().isEmpty())) {
        return null;
      }
      MergeChoice change = changeLevels();
      if (change != null) {
        return change;
      }
      for (Candidate candidate : candidates()) {
        MergeChoice choice = choose(candidate);
        if (choice != null) {
          return choice;
        }
      }
      if (!view.free().contains(Slot.DEEP)) {
        return null;
      }
      if (targets.tierBytes() == 0 && !version.tiers().isEmpty()) {
        return mergeTiers(Kind.DRAIN_L1, "tiers are to be merged down");
      }
      return draining ? mergeLevel(top, Kind.DRAIN_L1, "L1 is to be dropped") : null;
    }

    /** From the top down, so that what has come down a level goes on with what is there. */
    @Nullable MergeChoice choose(MergeDown wish) {
      if (view.running().stream().anyMatch(choice -> choice.inputs().isEmpty())) {
        return null;
      }
      List<PlacedRun> all = new ArrayList<>(version.groups());
      all.addAll(version.tiers());
      InputSet set = view.free().contains(Slot.L0) ? columns(all).toMergeDown(wish) : null;
      if (set == null && view.free().contains(Slot.DEEP)) {
        set = columns(version.tiers()).toMergeDown(wish);
      }
      if (set != null) {
        return finish(set, Place.level(outputOfL0()), Kind.MERGE, wish.reason());
      }
      if (!view.free().contains(Slot.DEEP)) {
        return null;
      }
      for (int height = top; height > 0; height--) {
        PlacedRun placed = new PlacedRun(Place.level(height), version.atHeight(height));
        for (SSTableMeta table : wish.toGoDown(version, placed)) {
          InputSet down = setOf(height, table);
          if (down != null) {
            return finish(down, Place.level(height - 1), Kind.MERGE, wish.reason());
          }
        }
      }
      for (SSTableMeta table : wish.toClean(version)) {
        if (!busy.contains(table.fileNumber())) {
          return MergeChoice.ofRewritten(
              version, new MergeChoice.Input(Place.level(0), List.of(table)), wish.reason());
        }
      }
      return join(wish);
    }

    private @Nullable MergeChoice join(MergeDown wish) {
      List<SSTableMeta> tables = wish.toJoin(version);
      if (tables.isEmpty()
          || tables.stream().anyMatch(table -> busy.contains(table.fileNumber()))
          || meets(tables.get(0).minKey(), tables.get(tables.size() - 1).maxKey(), 0)) {
        return null;
      }
      return MergeChoice.ofRewritten(
          version, new MergeChoice.Input(Place.level(0), tables), wish.reason());
    }

    List<MergeDown.Passed> paidFor(ReadLosses losses) {
      List<MergeDown.Passed> passed = new ArrayList<>();
      for (PlacedRun placed : version.placedRuns()) {
        if (!placed.place().equals(Place.level(0))) {
          placed.run().elements().stream()
              .filter(table -> losses.of(table) > 0)
              .map(table -> new MergeDown.Passed(placed.place(), table.fileNumber()))
              .forEach(passed::add);
        }
      }
      passed.sort(
          Comparator.comparingDouble((MergeDown.Passed each) -> losses.of(each.file())).reversed());
      List<MergeDown.Passed> paid = new ArrayList<>();
      Set<Long> taken = new HashSet<>();
      for (MergeDown.Passed each : passed.subList(0, Math.min(MOST_PASSED, passed.size()))) {
        MergeChoice choice = choose(each);
        if (choice != null
            && losses.worth(choice) >= 1
            && Collections.disjoint(taken, choice.files())) {
          paid.add(each);
          taken.addAll(choice.files());
        }
      }
      return paid;
    }

    /** Columns of runs that go to the level below L0. */
    private Columns columns(List<PlacedRun> runs) {
      return columns(runs, outputOfL0());
    }

    /** Columns of runs that go to the level at a height, with what is between. */
    private Columns columns(List<PlacedRun> runs, int output) {
      return new Columns(
          version,
          runs,
          busy,
          options.l0(),
          new Columns.Below(top, output, set -> meets(set, output)),
          Columns.maxInputBytes(view));
    }

    private @Nullable MergeChoice choose(Candidate candidate) {
      if (!view.free().contains(candidate.source() == Source.L0 ? Slot.L0 : Slot.DEEP)) {
        return candidate.source() == Source.L0 ? gather(candidate) : null;
      }
      return switch (candidate.source()) {
        case LEVEL -> mergeLevel(candidate.height(), Kind.MERGE, candidate.reason());
        case TIERS -> mergeTiers(Kind.MERGE, candidate.reason());
        case CROWD -> mergeCrowd(candidate.reason());
        case L0 -> {
          MergeChoice choice = mergeL0WithinSpace(candidate);
          yield choice == null ? gather(candidate) : choice;
        }
      };
    }

    /**
     * What leaves L0, unless space has no room for it above the last level. Then a part goes on the
     * tiers for which there is room, or nothing until merges that are due have made some: L0 grows
     * meanwhile, and slows writers down. Where there are to be no tiers, since L0 delivers so much,
     * it goes down to the last level, with all between.
     */
    private @Nullable MergeChoice mergeL0WithinSpace(Candidate candidate) {
      String reason = candidate.reason();
      MergeChoice choice =
          hasTiers() ? mergeToTiers(reason, Long.MAX_VALUE) : mergeAnyL0(candidate);
      if (choice == null || view.shape().runs().isLeveled() || !staysAboveLast(choice)) {
        return choice;
      }
      long above = aboveLast();
      long room = targets.mostAboveLast() - above;
      if (choice.l0Bytes() <= room) {
        return choice;
      }
      if (targets.tierBytes() > 0) {
        MergeChoice part = mergeToTiers(reason, room);
        if (part != null || above > targets.aboveLast()) {
          return part;
        }
      }
      List<PlacedRun> all = new ArrayList<>(version.groups());
      all.addAll(version.tiers());
      return columns(all, 0)
          .toMergeDown()
          .filter(set -> set.inputs().get(0).place().inL0())
          .min(Comparator.comparingDouble(InputSet::lowerShare))
          .map(set -> finish(set, Place.level(0), Kind.MERGE, reason + ", there is no room above"))
          .orElse(null);
    }

    /** Bytes above the last level, with those that running merges take there out of L0. */
    private long aboveLast() {
      long bytes = version.tierBytes();
      for (int height = top; height > 0; height--) {
        bytes += version.atHeight(height).sizeBytes();
      }
      for (MergeChoice running : view.running()) {
        bytes += staysAboveLast(running) ? running.l0Bytes() : 0;
      }
      return bytes;
    }

    private boolean staysAboveLast(MergeChoice choice) {
      return choice.fromL0() && !choice.output().inL0() && !choice.goesTo(0);
    }

    private @Nullable MergeChoice mergeAnyL0(Candidate candidate) {
      MergeChoice choice = mergeL0(candidate);
      return choice == null && isBesideDeeper() ? mergeBlockedL0(candidate) : choice;
    }

    /**
     * Deeper merges hold what each merge of L0 needs. Those are given up, unless they relieve a
     * level that is fuller than L0. Then L0 waits for them: what is merged within it meanwhile is
     * rewritten once more, and nothing can leave it until that has ended. Only many small groups
     * are worth it.
     */
    private @Nullable MergeChoice mergeBlockedL0(Candidate candidate) {
      List<MergeChoice> voidable =
          view.voidable().stream()
              .filter(running -> running.slot() == Slot.DEEP)
              .filter(running -> score(running) <= candidate.score())
              .toList();
      if (voidable.isEmpty()) {
        return mergeWithinL0(candidate, columns(version.groups()).cheapestOfMany());
      }
      MergeView freed = view.withVoidable(voidable).withoutVoidable();
      MergeChoice choice = new Search(freed).mergeL0(candidate);
      if (choice == null) {
        return mergeWithinL0(candidate, columns(version.groups()).cheapestOfMany());
      }
      return choice.voiding(voidable.stream().filter(running -> meets(choice, running)).toList());
    }

    /** How full the level is that a merge relieves. */
    private double score(MergeChoice running) {
      Place place = running.inputs().get(0).place();
      return place.isLevel()
          ? (double) version.atHeight(place.height()).sizeBytes()
              / targets.targetBytes(place.height())
          : tierScore();
    }

    private boolean meets(MergeChoice choice, MergeChoice running) {
      return choice.sharesInput(running)
          || running.output().equals(choice.output())
              && compare(choice.minKey(), running.maxKey()) <= 0
              && compare(running.minKey(), choice.maxKey()) <= 0;
    }

    private @Nullable MergeChoice changeLevels() {
      long batch = targets.batchBytesIfLarge();
      String memory =
          targets.tierBytes() > 0
              ? "levels below tiers"
              : view.plan() != null
                  ? "a plan of "
                      + view.plan().count()
                      + (view.plan().count() == 1 ? " level" : " levels")
                  : batch > 0
                      ? mega(batch) + " from L0 at a time"
                      : mega(targets.writeMemoryBytes()) + " of write memory";
      if (targets.wantsLevel()) {
        return MergeChoice.ofLevels(Kind.ADD_LEVEL, top + 1, "L1 is too large for " + memory);
      }
      boolean receives = view.running().stream().anyMatch(r -> r.goesTo(top));
      if (draining && version.atHeight(top).isEmpty() && !receives) {
        return MergeChoice.ofLevels(Kind.DROP_LEVEL, top, "L2 is small enough for " + memory);
      }
      return null;
    }

    private List<Candidate> candidates() {
      List<Candidate> candidates = new ArrayList<>();
      int groups = version.groups().size();
      if (l0.score() >= 1) {
        String reason =
            String.format(Locale.ROOT, "L0 has %d groups, %s", groups, mega(version.l0Bytes()));
        candidates.add(new Candidate(Source.L0, top + 1, l0.score(), reason));
      }
      addTiers(candidates);
      for (int height = draining ? top - 1 : top; height > 0; height--) {
        long bytes = version.atHeight(height).sizeBytes() - leavingBytes(height);
        long target = targets.targetBytes(height);
        if (bytes >= target) {
          String reason =
              String.format(
                  Locale.ROOT, "L%d holds %s of %s", top + 1 - height, mega(bytes), mega(target));
          candidates.add(new Candidate(Source.LEVEL, height, (double) bytes / target, reason));
        }
      }
      candidates.sort(
          Comparator.comparingDouble(Candidate::score)
              .thenComparing(Candidate::source)
              .thenComparingInt(Candidate::height)
              .reversed());
      return candidates;
    }

    long debtBytes() {
      long debt = l0.dueBytes();
      debt += Math.max(0, version.tierBytes() - targets.tierBytes());
      for (int height = top; height > 0; height--) {
        long target = draining && height == top ? 0 : targets.targetBytes(height);
        debt += Math.max(0, version.atHeight(height).sizeBytes() - target);
      }
      return debt;
    }

    MergeChain chain() {
      long l0Bytes = version.l0Bytes();
      List<MergeChain.Stage> stages = new ArrayList<>();
      stages.add(new MergeChain.Stage(l0Bytes, l0Bytes - l0.dueBytes()));
      if (version.tierBytes() > 0) {
        stages.add(new MergeChain.Stage(version.tierBytes(), targets.tierBytes()));
      }
      for (int height = top; height > 0; height--) {
        long target = draining && height == top ? 0 : targets.targetBytes(height);
        stages.add(new MergeChain.Stage(version.atHeight(height).sizeBytes(), target));
      }
      return new MergeChain(stages, version.atHeight(0).sizeBytes());
    }

    /** Bytes of a level that running merges take down, or drop with SSTables of L0. */
    private long leavingBytes(int height) {
      long bytes = 0;
      for (MergeChoice running : view.running()) {
        for (MergeChoice.Input input : running.inputs()) {
          boolean leaves =
              input.place().equals(Place.level(height))
                  && (!running.output().isLevel() || running.output().height() < height);
          bytes += leaves ? input.sizeBytes() : 0;
        }
      }
      return bytes;
    }

    // ---- tiers

    private boolean hasTiers() {
      return targets.tierBytes() > 0 || !version.tiers().isEmpty();
    }

    /**
     * What tiers hold by what they may; where there are to be none, by what the level below may, or
     * by what space leaves above the last one.
     */
    private double tierScore() {
      long bytes = version.tierBytes();
      for (MergeChoice running : view.running()) {
        boolean leaves = !running.inputs().isEmpty() && running.output().isLevel();
        for (MergeChoice.Input input : running.inputs()) {
          boolean tier = !input.place().inL0() && !input.place().isLevel();
          bytes -= leaves && tier ? input.sizeBytes() : 0;
        }
      }
      long may =
          targets.tierBytes() > 0
              ? targets.tierBytes()
              : Math.min(targets.targetBytes(top), targets.spaceAboveLast());
      return (double) bytes / Math.max(1, may);
    }

    private void addTiers(List<Candidate> candidates) {
      double score = tierScore();
      if (score >= 1) {
        String reason =
            String.format(
                Locale.ROOT,
                "tiers hold %s of %s",
                mega(version.tierBytes()),
                mega(targets.tierBytes()));
        candidates.add(new Candidate(Source.TIERS, top + 1, score, reason));
      }
      if (targets.tierBytes() > 0) {
        addCrowd(candidates);
      }
    }

    private void addCrowd(List<Candidate> candidates) {
      double share = (double) targets.tierBytes() / Math.max(1, version.level(1).sizeBytes());
      Crowd found = Crowd.find(view, busy, targets.tierRuns(), share, Columns.maxInputBytes(view));
      crowd = found;
      if (found != null) {
        String reason =
            String.format(Locale.ROOT, "%d tiers of a size, of %d", found.runs(), found.most());
        candidates.add(new Candidate(Source.CROWD, top + 1, found.score(), reason));
      }
    }

    /**
     * What leaves L0 goes on top of the tiers, unless there is nothing at all below it.
     *
     * @param room for so many bytes
     */
    private @Nullable MergeChoice mergeToTiers(String reason, long room) {
      long most = Math.min(room, Columns.maxInputBytes(view));
      Columns up = new Columns(version, version.groups(), busy, options.l0(), null, most);
      InputSet set =
          up.toMergeDown().filter(each -> each.upperBytes() <= room).findFirst().orElse(null);
      if (set == null) {
        return null;
      }
      boolean free =
          version.tiers().stream()
              .noneMatch(tier -> tier.run().overlaps(set.minKey(), set.maxKey()));
      if (free) {
        InputSet down = set.copy();
        down.takeLevels(top, outputOfL0());
        boolean fits = targets.tierBytes() == 0 || down.inputs().size() == set.inputs().size();
        if (fits && !down.blocked() && !meets(down, outputOfL0())) {
          return finish(down, Place.level(outputOfL0()), Kind.MERGE, reason);
        }
      }
      return finish(set, Place.TIERS, Kind.MERGE, reason);
    }

    private @Nullable MergeChoice mergeTiers(Kind kind, String reason) {
      InputSet set = columns(version.tiers()).cheapestToMergeDown();
      return set == null ? null : finish(set, Place.level(outputOfL0()), kind, reason);
    }

    private @Nullable MergeChoice mergeCrowd(String reason) {
      Crowd chosen = crowd;
      if (chosen == null) {
        return null;
      }
      InputSet set = chosen.inputs();
      List<MergeChoice.Input> inputs = set.inputs();
      if (!chosen.goesDown()) {
        return finish(set, inputs.get(inputs.size() - 1).place(), Kind.MERGE, reason);
      }
      set.takeLevels(top, outputOfL0());
      return set.blocked() || meets(set, outputOfL0())
          ? null
          : finish(set, Place.level(outputOfL0()), Kind.MERGE, reason);
    }

    // ---- L0

    private @Nullable MergeChoice mergeL0(Candidate candidate) {
      Columns groups = columns(version.groups());
      InputSet first = groups.toMergeDown().findFirst().orElse(null);
      if (first == null) {
        return null;
      }
      if (!rewritesTooMuch(first)) {
        return mergeDown(first, candidate);
      }
      // All of L0 may be much where one group is little, or what deeper merges leave free.
      if (levelsOfOutput() <= TOO_MUCH * version.l0Bytes()) {
        InputSet least = leastRewritten(groups, first);
        if (!rewritesTooMuch(least)) {
          return mergeDown(least, candidate);
        }
        if (isBesideDeeper()) {
          return null;
        }
      }
      MergeChoice within = mergeWithinL0(candidate, isLittle() ? null : groups.newestAlike());
      if (within != null) {
        return within;
      }
      // The newest may be a small rest of a sweep: then other groups are worth it, too, but not if
      // that rewrites more than it takes to merge another group down.
      InputSet least = leastRewritten(groups, first);
      boolean any = isLittle() || first.lowerShare() > FAR_TOO_MUCH;
      within = any ? mergeWithinL0(candidate, groups.cheapestWithin(least.lowerShare())) : null;
      return within != null ? within : mergeDown(least, candidate);
    }

    private InputSet leastRewritten(Columns groups, InputSet first) {
      return groups
          .toMergeDown()
          .min(Comparator.comparingDouble(InputSet::lowerShare))
          .orElse(first);
    }

    /** Bytes of what L0 is merged with, in all keys. */
    private long levelsOfOutput() {
      long bytes = 0;
      for (int height = top; height >= outputOfL0(); height--) {
        bytes += version.atHeight(height).sizeBytes();
      }
      return bytes;
    }

    private boolean isBesideDeeper() {
      return view.running().stream().anyMatch(running -> running.slot() == Slot.DEEP);
    }

    /** To the level below L0, or past it in a large tree that goes by batches, if much cheaper. */
    private MergeChoice mergeDown(InputSet set, Candidate candidate) {
      int output = outputOfL0();
      if (output > 0 && targets.batchBytesIfLarge() > 0) {
        InputSet further = set.withLevel(output - 1);
        if (!further.blocked()
            && !meets(further, output - 1)
            && isWorthGoingFurther(set, further, output)) {
          String reason = candidate.reason() + ", too much for L" + (top + 1 - output);
          return finish(further, Place.level(output - 1), Kind.MERGE, reason);
        }
      }
      return finish(set, Place.level(output), Kind.MERGE, candidate.reason());
    }

    /**
     * What a level gets beyond its target goes on to the next one soon, by merges that each rewrite
     * of that what the sizes of both ask for. If that is more than {@link #MUCH_CHEAPER} times as
     * much as what the next level has there, one merge does it all. While merges keep up, L0 never
     * delivers so much.
     */
    private boolean isWorthGoingFurther(InputSet set, InputSet further, int output) {
      double ratio =
          (double) version.atHeight(output - 1).sizeBytes() / targets.targetBytes(output);
      double next = further.lowerBytes() - set.lowerBytes();
      double beyond = set.upperBytes() + set.lowerBytes() - next / Math.max(1, ratio);
      return MUCH_CHEAPER * next < beyond * (1 + ratio);
    }

    private boolean rewritesTooMuch(InputSet set) {
      return set.lowerShare() > (isLittle() ? TOO_MUCH_FOR_LITTLE : TOO_MUCH);
    }

    private boolean isLittle() {
      return version.l0Bytes() < view.targetBytes();
    }

    /**
     * Makes one of groups of L0, as in tiering: each byte is rewritten a few times, until L0 is
     * worth a merge with the level below. The output takes the place of the oldest. It is as wide
     * as inputs that overlap each other. So what was flushed beside them meanwhile can stay in any
     * of their groups.
     */
    private @Nullable MergeChoice mergeWithinL0(Candidate candidate, @Nullable InputSet best) {
      String why = candidate.reason() + ", little for what it overlaps";
      return mayMergeWithinL0() && best != null ? withinL0(Kind.MERGE, best, why) : null;
    }

    private boolean mayMergeWithinL0() {
      return options.mergesWithinL0() && options.l0() != L0Structure.ORIGINAL;
    }

    private MergeChoice withinL0(Kind kind, InputSet best, String why) {
      List<MergeChoice.Input> inputs = best.inputs();
      return new MergeChoice(
          kind,
          inputs,
          inputs.get(inputs.size() - 1).place(),
          best.minKey(),
          best.maxKey(),
          false,
          String.format(
              Locale.ROOT,
              "%s: %s of %d groups into one",
              why,
              mega(best.upperBytes()),
              inputs.size()));
    }

    /**
     * While a merge of L0 goes on, what is flushed makes many small groups: those that are cheapest
     * become one. Groups that the other merge takes stay out, and so does what lies above and below
     * one of their SSTables. So the order of versions holds whichever ends first.
     */
    private @Nullable MergeChoice gather(Candidate candidate) {
      if (!view.free().contains(Slot.GATHER) || !mayMergeWithinL0()) {
        return null;
      }
      InputSet set = columns(version.groups()).cheapestToGather();
      String why = candidate.reason() + ", beside another merge of it";
      return set == null ? null : withinL0(Kind.GATHER, set, why);
    }

    private int outputOfL0() {
      return draining ? top - 1 : top;
    }

    // ---- L1 and below

    private @Nullable MergeChoice mergeLevel(int height, Kind kind, String reason) {
      Level<SSTableMeta> below = version.atHeight(height - 1);
      SSTableMeta best = null;
      double bestRank = 0;
      for (SSTableMeta table : version.atHeight(height).elements()) {
        if (busy.contains(table.fileNumber())) {
          continue;
        }
        double rank = MergeRank.of(options.selection(), table, below);
        if ((best == null || rank < bestRank) && setOf(height, table) != null) {
          best = table;
          bestRank = rank;
        }
      }
      InputSet set = best == null ? null : setOf(height, best);
      return set == null ? null : finish(set, Place.level(height - 1), kind, reason);
    }

    private @Nullable InputSet setOf(int height, SSTableMeta table) {
      InputSet set = new InputSet(version, List.of(), busy);
      set.takeOne(height, table);
      set.takeLevels(height - 1, height - 1);
      return set.blocked() || meets(set, height - 1) ? null : set;
    }

    // ---- both

    /** Whether a running merge writes into the same keys of the same level. */
    private boolean meets(InputSet set, int outputHeight) {
      return meets(set.minKey(), set.maxKey(), outputHeight);
    }

    private boolean meets(byte[] minKey, byte[] maxKey, int outputHeight) {
      for (MergeChoice running : view.running()) {
        if (running.goesTo(outputHeight)
            && !running.inputs().isEmpty()
            && compare(minKey, running.maxKey()) <= 0
            && compare(running.minKey(), maxKey) <= 0) {
          return true;
        }
      }
      return false;
    }

    private int compare(byte[] a, byte[] b) {
      return version.order().compare(a, 0, a.length, b, 0, b.length);
    }

    private MergeChoice finish(InputSet set, Place output, Kind kind, String reason) {
      List<MergeChoice.Input> inputs = set.inputs();
      boolean bottommost = version.nothingBelow(output, set.minKey(), set.maxKey());
      boolean single = inputs.size() == 1 && inputs.get(0).tables().size() == 1;
      boolean moves =
          single
              && !(bottommost
                  && MergeRank.deleteShare(inputs.get(0).tables().get(0)) > MOVED_DELETES);
      String what =
          String.format(
              Locale.ROOT,
              "%s: %s into %s of %s",
              reason,
              mega(set.upperBytes()),
              mega(set.lowerBytes()),
              output.isLevel() ? "L" + (top + 1 - output.height()) : "the tiers");
      return new MergeChoice(
          moves ? Kind.MOVE : kind, inputs, output, set.minKey(), set.maxKey(), bottommost, what);
    }
  }

  private static String mega(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / (double) (1 << 20));
  }
}
