package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreClosedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsMetrics;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.api.ProcessingContext;
import org.apache.kafka.streams.query.Position;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entries of one open state store, and what is known of them: how far they hold the changelog
 * and the input.
 *
 * <p>If Kafka commits to state stores with each of its transactions, writes are held back until
 * then, on the heap. Reads of the task see them.
 *
 * <p>Thread rule: the thread of the task writes, commits and closes; any thread may read. One at a
 * time reopens it.
 */
final class StateTree {
  /** Stands for the value of a key that was deleted. Compared by identity. */
  static final byte[] DELETED = new byte[0];

  private static final Logger LOG = LoggerFactory.getLogger(StateTree.class);

  /** What Kafka commits for a changelog of which it knows no offset. */
  private static final long UNKNOWN = -4;

  private static final long TOUCHES_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** What an entry that is held back takes beside its bytes, about. */
  private static final int HELD_OVERHEAD = 100;

  private final String name;
  private final SharedStore shared;
  private final String identity;
  private final Path marker;
  private final String layout;
  private final Tree tree;
  private final boolean transactional;

  /** Asks Kafka to commit soon. */
  private final Runnable commitRequest;

  private final StreamsOptions options;
  private final Opened opened;
  private final @Nullable KafkaFigures figures;

  private final Set<StateIterator<?>> iterators = ConcurrentHashMap.newKeySet();

  private final Map<TopicPartition, Long> offsets;
  private final Position position;
  private volatile Position committedPosition;
  private volatile long streamTime;

  /** What a transaction has written; null if nothing is held back. */
  private volatile @Nullable HeldWrites held;

  /** All before this key goes at the next commit; null if nothing does. */
  private byte @Nullable [] heldDelete;

  private volatile long heldBytes;

  /** Whether Kafka was asked to commit what is held back. */
  private boolean commitRequested;

  private final WriteBatch batch;

  /** The row that the ledger has. */
  private LedgerRow written;

  /** Whether anything was written or restored since it was opened. */
  private boolean touched;

  /** Whether anything was written since the last commit. */
  private boolean dirty;

  /** Whether anything was written or restored since the row was written. */
  private volatile boolean changed;

  private long touchedNanos;
  private volatile boolean open = true;

  private StateTree(
      SharedStore shared, StreamsOptions options, Opened opened, Position position, Tree tree) {
    this.name = opened.name;
    this.shared = shared;
    this.identity = opened.identity;
    this.marker = Path.of(opened.row.marker());
    this.layout = opened.row.layout();
    this.tree = tree;
    this.transactional = options.transactional();
    this.commitRequest = opened.commitRequest;
    this.options = options;
    this.opened = opened;
    this.offsets = new HashMap<>(opened.row.offsets());
    this.position = position;
    this.committedPosition = position.copy();
    this.streamTime = opened.row.streamTime();
    this.held = transactional ? HeldWrites.NONE : null;
    this.batch = shared.store().newBatch();
    this.written = opened.row;
    this.touchedNanos = System.nanoTime() - TOUCHES_NANOS;
    tree.setWriteMemoryFloor(shared.floor(options.floors().getOrDefault(name, 0L)));
    tree.setWriteWeight(options.weights().getOrDefault(name, 1.0));
    shared.showFigures(opened.metrics);
    this.figures =
        KafkaFigures.ofTree(
            opened.metrics,
            tree.name(),
            () -> shared.statsOf(tree.name()),
            Map.of("task-id", opened.task, "state-id", name));
  }

  private record Opened(
      String name,
      String task,
      String identity,
      LedgerRow row,
      Runnable commitRequest,
      StreamsMetrics metrics) {
    Opened with(LedgerRow other) {
      return new Opened(name, task, identity, other, commitRequest, metrics);
    }

    /** Its tree in a store. */
    Tree tree(SharedStore in, boolean hasRow) {
      return in.tree(task + "-" + name, identity, hasRow);
    }
  }

