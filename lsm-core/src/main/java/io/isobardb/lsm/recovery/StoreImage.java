package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.StayingVersions;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.LogOptions;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What an open store holds at one moment, over all trees, while it goes on: its SSTables, which are
 * kept from being deleted, and what its memory has besides, which {@link #writeMemory} makes
 * SSTables of. A manifest of {@link #edits} makes a store of them, with the same ID.
 *
 * <p>No commit of a flush or merge falls into the moment, so all that is on disk then was visible
 * before it. What is in memory is read as by a snapshot.
 *
 * <p>Thread rule: one thread.
 */
public final class StoreImage implements AutoCloseable {
  /** Segments of the image's log; it begins with one of them. */
  private static final long SEGMENT_BYTES = 4 << 20;

  /** Attempts to read memory for which there are no pages. */
  private static final int ATTEMPTS = 1000;

  private static final long PAUSE_NANOS = 1_000_000;

  private final Engine engine;
  private final long lsn;
  private final Map<TreeHandle, TreeState> states = new LinkedHashMap<>();

  /** The range deletes that the image sees. */
  private final Map<Integer, List<RangeDelete>> ranges = new HashMap<>();

  private final Map<Integer, TreeDefinition> definitions = new HashMap<>();
  private final List<SSTable> tables = new ArrayList<>();
  private final List<SSTableMeta> written = new ArrayList<>();
  private final List<VersionEdit> edits = new ArrayList<>();
  private boolean registered = true;

  /**
   * Takes the image. The caller sees to it that no tree is created or dropped meanwhile.
   *
   * @throws StoreFailedException if the store has failed
   */
  public StoreImage(Engine engine) {
    this.engine = engine;
    Throwable failure = engine.failure().cause();
    if (failure != null) {
      throw new StoreFailedException(
          "no copy is made of a store that has failed, since it may show what is not durable: "
              + failure,
          failure);
    }
    List<TreeHandle> trees = new ArrayList<>(engine.catalog().trees());
    trees.sort(Comparator.comparingInt(TreeHandle::id));
    trees.forEach(tree -> tree.commitLock().lock());
    try {
      lsn = engine.snapshots().register();
      trees.forEach(tree -> states.put(tree, tree.states().acquire()));
    } finally {
      trees.forEach(tree -> tree.commitLock().unlock());
    }
    for (TreeHandle tree : trees) {
      definitions.put(
          tree.id(), new TreeDefinition(tree.id(), tree.name(), TreeText.format(tree.settings())));
    }
    states.forEach(
        (tree, state) -> {
          RangeDeletes deletes = state.ranges().list();
          ranges.put(tree.id(), deletes == null ? List.of() : deletes.at(lsn).list());
        });
    for (TreeState state : states.values()) {
      for (Run run : state.disk()) {
        run.tables().forEach(this::keep);
      }
    }
  }

  private void keep(Table table) {
    if (table instanceof Table.Stored stored) {
      if (!stored.content().tryRetain()) {
        throw new IllegalStateException(stored + " has gone, though its state is held");
      }
      tables.add(stored.content());
    }
  }

  /** The ID of the store. */
  public UUID storeId() {
    TableSpace space = engine.catalog().space();
    return new UUID(space.storeIdHigh(), space.storeIdLow());
  }

  /** What files say of a tree. */
  TableSpace.TreeLabel label(int treeId) {
    TreeDefinition definition = definitions.get(treeId);
    return definition == null ? TableSpace.unknownTree(treeId) : definition.label();
  }

  /** The SSTables that the store has on disk. */
  public List<SSTableMeta> stored() {
    return tables.stream().map(SSTable::meta).toList();
  }

  /** The SSTables that {@link #writeMemory} wrote. */
  public List<SSTableMeta> written() {
    return List.copyOf(written);
  }

  /** Where the log of what is made of the image begins. */
  static long logStart(long lsn) {
    return (lsn / SEGMENT_BYTES + 1) * SEGMENT_BYTES;
  }

  /** How the log of what is made of the image is begun. */
  static LogOptions logOptions() {
    return new LogOptions(SEGMENT_BYTES, 64 << 10, false, 1, 0);
  }

  /** The LSN of the moment. */
  public long lsn() {
    return lsn;
  }

  /**
   * Writes what memory holds to SSTables, and gives it up.
   *
   * @param target where to write them, with the same page size and store ID
   */
  public void writeMemory(TableSpace target) throws IOException {
    VersionEdit.Builder properties = StoreProperties.notePageSize(target.pageSize());
    StoreProperties.noteTime(properties, engine.snapshots().time().lastMillis());
    int highestTree = 0;
    for (Map.Entry<TreeHandle, TreeState> tree : states.entrySet()) {
      SSTableMeta fresh = write(tree.getKey(), tree.getValue(), target);
      if (fresh != null) {
        written.add(fresh);
      }
      edits.add(edit(tree.getKey(), tree.getValue().version(), fresh));
      int id = tree.getKey().id();
      StoreProperties.noteAdjustments(properties, id, tree.getKey().adjustments());
      highestTree = Math.max(highestTree, id);
    }
    releaseMemory();
    long next = engine.catalog().newFileNumber();
    edits.add(
        0,
        properties
            .nextFileNumber(next)
            .nextTreeId(highestTree + 1)
            .checkpointLsn(lsn)
            .logStartLsn(logStart(lsn))
            .build());
  }

  /** What the manifest of the image says, once memory was written. */
  public List<VersionEdit> edits() {
    return List.copyOf(edits);
  }

  private VersionEdit edit(TreeHandle tree, Version version, @Nullable SSTableMeta fresh) {
    VersionEdit.Builder edit =
        VersionEdit.of(tree.id())
            .create(Objects.requireNonNull(definitions.get(tree.id())))
            .levels(version.levelCount())
            .flushedLsn(logStart(lsn));
    List<RangeDelete> deletes = ranges.getOrDefault(tree.id(), List.of());
    deletes.forEach(edit::deleteRange);
    if (!deletes.isEmpty()) {
      edit.rangesLsn(lsn);
    }
    for (PlacedRun placed : version.placedRuns()) {
      placed.run().elements().forEach(meta -> edit.add(placed.place(), meta));
    }
    long newest = version.groups().isEmpty() ? 0 : version.groups().get(0).number();
    if (fresh != null) {
      edit.add(Place.group(newest + 1), fresh);
    }
    return edit.build();
  }

  private @Nullable SSTableMeta write(TreeHandle tree, TreeState state, TableSpace target)
      throws IOException {
    MemoryCopy copy = new MemoryCopy(tree, target);
    try {
      for (int attempt = 1; !copied(copy, tree, state); attempt++) {
        if (attempt == ATTEMPTS) {
          throw new OutOfBudgetException(
              "there were no pages to read the memory of tree '" + tree.name() + "' with");
        }
        engine.environment().scheduler().signal(Awaited.PAUSE).await(() -> false, PAUSE_NANOS);
      }
      return copy.finish();
    } finally {
      copy.close();
    }
  }

  /** Copies as much as it has pages for; false if there is more. */
  private boolean copied(MemoryCopy copy, TreeHandle tree, TreeState state) throws IOException {
    List<Run> runs = new ArrayList<>();
    runs.add(Run.of(tree.order(), state.active()));
    runs.addAll(state.memory());
    EntryCursor[] sources = new EntryCursor[runs.size()];
    for (int i = 0; i < sources.length; i++) {
      sources[i] = new RunCursor(tree.order(), runs.get(i), engine::mergeCursor);
    }
    try (MergingCursor cursor = new MergingCursor(tree.order(), sources)) {
      copy.addAll(cursor);
      return true;
    } catch (OutOfBudgetException e) {
      return false;
    }
  }

  private void releaseMemory() {
    states.forEach((tree, state) -> tree.states().release(state));
    states.clear();
    if (registered) {
      registered = false;
      engine.snapshots().release(lsn);
    }
    engine.gate().wake();
  }

  @Override
  public void close() {
    releaseMemory();
    tables.forEach(SSTable::release);
    tables.clear();
  }

  /**
   * The newest version of each key of a tree's memory that the image sees, and all operands down to
   * a version that needs nothing older.
   */
  private final class MemoryCopy implements AutoCloseable {
    private final TreeHandle tree;
    private final TableSpace target;
    private @Nullable SSTableWriter writer;
    private byte @Nullable [] last;
    private long lastLsn;
    private boolean lastAnswers;

    MemoryCopy(TreeHandle tree, TableSpace target) {
      this.tree = tree;
      this.target = target;
    }

    /** Adds what follows the last version that was added. */
    void addAll(EntryCursor cursor) throws IOException {
      byte[] key = last;
      boolean more = key == null ? cursor.first() : cursor.seek(key, 0, key.length, lsn);
      for (; more; more = cursor.next()) {
        if (cursor.lsn() <= lsn && !isLast(cursor)) {
          writer().add(cursor.leaf(), cursor.lsn());
          last = Arrays.copyOf(cursor.key(), cursor.keyLength());
          lastLsn = cursor.lsn();
          lastAnswers = StayingVersions.answersLater(lastLsn, cursor.kind(), lsn);
        }
      }
    }

    /** Whether the version is of the key added last, and nothing more of that is needed. */
    private boolean isLast(EntryCursor cursor) {
      byte[] key = last;
      return key != null
          && (lastAnswers || cursor.lsn() >= lastLsn)
          && tree.order().compare(key, 0, key.length, cursor.key(), 0, cursor.keyLength()) == 0;
    }

    private SSTableWriter writer() throws IOException {
      SSTableWriter made = writer;
      if (made == null) {
        made = engine.catalog().newTable(tree, target, true);
        writer = made;
      }
      return made;
    }

    @Nullable SSTableMeta finish() throws IOException {
      SSTableWriter made = writer;
      SSTableMeta meta = made == null ? null : made.finish();
      writer = null;
      return meta;
    }

    /** Deletes what was not finished. */
    @Override
    public void close() {
      if (writer != null) {
        writer.abort();
        writer = null;
      }
    }
  }
}
