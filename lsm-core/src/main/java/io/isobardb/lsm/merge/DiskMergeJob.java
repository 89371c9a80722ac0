package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.event.MergeSpan;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.range.UnsavedRanges;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.SSTableWriter;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.EntryFilter;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Carries out one choice of a merge policy.
 *
 * <p>The inputs need no reference: nobody but this job takes them out of the tree's state, and a
 * tree is dropped only when its jobs have ended. A merge begins when those of its tree that were
 * given up have let go of their inputs, which it may need.
 */
final class DiskMergeJob implements Job {
  private final Merger merger;
  private final Engine engine;
  private final TreeHandle tree;
  private final MergeChoice choice;
  private final boolean isForReads;
  private final List<SSTableMeta> outputs = new ArrayList<>();
  private final MergeSpan span = MergeSpan.start();
  private final long startNanos;
  private final List<DiskMergeJob> givenUp;
  private @Nullable Rewrite rewrite;

  private final InputClaim claim = new InputClaim();

  /** What range deletes up to this LSN hide was left out; -1 if nothing is rewritten. */
  private long cleanUpTo = -1;

  /** The LSN that the tree's filter was last asked at with success, -1 if never. */
  private long droppedAt = -1;

  /**
   * @param isForReads whether reads have paid for it
   * @param givenUp merges of the tree that were given up
   */
  DiskMergeJob(
      Merger merger,
      Engine engine,
      TreeHandle tree,
      MergeChoice choice,
      boolean isForReads,
      List<DiskMergeJob> givenUp) {
    this.givenUp = givenUp;
    this.merger = merger;
    this.engine = engine;
    this.tree = tree;
    this.choice = choice;
    this.isForReads = isForReads;
    this.startNanos = engine.nanos();
  }

  TreeHandle tree() {
    return tree;
  }

  MergeChoice choice() {
    return choice;
  }

  boolean isForReads() {
    return isForReads;
  }

  InputClaim claim() {
    return claim;
  }

  /** Submits it once those that were given up have let go of their inputs. */
  void start() {
    AtomicInteger holders = new AtomicInteger(1);
    Runnable fewer =
        () -> {
          if (holders.decrementAndGet() == 0) {
            merger.submit(this);
          }
        };
    for (DiskMergeJob other : givenUp) {
      holders.incrementAndGet();
      other.afterRelease(fewer);
    }
    fewer.run();
  }

  /** Runs {@code action} when this merge, which was given up, reads none of its inputs any more. */
  private void afterRelease(Runnable action) {
    claim.onReleased(action);
    release();
  }

  /**
   * Ends it, once it was given up and no part of it is under way. Until it has let go of the inputs
   * it is known to the merger: whoever begins another merge meanwhile waits for it.
   */
  private void release() {
    if (claim.beginRelease()) {
      Rewrite current = rewrite;
      long begun = current == null ? 0 : current.outputBytes();
      merger.onLost(begun + outputs.stream().mapToLong(SSTableMeta::sizeBytes).sum());
      try {
        abandon();
      } finally {
        try {
          merger.onEnded(this);
        } finally {
          claim.endRelease();
        }
      }
    }
  }

  @Override
  public Priority priority() {
    if (choice.kind() == MergeChoice.Kind.DRAIN_L1) {
      return Priority.IDLE;
    }
    if (choice.kind() == MergeChoice.Kind.GATHER) {
      return Priority.GATHER;
    }
    return choice.slot() == MergeChoice.Slot.DEEP ? Priority.MERGE_DEEP : Priority.MERGE_L0;
  }

  @Override
  public String name() {
    return "merge " + tree.name();
  }

  @Override
  public boolean step() throws Exception {
    boolean more = claim.enter() && part();
    if (claim.leave()) {
      release();
      return false;
    }
    if (!more) {
      merger.onEnded(this);
    }
    return more;
  }

  /** Closes the inputs, and opens them again in the next step. */
  @Override
  public void rest() throws IOException {
    Rewrite current = rewrite;
    if (claim.enter() && current != null) {
      current.rest();
    }
    if (claim.leave()) {
      release();
    }
  }

  private boolean part() throws IOException {
    if (tree.closed()) {
      abandon();
      return false;
    }
    if (choice.kind().rewrites() && !carry()) {
      return true;
    }
    commit();
    return false;
  }

  /** Does a part of the rewriting; true when it is done. */
  private boolean carry() throws IOException {
    Rewrite current = rewrite;
    if (current == null) {
      current = begin().folding(Folder.of(engine, tree));
      rewrite = current;
    }
    if (current.rests()) {
      current.resume(source());
    }
    Rewrite.Outcome outcome = step(current, engine.environment().scheduler().stepBytes());
    if (outcome == Rewrite.Outcome.GOING_ON) {
      return false;
    }
    if (current.hasOutput()) {
      outputs.add(current.finishOutput());
    }
    if (outcome == Rewrite.Outcome.OUTPUT_FULL) {
      return false;
    }
    current.close();
    rewrite = null;
    return true;
  }

  private Rewrite.Outcome step(Rewrite current, int bytes) throws IOException {
    if (tree.filter() == null) {
      return current.step(bytes);
    }
    long lsn = engine.snapshots().registerOldest();
    try {
      return current.step(bytes, entry -> drops(entry, lsn));
    } finally {
      engine.snapshots().release(lsn);
    }
  }

  /** Never a delete marker, which hides what lies below. */
  private boolean drops(LeafCursor entry, long lsn) {
    EntryFilter filter = tree.filter();
    if (filter == null
        || Kind.isDelete(entry.kind())
        || entry.lsn() > lsn
        || !filter.drops(Arrays.copyOf(entry.key(), entry.keyLength()), lsn)) {
      return false;
    }
    droppedAt = lsn;
    return true;
  }