  /**
   * Opens the entries of a state store of a task. What is there in another layout is as good as
   * gone.
   *
   * @param layout what its keys and values are
   * @throws TaskCorruptedException if writes of an unfinished transaction may be among them, and
   *     Kafka will wipe them then
   */
  static StateTree open(String name, String layout, StateStoreContext context) {
    Path taskDirectory = context.stateDir().toPath();
    StreamsOptions options = StreamsOptions.of(context.appConfigs(), taskDirectory);
    LedgerRow empty = LedgerRow.empty(Marker.path(taskDirectory, name).toString(), layout);
    return inStore(name, options, shared -> open(name, context, options, shared, empty));
  }

  /**
   * Opens a state store in the open store. If that has failed and somebody opens it anew meanwhile,
   * the state store is opened in the next one.
   */
  private static StateTree inStore(
      String name, StreamsOptions options, Function<SharedStore, StateTree> opening) {
    Path directory = options.directory();
    while (true) {
      SharedStore shared = opening(name, directory, () -> SharedStore.acquire(options));
      try {
        return opening(name, directory, () -> opening.apply(shared));
      } catch (RuntimeException | Error e) {
        shared.release();
        if (!shared.isClosed() || !(e.getCause() instanceof StoreClosedException)) {
          throw e;
        }
      }
    }
  }

  private static StateTree open(
      String name,
      StateStoreContext context,
      StreamsOptions options,
      SharedStore shared,
      LedgerRow empty) {
    Path marker = Path.of(empty.marker());
    String found = Marker.read(marker);
    LedgerRow row = found == null ? null : shared.row(found);
    if (row != null && !row.isOf(marker)) {
      found = null;
      row = null;
    }
    if (row != null && !row.hasLayout(empty.layout())) {
      LOG.warn(
          "state store {} of task {} begins anew: what is there has the layout {}, not {}",
          name,
          context.taskId(),
          row.layout(),
          empty.layout());
      found = null;
      row = null;
    }
    // What global stores hold was committed before it came to them.
    boolean checked = options.exactlyOnce() && context.taskId().subtopology() >= 0;
    if (checked && row != null && row.open()) {
      if (!options.transactional()) {
        throw new TaskCorruptedException(
            Set.of(context.taskId()),
            new ProcessorStateException(
                "state store "
                    + name
                    + " was not closed: it may hold writes of a transaction that was not"
                    + " committed"));
      }
      // Kafka does not wipe it: it begins anew, and is restored from the start.
      found = null;
      row = null;
    }
    String identity = found;
    // A copy of the task's directory names the same tree: only one of the two may write to it.
    if (identity == null || !shared.claim(identity)) {
      identity = Marker.create(marker);
      shared.claim(identity);
      row = null;
    }
    try {
      boolean hasRow = row != null;
      LedgerRow known = row == null ? empty : row;
      LedgerRow opened =
          new LedgerRow(
              !options.transactional(),
              known.streamTime(),
              empty.marker(),
              empty.layout(),
              known.offsets(),
              known.position().copy());
      shared.setRow(identity, opened);
      Runnable commitRequest =
          context instanceof ProcessingContext processing ? processing::commit : () -> {};
      Opened of =
          new Opened(
              name,
              context.taskId().toString(),
              identity,
              opened,
              commitRequest,
              context.metrics());
      return new StateTree(shared, options, of, opened.position().copy(), of.tree(shared, hasRow));
    } catch (RuntimeException | Error e) {
      shared.unclaim(identity);
      throw e;
    }
  }

  /**
   * Whether its store failed and was closed, since somebody opens it anew: {@link #reopen} is due.
   */
  boolean isLeftBehind() {
    return shared.isClosed();
  }

  /**
   * The same state store in the store that was opened since. Closes this one.
   *
   * @throws ProcessorStateException if anything may be missing that was written here
   */
  StateTree reopen() {
    return inStore(name, options, this::reopen);
  }

