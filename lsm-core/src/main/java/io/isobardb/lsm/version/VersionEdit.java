package io.isobardb.lsm.version;

import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A change of one tree's version, or of what the store remembers besides. Immutable; made by a
 * {@link Builder}.
 *
 * <p>Applied in this order: create, remove, move, add levels, add, drop levels, drop.
 */
public final class VersionEdit {
  /** The tree ID of edits that concern the store, not a tree. */
  public static final int STORE = 0;

  /** Says of a number that the edit leaves it alone. */
  public static final long UNCHANGED = -1;

  /**
   * An SSTable that comes to stand in a place.
   *
   * @param place where
   * @param meta the SSTable
   */
  public record Added(Place place, SSTableMeta meta) {}

  /**
   * An SSTable that goes elsewhere as it is.
   *
   * @param fileNumber which
   * @param to where it will stand
   */
  public record Moved(long fileNumber, Place to) {}

  private final int treeId;
  private final @Nullable TreeDefinition created;
  private final @Nullable String renamed;
  private final boolean dropped;
  private final List<Long> removed;
  private final List<Moved> moved;
  private final List<Added> added;
  private final int levels;
  private final long flushedLsn;
  private final List<RangeDelete> rangeDeletes;
  private final boolean rangesReset;
  private final long rangesLsn;
  private final long nextFileNumber;
  private final int nextTreeId;
  private final long checkpointLsn;
  private final long logStartLsn;
  private final Map<String, String> properties;

  private VersionEdit(Builder builder) {
    treeId = builder.treeId;
    created = builder.created;
    renamed = builder.renamed;
    dropped = builder.dropped;
    removed = List.copyOf(builder.removed);
    moved = List.copyOf(builder.moved);
    added = List.copyOf(builder.added);
    levels = builder.levels;
    flushedLsn = builder.flushedLsn;
    rangeDeletes = List.copyOf(builder.rangeDeletes);
    rangesReset = builder.rangesReset;
    rangesLsn = builder.rangesLsn;
    nextFileNumber = builder.nextFileNumber;
    nextTreeId = builder.nextTreeId;
    checkpointLsn = builder.checkpointLsn;
    logStartLsn = builder.logStartLsn;
    properties = Collections.unmodifiableMap(new TreeMap<>(builder.properties));
  }

  /** Begins an edit of a tree. */
  public static Builder of(int treeId) {
    if (treeId < 1) {
      throw new IllegalArgumentException("tree ID " + treeId);
    }
    return new Builder(treeId);
  }

  /** Begins an edit of what the store remembers. */
  public static Builder store() {
    return new Builder(STORE);
  }

  /** Edits as bytes, as the manifest holds them. */
  public static byte[] encode(List<VersionEdit> edits) {
    EditCodec.Output out = new EditCodec.Output();
    edits.forEach(edit -> EditCodec.encode(edit, out));
    return Arrays.copyOf(out.bytes(), out.length());
  }

  /**
   * What {@link #encode} gave.
   *
   * @param file where the bytes were found
   * @throws io.isobardb.lsm.error.CorruptionException if it is not that
   */
  public static List<VersionEdit> decode(String file, byte[] bytes) {
    return EditCodec.decode(file, bytes, 0, bytes.length);
  }

  /**
   * The SSTables of a store that these edits make of nothing.
   *
   * @throws IllegalArgumentException if an edit does not fit
   */
  public static List<SSTableMeta> tables(List<VersionEdit> edits) {
    return StoreContents.of(edits).tables();
  }

  /** The trees of a store that these edits make of nothing; errors as {@link #tables}. */
  public static List<Recovered.Tree> trees(List<VersionEdit> edits) {
    return StoreContents.of(edits).trees();
  }

  /** The edit that creates a tree. */
  public static VersionEdit create(TreeDefinition definition) {
    return of(definition.id()).create(definition).build();
  }

  /** The edit that gives a tree another name. */
  public static VersionEdit rename(int treeId, String name) {
    return of(treeId).rename(name).build();
  }

  /** The edit that drops a tree with all its SSTables. */
  public static VersionEdit drop(int treeId) {
    return of(treeId).drop().build();
  }

  /** Which tree, or {@link #STORE}. */
  public int treeId() {
    return treeId;
  }

  /** The tree that is created, or null. */
  public @Nullable TreeDefinition created() {
    return created;
  }

  /** The name that the tree has from now on, or null if it keeps its own. */
  public @Nullable String renamed() {
    return renamed;
  }

  /** Whether the tree is dropped. */
  public boolean dropped() {
    return dropped;
  }

  /** The numbers of SSTables that go. */
  public List<Long> removed() {
    return removed;
  }

  /** The SSTables that change places. */
  public List<Moved> moved() {
    return moved;
  }

  /** The SSTables that come. */
  public List<Added> added() {
    return added;
  }

  /** How many levels there are below L0 from now on, or {@link #UNCHANGED}. */
  public int levels() {
    return levels;
  }

  /** The new {@link Builder#flushedLsn}, or {@link #UNCHANGED}. */
  public long flushedLsn() {
    return flushedLsn;
  }

  /** The range deletes that come. */
  public List<RangeDelete> rangeDeletes() {
    return rangeDeletes;
  }

