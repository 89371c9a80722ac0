package io.isobardb.lsm.state;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.range.RangeMemory;
import io.isobardb.lsm.range.SavedRanges;
import io.isobardb.lsm.sstable.FileSink;
import io.isobardb.lsm.sstable.Packer;
import io.isobardb.lsm.sstable.PageSink;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The trees of a store and the manifest that remembers them.
 *
 * <p>A change of a tree's SSTables goes through {@link #commit}: files synced by their writers,
 * then their directory, then the manifest edit, and only then the new state, with which inputs may
 * go.
 *
 * <p>Trees come and go by {@link #change}, which leaves the sync to {@link #settle}. That comes
 * before each sync of the log. A fence in the log keeps what is written behind a change from
 * outliving it.
 *
 * <p>Locks: a tree's commit lock, then the manifest's. Thread rule: all methods may be called by
 * any thread.
 */
public final class Catalog {
  /** The manifest's property that has the last time that the store's clock told. */
  public static final String TIME = "time";

  /** The manifest's property that counts the changes of which trees there are. */
  public static final String TREE_CHANGES = "treeChanges";

  /**
   * How far a store has come.
   *
   * @param visible the LSN up to which all writes are applied
   * @param durable the LSN up to which the log is synced
   * @param time what the store's clock told last
   * @param notedTime what the manifest has of that
   * @param treeChanges how often trees were created or dropped
   * @param readers the readers at older LSNs
   */
  public record Reached(
      LongSupplier visible,
      LongSupplier durable,
      LongSupplier time,
      long notedTime,
      long treeChanges,
      RangeDeletes.Readers readers) {}

  private final TableSpace space;
  private final RangeMemory rangeMemory;
  private final Manifest manifest;
  private final LongSupplier visible;
  private final LongSupplier durable;
  private final ReentrantLock manifestLock = new ReentrantLock();
  private final Map<Integer, TreeHandle> byId = new ConcurrentHashMap<>();

  /** Trees that may hold what the manifest lacks; see {@link #holders}. */
  private final Map<Integer, TreeHandle> holders = new ConcurrentHashMap<>();

  /** Trees with a floor. */
  private final Set<TreeHandle> floored = ConcurrentHashMap.newKeySet();

  private final AtomicLong nextFile;
  private final boolean filtersByLevel;

  /** What the store's clock told last. */
  private final LongSupplier time;

  private final RangeDeletes.Readers readers;
  private volatile long notedLogStart;
  private volatile long notedTime;

  /** Guarded by the manifest's lock. */
  private long treeChanges;

  /** Whether there may be changes of trees that are not synced, or files that wait for that. */
  private volatile boolean unsettled;

  /** SSTables of dropped trees. Guarded by the manifest's lock. */
  private final List<Table> dropped = new ArrayList<>();

  /**
   * @param nextFile the first file number that was never used
   * @param logStart where the log begins
   * @param reached how far the store has come
   * @param filtersByLevel whether small runs get more bits of filter per key than large ones
   */
  public Catalog(
      TableSpace space,
      Manifest manifest,
      long nextFile,
      long logStart,
      Reached reached,
      boolean filtersByLevel) {
    this.filtersByLevel = filtersByLevel;
    this.time = reached.time();
    this.notedTime = reached.notedTime();
    this.treeChanges = reached.treeChanges();
    this.space = space;
    this.rangeMemory = new RangeMemory(space.pool());
    this.manifest = manifest;
    this.nextFile = new AtomicLong(nextFile);
    this.notedLogStart = logStart;
    this.visible = reached.visible();
    this.readers = reached.readers();
    this.durable = reached.durable();
  }

  public TableSpace space() {
    return space;
  }

  /** What the range deletes of all trees take. */
  public RangeMemory rangeMemory() {
    return rangeMemory;
  }

  /** A handle on an SSTable file that was just written; it is opened when it is first read. */
  public SSTable open(SSTableMeta meta, TreeHandle tree) {
    return SSTable.written(space, tree.order(), meta);
  }

  /** Deletes an SSTable file of a tree that the manifest does not name. */
  public void delete(SSTableMeta meta, TreeHandle tree) {
    SSTable table = open(meta, tree);
    table.markObsolete();
    table.release();
  }

  /** A file number never used before. */
  public long newFileNumber() {
    return nextFile.getAndIncrement();
  }

  /**
   * Creates the file of an SSTable of a tree, with a number never used before.
   *
   * @param into where files lie
   * @param last whether it is for the last level, or will stay where it is
   * @param adopt whether pages go to the buffer cache, as {@link FileSink} says
   */
  public FileSink newFile(TreeHandle tree, TableSpace into, boolean last, boolean adopt)
      throws IOException {
    Compression wanted = tree.compression();
    Packer packer =
        last ? tree.dictionary().packer(wanted.last(), space) : Packer.of(wanted.codec());
    try {
      return new FileSink(into, newFileNumber(), tree.id(), packer, adopt);
    } catch (IOException | RuntimeException | Error e) {
      packer.abandon();
      throw e;
    }
  }

  /**
   * Begins an SSTable of a tree in a {@linkplain #newFile new file}, past the cache.
   *
   * @param last as for the file
   */
  public SSTableWriter newTable(TreeHandle tree, TableSpace into, boolean last) throws IOException {
    FileSink file = newFile(tree, into, last, false);
    return newTable(tree, file, file.fileNumber());
  }

  /** Begins an SSTable that goes to a place of a tree, in a {@linkplain #newFile new file}. */
  public SSTableWriter newTable(TreeHandle tree, Place place) throws IOException {
    return newTable(tree, place, newFile(tree, space, place.equals(Place.level(0)), true));
  }

  /** Begins an SSTable that goes to L0 of a tree. */
  public SSTableWriter newTableOfL0(TreeHandle tree, FileSink file) {
    return newTable(tree, null, file);
  }

  private SSTableWriter newTable(TreeHandle tree, @Nullable Place place, FileSink file) {
    TreeHandle.Settings settings = tree.settings();
    double bits =
        filtersByLevel
            ? FilterSizes.bits(
                tree.states().current().version(), place, settings.filterBitsPerKey())
            : settings.filterBitsPerKey();
    return new SSTableWriter(file, settings.order(), file.fileNumber(), tree.id(), bits);
  }

  /** Begins an SSTable of a tree whose pages go to a sink. */
  public static SSTableWriter newTable(TreeHandle tree, PageSink sink, long number) {
    TreeHandle.Settings settings = tree.settings();
    return new SSTableWriter(
        sink, settings.order(), number, tree.id(), settings.filterBitsPerKey());
  }

  /** The trees that exist. */
  public Collection<TreeHandle> trees() {
    return byId.values();
  }

  /**
   * The trees that hold entries in memory, or range deletes that the manifest lacks, and perhaps
   * others: those that the log, or a flush, may be about. Most of a thousand trees are idle, so
   * what is done with each flush goes by these.
   *
   * <p>A tree is among them before any of that is visible.
   */
  public Collection<TreeHandle> holders() {
    return holders.values();
  }

  /** A tree is about to hold its first entry in memory, or has a range delete. */
  public void onHolding(int treeId) {
    TreeHandle tree = byId.get(treeId);
    if (tree != null) {
      holders.put(treeId, tree);
    }
  }

  /** Leaves a tree out of {@link #holders} if it holds nothing. */
  public void onFlushed(TreeHandle tree) {
    // In one step: what comes to hold something meanwhile says so behind it.
    holders.computeIfPresent(
        tree.id(), (id, holder) -> holder.states().current().holdsNothing() ? null : holder);
  }

  /**
   * Sets the part of the write memory that others do not take from a tree.
   *
   * @param most that it may be
   */
  public void setFloor(TreeHandle tree, long bytes, long most) {
    tree.setFloor(bytes, most);
    floored.add(tree);
  }

  /** What the floors of all trees add up to. */
  public long floorBytes() {
    long floors = 0;
    for (TreeHandle tree : floored) {
      floors += tree.priority().floorBytes();
    }
    return floors;
  }

  public @Nullable TreeHandle tree(int id) {
    return byId.get(id);
  }

  /** Makes a tree known that the manifest knows already. */
  public void add(TreeHandle tree) {
    byId.put(tree.id(), tree);
  }

  /** Gives a tree another name, which no other has. */
  public void rename(TreeHandle tree, String name) throws IOException {
    append(List.of(VersionEdit.rename(tree.id(), name)));
    tree.rename(name);
  }

  /** Forgets a tree that was dropped. */
  public void remove(TreeHandle tree) {
    byId.remove(tree.id());
    holders.remove(tree.id());
    floored.remove(tree);
  }

  /**
   * Changes which trees there are, by edits that are all or none in the manifest. They are durable
   * after {@link #settle}; the end of the process takes none.
   *
   * @return the number of the change, for a fence in the log
   */
  public long change(List<VersionEdit> edits) throws IOException {
    manifestLock.lock();
    try {
      long number = treeChanges + 1;
      List<VersionEdit> all = new ArrayList<>(edits);
      all.add(VersionEdit.store().property(TREE_CHANGES, Long.toString(number)).build());
      manifest.appendUnsynced(all);
      treeChanges = number;
      unsettled = true;
      return number;
    } finally {
      manifestLock.unlock();
    }
  }

  /** Takes SSTables of a tree that was dropped: their files go once that is durable. */
  public void deleteSettled(List<Table> tables) {
    manifestLock.lock();
    try {
      dropped.addAll(tables);
      unsettled = true;
    } finally {
      manifestLock.unlock();
    }
  }

  /**
   * Makes the changes of trees durable that have returned, and deletes the files of those that were
   * dropped.
   *
   * @throws IOException if a write or a sync failed, which is final
   */
  public void settle() throws IOException {
    if (!unsettled) {
      return;
    }
    List<Table> gone;
    manifestLock.lock();
    try {
      manifest.sync();
      gone = List.copyOf(dropped);
      dropped.clear();
      unsettled = false;
    } finally {
      manifestLock.unlock();
    }
    gone.forEach(Table::free);
  }

  /** At close, gives up what waits for {@link #settle}. If that has not come, files stay. */
  public void close() {
    dropped.forEach(Table::close);
    dropped.clear();
  }

  /** Writes edits to the manifest, all or none, and syncs it. */
  public void append(List<VersionEdit> edits) throws IOException {
    manifestLock.lock();
    try {
      manifest.append(edits);
      for (VersionEdit edit : edits) {
        notedLogStart = Math.max(notedLogStart, edit.logStartLsn());
      }
    } finally {
      manifestLock.unlock();
    }
  }

  /** A change of a tree. */
  public interface Change {
    /**
     * The edit, given the version it will be applied to.
     *
     * @param flushedLsn everything of the tree below it is in SSTables once the change is made
     */
    VersionEdit edit(Version version, long flushedLsn);

    /**
     * The range deletes of {@code after} that hide nothing any more.
     *
     * @param memory what the runs in memory become
     */
    default List<RangeDelete> needless(Version after, TreeState memory) {
      return List.of();
    }

    /** What becomes of the runs in memory. */
    default List<Run> memory(TreeState state) {
      return state.memory();
    }
  }

  /**
   * A change of a tree with what belongs to it.
   *
   * @param fresh SSTables that the edit adds
   * @param cleanups run when nobody can see the old state any more
   */
  public record TreeChange(
      TreeHandle tree, Change change, Collection<SSTable> fresh, List<Runnable> cleanups) {}

  /** As {@link #commit(List)}, for one tree. */
  public void commit(
      TreeHandle tree, Change change, Collection<SSTable> fresh, List<Runnable> cleanups)
      throws IOException {
    commit(List.of(new TreeChange(tree, change, fresh, cleanups)));
  }

  /**
   * Carries out changes of trees, at most one of each, on disk and in memory: all or none are on
   * disk, by one sync of the directory and one record of the manifest.
   *
   * @throws DiskFullException if there is no room; nothing happened, and the fresh files may go
   * @throws IOException if a write or a sync failed; whether the changes took effect is not known
   *     until the store is opened again, so the files must stay
   */
  public void commit(List<TreeChange> changes) throws IOException {
    commit(changes, List.of());
  }

  /**
   * As {@link #commit(List)}.
   *
   * @param besides edits of the store that belong to the changes
   */
  public void commit(List<TreeChange> changes, List<VersionEdit> besides) throws IOException {
    List<TreeChange> ordered = new ArrayList<>(changes);
    // Several commit locks are taken in this order.
    ordered.sort(Comparator.comparingInt(change -> change.tree().id()));
    ordered.forEach(change -> change.tree().commitLock().lock());
    try {
      if (ordered.stream().anyMatch(change -> !change.fresh().isEmpty())) {
        syncDirectory();
      }
      Map<TreeHandle, Change> changing = new HashMap<>();
      List<VersionEdit> edits = new ArrayList<>();
      long saved = settledLsn();
      List<Swap> swaps = new ArrayList<>();
      for (TreeChange change : ordered) {
        Version before = change.tree().states().current().version();
        long flushed = flushedLsn(change, saved);
        VersionEdit edit = change.change().edit(before, flushed);
        edits.add(edit);
        changing.put(change.tree(), change.change());
        swaps.add(ranges(change, before.apply(edit), new Settled(saved, flushed), edits));
      }
      edits.addAll(besides);
      append(changing, saved, edits);
      for (Swap swap : swaps) {
        swap(swap);
        swap.change().tree().states().onRangesSaved(saved, readers);
      }
    } finally {
      ordered.forEach(change -> change.tree().commitLock().unlock());
    }
  }

  /**
   * What a change of a tree comes to.
   *
   * @param gone range deletes that hide nothing any more
   */
  private record Swap(TreeChange change, Version version, List<RangeDelete> gone) {}

  /**
   * What no crash takes back.
   *
   * @param saved up to which LSN range deletes come to the manifest
   * @param flushed a replay brings nothing of the tree that is older than this
   */
  private record Settled(long saved, long flushed) {}

  private static void swap(Swap swap) {
    TreeChange change = swap.change();
    Version version = swap.version();
    change
        .tree()
        .states()
        .swap(
            state -> {
              TreeState changed = state.withMemory(change.change().memory(state));
              return changed
                  .withDisk(diskRuns(state, version, change.fresh()), version)
                  .withoutRanges(swap.gone());
            },
            change.cleanups());
  }

  /**
   * Each change of a tree takes along the range deletes that came since the last one, and lets
   * those go that hide nothing any more. What a replay would bring back they hide, too.
   *
   * @param edits gets what that takes
   */
  private Swap ranges(
      TreeChange change, Version version, Settled settled, List<VersionEdit> edits) {
    TreeState state = change.tree().states().current();
    List<RangeDelete> fresh = state.ranges().unsaved().upTo(settled.saved());
    if (fresh.isEmpty() && version.rangeDeletes().isEmpty()) {
      return new Swap(change, version, List.of());
    }
    boolean logged = change.tree().settings().logged();
    // A crash takes a logged tree back to all that is saved, an unlogged one to a checkpoint.
    RangeDeletes.Readers after = logged ? RangeDeletes.NOBODY : readers;
    RangeDeletes all = all(version, state, fresh, after);
    Version then = version.withRanges(version.ranges().with(all));
    List<RangeDelete> needless =
        change.change().needless(then, state.withMemory(change.change().memory(state)));
    SavedRanges.Change ranges =
        version.ranges().change(all, needless, logged ? settled.flushed() : Long.MAX_VALUE);
    VersionEdit.Builder edit = VersionEdit.of(change.tree().id()).rangesLsn(settled.saved());
    if (ranges.anew()) {
      edit.resetRanges();
    }
    if (!ranges.gone().isEmpty()) {
      edit.flushedLsn(settled.flushed());
    }
    ranges.records().forEach(edit::deleteRange);
    if (!fresh.isEmpty() || ranges.anew()) {
      edits.add(edit.build());
    }
    return new Swap(change, version.withRanges(ranges.after()), ranges.gone());
  }

  /** The range deletes that the manifest has once it has these, too. */
  private static RangeDeletes all(
      Version version, TreeState state, List<RangeDelete> fresh, RangeDeletes.Readers readers) {
    RangeDeletes list = state.ranges().list();
    if (list != null && !fresh.isEmpty()) {
      long newest = fresh.get(fresh.size() - 1).lsn();
      if (list.momentAt(newest) == newest) {
        // Readers' list has them already, and shares with it what it has.
        RangeDeletes same = list.upTo(newest);
        return same.needed(readers, newest, same.moments());
      }
    }
    return version.rangeDeletes().withAll(fresh, readers, Long.MAX_VALUE);
  }

  /** All up to this LSN is applied, and no crash takes it back. */
  public long settledLsn() {
    return Math.max(0, Math.min(visible.getAsLong(), durable.getAsLong() - 1));
  }

  /** A failed sync is final, for whatever reason it failed. */
  private void syncDirectory() throws IOException {
    try {
      space.storage().syncDirectory();
    } catch (DiskFullException e) {
      throw new IOException("the directory could not be synced", e);
    }
  }

  /**
   * Appends edits, and what the store has to remember besides: file numbers, and where the log must
   * begin. Where that is holds only together with these edits, so no others may come to know it
   * before: it is worked out under the lock, and forgotten if the manifest does not take them.
   *
   * @param changing trees whose memory changes with the edits
   * @param saved up to which LSN their range deletes are in the manifest then
   */
  private void append(Map<TreeHandle, Change> changing, long saved, List<VersionEdit> edits)
      throws IOException {
    manifestLock.lock();
    try {
      long needed = Math.min(neededLsn(changing, saved), durable.getAsLong());
      long start = Math.max(needed, notedLogStart);
      List<VersionEdit> all = new ArrayList<>();
      VersionEdit.Builder store =
          VersionEdit.store().nextFileNumber(nextFile.get()).logStartLsn(start);
      // What was judged as expired for these edits, or to a reader before them, stays so.
      long told = time.getAsLong();
      if (told != notedTime) {
        store.property(TIME, Long.toString(told));
      }
      all.add(store.build());
      all.addAll(edits);
      append(all);
      notedTime = told;
    } finally {
      manifestLock.unlock();
    }
  }

  /** Lets the manifest know what the store's clock told last, if it does not. */
  public void noteTime() throws IOException {
    if (time.getAsLong() != notedTime) {
      append(Map.of(), 0, List.of());
    }
  }

  /** Lets the manifest know where the log must begin by now. */
  public void noteLogStart() throws IOException {
    append(Map.of(), 0, List.of());
  }

  /** Where the log must begin, as the manifest knows it. */
  public long logStart() {
    return notedLogStart;
  }

  /**
   * Everything of the tree below this LSN is in SSTables once the change is made.
   *
   * <p>It is never beyond what the log has synced: after a crash the log would end before it, hand
   * the LSNs between out again, and the next replay would leave those writes out.
   */
  private long flushedLsn(TreeChange change, long saved) {
    long synced = durable.getAsLong();
    long applied = Math.min(visible.getAsLong() + 1, synced);
    TreeState after = after(change.change(), change.tree());
    long min = Math.min(applied, after.minMemoryLsn(synced, saved));
    return Math.max(min, 0);
  }

  /** What the tree's state will be as to its memory. */
  private static TreeState after(@Nullable Change change, TreeHandle tree) {
    TreeState state = tree.states().current();
    return change == null ? state : state.withMemory(change.memory(state));
  }

  /** The lowest LSN that is in memory only, over all logged trees: the log is needed from there. */
  public long neededLsn() {
    return neededLsn(Map.of(), 0);
  }

  private long neededLsn(Map<TreeHandle, Change> changing, long saved) {
    // First: what is applied from here on lies above it, and may be missed below.
    long needed = visible.getAsLong() + 1;
    long synced = durable.getAsLong();
    for (TreeHandle tree : holders.values()) {
      if (tree.settings().logged()) {
        Change change = changing.get(tree);
        TreeState state = after(change, tree);
        needed = Math.min(needed, state.minMemoryLsn(synced, change == null ? 0 : saved));
      }
    }
    return needed;
  }

  /**
   * The runs of a version that comes after that of a state, newest first. They share what stays.
   *
   * @param fresh SSTables that are new
   */
  private static List<Run> diskRuns(TreeState state, Version version, Collection<SSTable> fresh) {
    Set<Level<SSTableMeta>> left = Collections.newSetFromMap(new IdentityHashMap<>());
    left.addAll(version.runs());
    Map<Level<SSTableMeta>, Run> same = new IdentityHashMap<>();
    Map<Long, Table> tables = new HashMap<>();
    Iterator<Run> runs = state.disk().iterator();
    for (Level<SSTableMeta> level : levels(state.version())) {
      Run run = runs.next();
      if (left.contains(level)) {
        same.put(level, run);
      } else {
        for (int i = 0; i < run.size(); i++) {
          tables.put(level.meta(i).fileNumber(), run.get(i));
        }
      }
    }
    fresh.forEach(table -> tables.put(table.meta().fileNumber(), new Table.Stored(table)));
    return levels(version).stream()
        .map(level -> same.computeIfAbsent(level, changed -> run(changed, tables)))
        .toList();
  }

  private static Run run(Level<SSTableMeta> level, Map<Long, Table> tables) {
    return Run.of(
        level,
        meta -> {
          Table table = tables.get(meta.fileNumber());
          if (table == null) {
            throw new IllegalStateException(meta.fileName() + " is not open");
          }
          return table;
        });
  }

  /** The runs of a version, newest first. */
  public static List<Run> diskRuns(Version version, Function<SSTableMeta, SSTable> open) {
    return levels(version).stream()
        .map(level -> Run.of(level, meta -> new Table.Stored(open.apply(meta))))
        .toList();
  }

  /** The levels that are not empty, newest first. */
  private static List<Level<SSTableMeta>> levels(Version version) {
    return version.runs().stream().filter(level -> !level.isEmpty()).toList();
  }

  /** Replaces runs in memory only; nothing on disk changes. */
  public static void swapMemory(
      TreeHandle tree, UnaryOperator<List<Run>> change, List<Runnable> cleanups) {
    tree.states().swap(state -> state.withMemory(change.apply(state.memory())), cleanups);
  }
}