  private StateTree reopen(SharedStore next) {
    // A row comes after what it speaks of: if it is there, so is all that was committed.
    if (changed || !written.equals(next.row(identity)) || !next.claim(identity)) {
      throw new ProcessorStateException(
          "state store "
              + name
              + ", tree "
              + tree.name()
              + " in "
              + shared.directory()
              + ": the store took no more writes and was opened anew; this state store may lack"
              + " what it wrote last, and must be closed and opened again");
    }
    try {
      close();
      return new StateTree(next, options, opened.with(written), position, opened.tree(next, true));
    } catch (RuntimeException | Error e) {
      next.unclaim(identity);
      throw e;
    }
  }

  boolean isOpen() {
    return open;
  }

  void checkOpen() {
    if (!open) {
      throw new InvalidStateStoreException("Store " + name + " is currently closed");
    }
  }

  /** The position, to be looked at and changed under its monitor. */
  Position position() {
    return position;
  }

  Position committedPosition() {
    return transactional ? committedPosition : position;
  }

  /** The largest time of a record that was written, in milliseconds, or -1. */
  long streamTime() {
    return streamTime;
  }

  void advanceStreamTime(long time) {
    if (time > streamTime) {
      streamTime = time;
    }
  }

  /** Notes that the task has written, even if it came to nothing. */
  void touch() {
    touched = true;
    dirty = true;
    changed = true;
  }

  // ---- reads

  byte @Nullable [] get(byte[] key, boolean committed) {
    checkOpen();
    HeldWrites before = committed ? null : held;
    if (before != null) {
      byte[] value = before.get(key);
      if (value != null) {
        return value == DELETED ? null : value;
      }
    }
    return guarded(() -> tree.get(key));
  }

  /**
   * The entries of a range.
   *
   * @param from the first key, null for no bound
   * @param to the key behind the last, null for no bound
   */
  Entries entries(
      byte @Nullable [] from, byte @Nullable [] to, boolean forward, boolean committed) {
    checkOpen();
    // Before the cursor is opened: what is committed in between is seen twice then, and not never.
    HeldWrites before = committed ? null : held;
    CursorOptions all = CursorOptions.all();
    CursorOptions lower = from == null ? all : all.from(from);
    CursorOptions bounds = to == null ? lower : lower.to(to);
    return guarded(() -> new Entries(tree.cursor(bounds), before, from, to, forward));
  }

  long approximateEntries() {
    checkOpen();
    HeldWrites before = held;
    return guarded(tree::approximateEntries) + (before == null ? 0 : before.size());
  }

  /** Has an iterator closed with this; false if this is closed already. */
  boolean register(StateIterator<?> iterator) {
    iterators.add(iterator);
    return open;
  }

  void unregister(StateIterator<?> iterator) {
    iterators.remove(iterator);
  }

  // ---- writes

  void put(byte[] key, byte @Nullable [] value) {
    checkOpen();
    touch();
    if (held != null) {
      hold(List.of(new Change(key, value)));
      return;
    }
    try {
      if (value == null) {
        tree.delete(key);
      } else {
        tree.put(key, value);
      }
    } catch (RuntimeException e) {
      throw failure(e);
    }
  }

  /** Holds writes back; readers see all of them or none. */
  private void hold(List<Change> changes) {
    changes.forEach(this::checkSize);
    HeldWrites writes = Objects.requireNonNull(held);
    long added = 0;
    for (Change change : changes) {
      byte[] key = change.key();
      byte[] given = change.value();
      byte[] value = given == null ? DELETED : given;
      byte[] old = writes.get(key);
      added += old == null ? value.length + key.length + HELD_OVERHEAD : value.length - old.length;
      writes = writes.with(key, value, old == null);
    }
    held = writes;
    heldBytes += added;
    shared.heldMemory().add(added);
    if (!commitRequested && (shared.heldMemory().isFull() || heldBytes > commitLimit())) {
      commitRequested = true;
      commitRequest.run();
    }
  }

  /**
   * Refuses what a commit could not write: it would be in the changelog, too, and fail restores.
   */
  private void checkSize(Change change) {
    byte[] value = change.value();
    long longest = shared.heldMemory().mostValueBytes(tree.maxValueBytes());
    if (change.key().length > tree.maxKeyBytes()) {
      throw tooLong(
          "key of " + change.key().length, tree.maxKeyBytes(), "a store with a larger pageSize");
    }
    if (value != null && value.length > longest) {
      throw tooLong("value of " + value.length, longest, "a larger isobar.memoryBudget");
    }
  }