  /** Whether all range deletes there were go. */
  public boolean rangesReset() {
    return rangesReset;
  }

  /** The new {@link Builder#rangesLsn}, or {@link #UNCHANGED}. */
  public long rangesLsn() {
    return rangesLsn;
  }

  /** The new {@link Builder#nextFileNumber}, or {@link #UNCHANGED}. */
  public long nextFileNumber() {
    return nextFileNumber;
  }

  /** The new {@link Builder#nextTreeId}, or {@link #UNCHANGED}. */
  public int nextTreeId() {
    return nextTreeId;
  }

  /** The new {@link Builder#checkpointLsn}, or {@link #UNCHANGED}. */
  public long checkpointLsn() {
    return checkpointLsn;
  }

  /** The new {@link Builder#logStartLsn}, or {@link #UNCHANGED}. */
  public long logStartLsn() {
    return logStartLsn;
  }

  /** Properties of the store that are set; an empty value removes one. */
  public Map<String, String> properties() {
    return properties;
  }

  /** Gathers an edit. One thread at a time. */
  public static final class Builder {
    private final int treeId;
    private @Nullable TreeDefinition created;
    private @Nullable String renamed;
    private boolean dropped;
    private final List<Long> removed = new ArrayList<>();
    private final List<Moved> moved = new ArrayList<>();
    private final List<Added> added = new ArrayList<>();
    private int levels = (int) UNCHANGED;
    private long flushedLsn = UNCHANGED;
    private final List<RangeDelete> rangeDeletes = new ArrayList<>();
    private boolean rangesReset;
    private long rangesLsn = UNCHANGED;
    private long nextFileNumber = UNCHANGED;
    private int nextTreeId = (int) UNCHANGED;
    private long checkpointLsn = UNCHANGED;
    private long logStartLsn = UNCHANGED;
    private final Map<String, String> properties = new TreeMap<>();

    private Builder(int treeId) {
      this.treeId = treeId;
    }

    /** An SSTable goes. */
    public Builder remove(long fileNumber) {
      ofTree();
      removed.add(fileNumber);
      return this;
    }

    /** An SSTable goes elsewhere as it is. */
    public Builder move(long fileNumber, Place to) {
      ofTree();
      moved.add(new Moved(fileNumber, to));
      return this;
    }

    /** An SSTable comes. */
    public Builder add(Place place, SSTableMeta meta) {
      ofTree();
      added.add(new Added(place, meta));
      return this;
    }

    /** Levels below L0 from now on; those that go at the top must be empty. */
    public Builder levels(int count) {
      ofTree();
      if (count < 1 || count > Place.MAX_LEVELS) {
        throw new IllegalArgumentException("levels: " + count);
      }
      levels = count;
      return this;
    }

    /** All entries of this tree with lower LSNs are in SSTables. It only grows. */
    public Builder flushedLsn(long lsn) {
      ofTree();
      flushedLsn = notNegative(lsn);
      return this;
    }

    /** A range delete comes. */
    public Builder deleteRange(RangeDelete delete) {
      ofTree();
      notNegative(delete.lsn());
      rangeDeletes.add(delete);
      return this;
    }

    /** All range deletes there were go, before others come. */
    public Builder resetRanges() {
      ofTree();
      rangesReset = true;
      return this;
    }

    /** All range deletes of this tree up to this LSN came, whether they went or not. It grows. */
    public Builder rangesLsn(long lsn) {
      ofTree();
      rangesLsn = notNegative(lsn);
      return this;
    }

    /** No file with this number or a higher one was ever named to the manifest. It only grows. */
    public Builder nextFileNumber(long number) {
      ofStore();
      nextFileNumber = notNegative(number);
      return this;
    }

    /**
     * No tree with this ID or a higher one was ever created. Creating a tree raises it, so it need
     * not be set.
     */
    public Builder nextTreeId(int id) {
      ofStore();
      nextTreeId = (int) notNegative(id);
      return this;
    }

    /** Where unlogged trees stand after a crash. */
    public Builder checkpointLsn(long lsn) {
      ofStore();
      checkpointLsn = notNegative(lsn);
      return this;
    }

    /** All entries of all trees with lower LSNs are in SSTables. It only grows. */
    public Builder logStartLsn(long lsn) {
      ofStore();
      logStartLsn = notNegative(lsn);
      return this;
    }

    /** Sets a property of the store; an empty value removes it. */
    public Builder property(String name, String value) {
      ofStore();
      properties.put(name, value);
      return this;
    }

    /** The edit. */
    public VersionEdit build() {
      return new VersionEdit(this);
    }

    private void ofTree() {
      if (treeId == STORE) {
        throw new IllegalStateException("an edit of the store says nothing of SSTables");
      }
    }

    private void ofStore() {
      if (treeId != STORE) {
        throw new IllegalStateException("an edit of a tree says nothing of the store");
      }
    }

    /** The tree begins to exist. */
    public Builder create(TreeDefinition definition) {
      created = definition;
      return this;
    }

    Builder rename(String name) {
      renamed = name;
      return this;
    }

    Builder drop() {
      dropped = true;
      return this;
    }

    private static long notNegative(long number) {
      if (number < 0) {
        throw new IllegalArgumentException("negative: " + number);
      }
      return number;
    }
  }
}