  /** Over all inputs; stands nowhere. */
  private MergingCursor source() {
    TreeState state = tree.states().current();
    List<EntryCursor> sources = new ArrayList<>();
    for (MergeChoice.Input input : choice.inputs()) {
      List<Table> tables = new ArrayList<>();
      for (SSTableMeta meta : input.tables()) {
        tables.add(find(state, meta.fileNumber()));
      }
      sources.add(new RunCursor(tree.order(), new Run(tree.order(), tables), engine::mergeCursor));
    }
    return new MergingCursor(tree.order(), sources.toArray(new EntryCursor[0]));
  }

  private Rewrite begin() {
    MergingCursor source = source();
    try {
      source.first();
    } catch (RuntimeException | Error e) {
      source.close();
      throw e;
    }
    // In this order: a later reader sees all range deletes that count, and of those that are older
    // than what loses its LSN none is missed.
    long settled = engine.catalog().settledLsn();
    long[] snapshots = engine.retention().snapshots(tree);
    boolean last = choice.goesTo(0) && choice.bottommost();
    long zeroUpTo = last ? engine.retention().indifferentLsn(tree, snapshots) : -1;
    RangeDeletes deletes = tree.states().current().ranges().list();
    if (deletes != null) {
      zeroUpTo = Math.min(zeroUpTo, settled);
    }
    long clean = snapshots.length == 0 ? settled : Math.min(settled, snapshots[0]);
    cleanUpTo = deletes == null ? clean : deletes.momentAt(clean);
    return new Rewrite(
        source,
        new VersionFilter(
            tree.order(), snapshots, deletes, settled, engine.retention().expiredBy(tree)),
        this::nothingBelow,
        this::writer,
        cuts(tree.states().current().version()),
        zeroUpTo);
  }

  private OutputCuts cuts(Version version) {
    long bytes = merger.tableBytes(tree);
    return OutputCuts.in(version, choice.output(), bytes);
  }

  private boolean nothingBelow(LeafCursor cursor) {
    if (choice.bottommost()) {
      return true;
    }
    Version version = tree.states().current().version();
    byte[] key = Arrays.copyOf(cursor.key(), cursor.keyLength());
    return choice.nothingBelow(version, key);
  }

  private static Table find(TreeState state, long fileNumber) {
    for (Run run : state.disk()) {
      for (Table table : run.tables()) {
        if (table instanceof Table.Stored stored
            && stored.content().meta().fileNumber() == fileNumber) {
          return table;
        }
      }
    }
    throw new IllegalStateException("input " + SSTableMeta.fileName(fileNumber) + " is gone");
  }

  private SSTableWriter writer() {
    try {
      return engine.catalog().newTable(tree, choice.output());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void commit() throws IOException {
    awaitLog();
    if (!claim.commit()) {
      return;
    }
    List<SSTable> fresh = new ArrayList<>();
    for (SSTableMeta meta : outputs) {
      fresh.add(engine.catalog().open(meta, tree));
    }
    engine.catalog().commit(tree, change(), fresh, List.of());
    List<SSTableMeta> committed = List.copyOf(outputs);
    outputs.clear();
    merger.onMerged(this, committed, span, startNanos);
  }

  /**
   * Waits until what the outputs go by is durable. Else a crash could take records back that count
   * the entries left out. Nor may it take range deletes back: operands below one may be folded with
   * what an older one hides, since the older one is not kept beside it.
   */
  private void awaitLog() {
    long lsn = droppedAt;
    if (tree.settings().operator() != null) {
      UnsavedRanges unsaved = tree.states().current().ranges().unsaved();
      lsn = Math.max(lsn, unsaved.newestLsn(engine.log().visible()));
    }
    if (lsn >= 0 && engine.log().isOpen()) {
      engine.log().awaitDurable(lsn);
    }
  }

  private Catalog.Change change() {
    return new Catalog.Change() {
      @Override
      public VersionEdit edit(Version version, long flushedLsn) {
        return choice.edit(tree.id(), version, outputs);
      }

      @Override
      public List<RangeDelete> needless(Version after, TreeState memory) {
        long readers = engine.retention().indifferentLsn(tree);
        return NeedlessRanges.of(after, memory, readers, cleaned());
      }
    };
  }

  private NeedlessRanges.@Nullable Cleaned cleaned() {
    if (cleanUpTo < 0) {
      return null;
    }
    Set<Long> files = outputs.stream().map(SSTableMeta::fileNumber).collect(Collectors.toSet());
    return new NeedlessRanges.Cleaned(files, choice.minKey(), choice.maxKey(), cleanUpTo);
  }

  /** Closes what is open and deletes what was written. */
  private void abandon() {
    Rewrite current = rewrite;
    if (current != null) {
      rewrite = null;
      current.close();
    }
    outputs.forEach(meta -> engine.catalog().delete(meta, tree));
    outputs.clear();
  }

  @Override
  public void onFailed(Throwable cause) {
    if (claim.isCommitting() && !(cause instanceof DiskFullException)) {
      // The manifest may name them: the next opening will know.
      outputs.clear();
    }
    boolean givenUp = claim.fail();
    // Those that wait for the merge go on, whatever fails here.
    try {
      if (!givenUp) {
        abandon();
      }
    } finally {
      try {
        engine.space().onJobFailed(cause);
      } finally {
        if (givenUp) {
          release();
        } else {
          merger.onEnded(this);
        }
      }
    }
  }
}