  private IllegalArgumentException tooLong(String what, long longest, String remedy) {
    return new IllegalArgumentException(
        "state store "
            + name
            + ": a "
            + what
            + " bytes exceeds the limit of "
            + longest
            + " bytes; it needs "
            + remedy);
  }

  /** The size in bytes up to which a commit is one batch. */
  private long commitLimit() {
    return tree.maxValueBytes();
  }

  private void forgetHeldBytes() {
    shared.heldMemory().add(-heldBytes);
    heldBytes = 0;
    commitRequested = false;
  }

  /** Removes all before a key. */
  void deleteBefore(byte[] to) {
    checkOpen();
    if (held != null) {
      heldDelete = to;
    } else {
      guarded(
          () -> {
            tree.deleteRange(null, to);
            return to;
          });
    }
  }

  /** Writes of a batch: key, and value or null. */
  record Change(byte[] key, byte @Nullable [] value) {}

  /** Writes all or nothing. */
  void write(List<Change> changes) {
    checkOpen();
    touch();
    if (held == null) {
      writeBatch(changes);
    } else {
      hold(changes);
    }
  }

  /** Writes what was restored, which is committed already; it may have come to nothing. */
  void restore(List<Change> changes) {
    checkOpen();
    touched = true;
    changed = true;
    if (!changes.isEmpty()) {
      writeBatch(changes);
    }
  }

  private void writeBatch(List<Change> changes) {
    // More would not be admitted at once.
    long limit = Math.max(1 << 16, tree.maxValueBytes() / 2);
    guarded(
        () -> {
          batch.clear();
          for (Change change : changes) {
            if (batch.size() > 0 && batch.sizeBytes() > limit) {
              shared.store().write(batch);
              batch.clear();
            }
            add(change.key(), change.value());
          }
          shared.store().write(batch);
          batch.clear();
          return changes;
        });
  }

  private void add(byte[] key, byte @Nullable [] value) {
    if (value == null) {
      batch.delete(tree, key);
    } else {
      batch.put(tree, key, value);
    }
  }

  /** Bytes that are held back, about. */
  long heldBytes() {
    return heldBytes;
  }

  // ---- commits

  @Nullable Long committedOffset(TopicPartition partition) {
    checkOpen();
    synchronized (offsets) {
      return offsets.get(partition);
    }
  }

  /**
   * Makes what was written, and these offsets, what a crash leaves.
   *
   * <p>Kafka hands the offsets of an old checkpoint file to whatever state store it finds, before
   * anything else. So none is raised before something was written: an empty tree would lack all
   * that came before it.
   *
   * @param committed none for a state store without a changelog, and for one that Kafka is going to
   *     wipe
   */
  void commit(Map<TopicPartition, Long> committed) {
    checkOpen();
    boolean isCorrupted;
    synchronized (offsets) {
      isCorrupted = committed.isEmpty() && !offsets.isEmpty();
      if (committed.isEmpty()) {
        offsets.clear();
      }
      committed.forEach(
          (partition, offset) -> {
            Long known = offsets.get(partition);
            if (offset == null) {
              offsets.remove(partition);
            } else if (touched || (known == null ? offset == UNKNOWN : offset <= known)) {
              offsets.put(partition, offset);
            }
          });
    }
    LedgerRow before = written;
    guarded(
        () -> {
          if (transactional && isCorrupted) {
            // It begins anew, even if the process dies before it is wiped.
            forgetHeld();
            setRow(row(true));
          } else {
            writeHeld();
          }
          return name;
        });
    dirty = false;
    changed &= written == before;
    refreshTaskDirectory();
  }

