package io.isobardb.lsm.merge;

import io.isobardb.lsm.observe.StoreListener.MergeKind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * One thing to do to a tree's levels.
 *
 * @param kind what
 * @param inputs the SSTables that take part, newest runs first: groups of L0 from the newest, then
 *     levels downwards; none for a change of levels
 * @param output the level that receives the outputs, or is added or dropped; or the group of L0 or
 *     the tier that does, the oldest of those merged; {@link Place#TIERS} for what leaves L0 for
 *     the tiers
 * @param minKey no input has a lower key, if anything is written; empty for a change of levels
 * @param maxKey no input has a higher key
 * @param bottommost whether nothing older than the inputs exists in their whole key range, so that
 *     delete markers no reader needs can be left out; if not, {@code Version.nothingBelow} can be
 *     asked for parts of it
 * @param reason for events: what was seen
 * @param voids merges under way that hold SSTables which this one needs: they are given up, and
 *     nothing of them stays
 */
public record MergeChoice(
    Kind kind,
    List<Input> inputs,
    Place output,
    byte[] minKey,
    byte[] maxKey,
    boolean bottommost,
    String reason,
    List<MergeChoice> voids) {

  /** A choice for which nothing is given up. */
  public MergeChoice(
      Kind kind,
      List<Input> inputs,
      Place output,
      byte[] minKey,
      byte[] maxKey,
      boolean bottommost,
      String reason) {
    this(kind, inputs, output, minKey, maxKey, bottommost, reason, List.of());
  }

  /** What merges of one kind take, so that the others need not wait for their end. */
  public enum Slot {
    /** Merges of L0, and changes of levels. */
    L0,
    /** Merges within L0, beside another merge of the same tree's L0. */
    GATHER,
    /** SSTables that nobody needs go. It reads and writes none, so it waits for no merge. */
    DROP,
    /** All others. */
    DEEP
  }

  /** What there is to do. */
  public enum Kind {
    /** Read the inputs, write new SSTables. */
    MERGE,
    /** The one input goes to its new level as it is. */
    MOVE,
    /** As {@link #MERGE}, with the lowest priority: to empty an L1 that is no longer wanted. */
    DRAIN_L1,
    /** As {@link #MERGE}, beside another merge of L0: small groups become one. */
    GATHER,
    /** An empty L1 comes on top; the other levels' numbers grow by one. */
    ADD_LEVEL,
    /** The inputs go, unread: range deletes hide all they hold, or it has expired. */
    DROP_TABLES,
    /** The empty L1 goes; the other levels' numbers shrink by one. */
    DROP_LEVEL;

    /** Whether the inputs are read, and written anew. */
    public boolean rewrites() {
      return this == MERGE || this == DRAIN_L1 || this == GATHER;
    }
  }

  /**
   * Inputs of one run.
   *
   * @param place the group or level they stand in
   * @param tables in the order of keys
   */
  public record Input(Place place, List<SSTableMeta> tables) {
    /** Bytes of all of them. */
    public long sizeBytes() {
      return tables.stream().mapToLong(SSTableMeta::sizeBytes).sum();
    }
  }

  /** A change of levels. */
  static MergeChoice ofLevels(Kind kind, int height, String reason) {
    byte[] none = new byte[0];
    return new MergeChoice(kind, List.of(), Place.level(height), none, none, false, reason);
  }

  /**
   * A choice to drop SSTables of which nobody needs anything. It writes nothing that others could
   * meet, so it has the keys of one of them for bounds.
   */
  static MergeChoice ofDropped(List<Input> inputs, String reason) {
    Input first = inputs.get(0);
    SSTableMeta table = first.tables().get(0);
    return new MergeChoice(
        Kind.DROP_TABLES, inputs, first.place(), table.minKey(), table.maxKey(), false, reason);
  }

  /** A choice to rewrite neighbours of a run where they stand, without what nobody needs. */
  static MergeChoice ofRewritten(Version version, Input one, String reason) {
    List<SSTableMeta> tables = one.tables();
    return new MergeChoice(
        Kind.MERGE,
        List.of(one),
        one.place(),
        tables.get(0).minKey(),
        tables.get(tables.size() - 1).maxKey(),
        ExpiredTables.nothingBelow(version, one),
        reason);
  }

  /** Whether it may change what lies round an SSTable's keys. */
  boolean covers(KeyOrder order, SSTableMeta table) {
    return inputs.isEmpty()
        || order.compare(minKey, 0, minKey.length, table.maxKey(), 0, table.maxKey().length) <= 0
            && order.compare(table.minKey(), 0, table.minKey().length, maxKey, 0, maxKey.length)
                <= 0;
  }

  /** Whether inputs come from L0; such merges go before deeper ones. */
  public boolean fromL0() {
    return !inputs.isEmpty() && inputs.get(0).place().inL0();
  }

  /** Whether it rewrites what comes from L0, and takes it to a level. */
  public boolean leavesL0() {
    return kind == Kind.MERGE && fromL0() && !output.inL0();
  }

  /** Bytes of L0 that it takes. */
  public long l0Bytes() {
    return inputs.stream().filter(in -> in.place().inL0()).mapToLong(Input::sizeBytes).sum();
  }

  /** Groups of L0 that it takes from. */
  public int l0Groups() {
    return (int) inputs.stream().filter(in -> in.place().inL0()).count();
  }

  /** The slot that it takes. */
  public Slot slot() {
    if (kind == Kind.GATHER) {
      return Slot.GATHER;
    }
    if (kind == Kind.DROP_TABLES) {
      return Slot.DROP;
    }
    return inputs.isEmpty() || fromL0() ? Slot.L0 : Slot.DEEP;
  }

  /** This choice, for which others are given up. */
  MergeChoice voiding(List<MergeChoice> others) {
    return new MergeChoice(kind, inputs, output, minKey, maxKey, bottommost, reason, others);
  }

  /** This choice; what would move to the last level with another codec is rewritten instead. */
  MergeChoice packedBy(String lastCodec) {
    boolean staysAsItIs =
        kind != Kind.MOVE
            || !goesTo(0)
            || inputs.get(0).tables().get(0).packing().codec().equals(lastCodec);
    return staysAsItIs
        ? this
        : new MergeChoice(Kind.MERGE, inputs, output, minKey, maxKey, bottommost, reason, voids);
  }

  /** Whether both need the same SSTable. */
  boolean sharesInput(MergeChoice other) {
    return !Collections.disjoint(files(), other.files());
  }

  /** The numbers of all SSTables that it takes. */
  Set<Long> files() {
    Set<Long> files = new HashSet<>();
    inputs.forEach(input -> input.tables().forEach(table -> files.add(table.fileNumber())));
    return files;
  }

  /** Whether the outputs go to the level of this height. */
  boolean goesTo(int height) {
    return output.equals(Place.level(height));
  }

  /**
   * Whether nothing below the outputs holds a key, so that a delete marker has nothing to hide.
   *
   * @param version the tree's levels of now
   */
  public boolean nothingBelow(Version version, byte[] key) {
    return bottommost || !output.inL0() && version.nothingBelow(output, key, key);
  }

  /** What listeners are told it was. */
  MergeKind eventKind() {
    return switch (kind) {
      case MERGE, DRAIN_L1, GATHER -> {
        if (output.inL0()) {
          yield MergeKind.WITHIN_L0;
        }
        if (fromL0()) {
          yield MergeKind.L0;
        }
        yield output.isLevel() ? MergeKind.LEVEL : MergeKind.WITHIN_TIERS;
      }
      case MOVE -> MergeKind.MOVE;
      case ADD_LEVEL -> MergeKind.ADD_LEVEL;
      case DROP_LEVEL -> MergeKind.DROP_LEVEL;
      case DROP_TABLES -> MergeKind.DROP_TABLES;
    };
  }

  /** Bytes of all inputs. */
  public long inputBytes() {
    return inputs.stream().mapToLong(Input::sizeBytes).sum();
  }

  /**
   * The edit that puts the outputs in the inputs' place.
   *
   * @param treeId which tree
   * @param version what the edit is applied to
   * @param outputs of the merge, disjoint; empty for the other kinds, and if nothing was left
   */
  public VersionEdit edit(int treeId, Version version, List<SSTableMeta> outputs) {
    VersionEdit.Builder edit = VersionEdit.of(treeId);
    switch (kind) {
      case ADD_LEVEL -> edit.levels(output.height() + 1);
      case DROP_LEVEL -> edit.levels(output.height());
      case MOVE -> {
        SSTableMeta table = inputs.get(0).tables().get(0);
        edit.move(table.fileNumber(), place(version, table));
      }
      case MERGE, DRAIN_L1, GATHER, DROP_TABLES -> {
        for (Input input : inputs) {
          input.tables().forEach(table -> edit.remove(table.fileNumber()));
        }
        outputs.forEach(table -> edit.add(place(version, table), table));
      }
    }
    return edit.build();
  }

  private Place place(Version version, SSTableMeta table) {
    return output.equals(Place.TIERS) ? version.placeInTiers(table) : output;
  }
}