  private void writeHeld() {
    HeldWrites before = held;
    LedgerRow row = row(!transactional);
    if (before == null) {
      setRow(row);
      return;
    }
    batch.clear();
    if (heldDelete != null) {
      batch.deleteRange(tree, null, heldDelete);
    }
    long limit = commitLimit();
    before.forEach(
        (key, value) -> {
          add(key, value == DELETED ? null : value);
          if (batch.sizeBytes() > limit) {
            writePart();
          }
        });
    batch.put(shared.ledger(), identity.getBytes(UTF_8), row.encode());
    shared.store().write(batch);
    batch.clear();
    written = row;
    committedPosition = row.position();
    forgetHeld();
  }

  private void forgetHeld() {
    heldDelete = null;
    forgetHeldBytes();
    held = HeldWrites.NONE;
  }

  /**
   * Writes a part of a commit that is larger than the store takes at once. Until the last part is
   * there, the row says OPEN: after a crash the state store begins anew.
   */
  private void writePart() {
    setRow(written.withOpen(true));
    shared.store().write(batch);
    batch.clear();
  }

  private void setRow(LedgerRow row) {
    if (!row.equals(written)) {
      shared.setRow(identity, row);
      written = row;
    }
  }

  private LedgerRow row(boolean stillOpen) {
    synchronized (offsets) {
      synchronized (position) {
        return new LedgerRow(
            stillOpen, streamTime, marker.toString(), layout, Map.copyOf(offsets), position.copy());
      }
    }
  }

  /** Kafka's cleaner takes a task's directory for abandoned that has not changed for a while. */
  private void refreshTaskDirectory() {
    long now = System.nanoTime();
    if (now - touchedNanos < TOUCHES_NANOS) {
      return;
    }
    touchedNanos = now;
    Path task = Marker.taskDirectory(marker);
    try {
      Files.setLastModifiedTime(task, FileTime.fromMillis(System.currentTimeMillis()));
    } catch (IOException e) {
      LOG.debug("the time of {} was not set", task, e);
    }
  }

  /** Closes it, and the iterators over it; what is held back is gone. */
  void close() {
    if (!open) {
      return;
    }
    open = false;
    if (!iterators.isEmpty()) {
      LOG.warn("Closing {} open iterators for store {}", iterators.size(), name);
      iterators.forEach(StateIterator::close);
    }
    try {
      if (!transactional && !dirty && !isLeftBehind()) {
        guarded(
            () -> {
              setRow(row(false));
              return name;
            });
      }
    } finally {
      forgetHeldBytes();
      if (figures != null) {
        figures.remove();
      }
      shared.hideFigures(opened.metrics);
      shared.unclaim(identity);
      shared.release();
    }
  }

  // ---- errors

  /** Runs what reads or writes; what it throws is told as Kafka's errors. */
  private <T extends @Nullable Object> T guarded(Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      throw failure(e);
    }
  }

  /** Runs what opens a state store, in the same way. */
  private static <T> T opening(String name, Path directory, Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      throw failure(name, "in " + directory, e);
    }
  }

  /** What Kafka knows for a failure of the store. */
  RuntimeException failure(RuntimeException e) {
    return failure(name, "tree " + tree.name() + " in " + shared.directory(), e);
  }

  private static RuntimeException failure(String name, String place, RuntimeException e) {
    if (e instanceof StoreClosedException) {
      return new InvalidStateStoreException("Store " + name + " is currently closed", e);
    }
    if (e instanceof IsobarException || e instanceof UncheckedIOException) {
      return new ProcessorStateException(
          "state store " + name + ", " + place + ": " + messages(e), e);
    }
    return e instanceof IllegalArgumentException
        ? new IllegalArgumentException("state store " + name + ", " + place + ": " + messages(e), e)
        : e;
  }

  /** What a failure says, and what its causes say beside that, such as which file it was. */
  private static String messages(Throwable failure) {
    StringBuilder text = new StringBuilder(String.valueOf(failure.getMessage()));
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      String more = cause.getMessage();
      if (more != null && text.indexOf(more) < 0) {
        text.append("; ").append(more);
      }
    }
    return text.toString();
  }

  String name() {
    return name;
  }

  /** Whole keys of a range whose last one is included. */
  static byte @Nullable [] behind(@Nullable Bytes key) {
    return key == null ? null : Arrays.copyOf(key.get(), key.get().length + 1);
  }
}
