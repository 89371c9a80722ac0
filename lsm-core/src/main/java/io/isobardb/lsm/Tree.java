package io.isobardb.lsm;

import io.isobardb.lsm.commit.Moment;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.commit.Writer;
import io.isobardb.lsm.entry.Expiry;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Operands;
import io.isobardb.lsm.handle.Operations;
import io.isobardb.lsm.handle.Session;
import io.isobardb.lsm.handle.TreeWriter;
import io.isobardb.lsm.option.WriteMemoryAllocation;
import io.isobardb.lsm.read.Bounds;
import io.isobardb.lsm.read.MemoryReader;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeSize;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One LSM-tree of a store: an ordered map from keys to values.
 *
 * <p>Keys have 0 bytes to a quarter of a page ({@link #maxKeyBytes}), values 0 bytes to {@link
 * #maxValueBytes}. Arrays given are not kept; arrays returned are the caller's.
 *
 * <p>Thread rule: all methods may be called by any thread, virtual ones too. Reads wait for no
 * writer.
 *
 * <p>Errors: {@link NullPointerException} with the parameter's name for an argument that is null,
 * {@link IllegalArgumentException} for a key or value beyond its limit and for a read-only buffer
 * to read into, {@code StoreClosedException} after the store was closed, {@code
 * TreeDroppedException}, which is one of those, after the tree was dropped, {@code
 * StoreFailedException} for writes after a failure that the store can't recover from, {@code
 * DiskFullException} while there is no room on disk, {@code CorruptionException} for a read of
 * damaged data.
 */
public final class Tree {
  /** What {@link #get(byte[], ByteBuffer)} answers if there is no such key. */
  public static final int NOT_FOUND = PointReader.NOT_FOUND;

  private final Session session;
  private final TreeHandle handle;
  private final Operations operations;
  private final TreeReads reads;
  private final MemoryReader memory;
  private final TreeWriter writes;
  private final Durability byDefault;

  Tree(Session session, TreeHandle handle) {
    StoreParts parts = session.parts();
    this.session = session;
    this.handle = handle;
    this.operations = session.operations();
    this.reads = new TreeReads(session, handle);
    this.memory = parts.memoryReader();
    this.writes = new TreeWriter(session, handle);
    this.byDefault = session.syncByDefault() ? Durability.SYNC : Durability.ASYNC;
  }

  Session session() {
    return session;
  }

  TreeHandle handle() {
    return handle;
  }

  /** Its name, which {@link Store#renameTree} changes. */
  public String name() {
    return handle.name();
  }

  /**
   * Write memory that the tree keeps when memory runs short, in bytes; see {@link
   * #setWriteMemoryFloor}.
   */
  public long writeMemoryFloor() {
    return handle.priority().floorBytes();
  }

  /**
   * Sets how much write memory others do not take from this tree when memory runs short: up to so
   * much its writes stay in memory until the log is full, or somebody asks for a flush. A tree has
   * it only if it is written to; it is not set aside. If the floors of all trees are more than half
   * of the write memory, each has its part of that half. Not stored: it lasts until the store is
   * closed. Without effect where trees have shares of their own ({@link
   * WriteMemoryAllocation#STATIC}).
   *
   * @param bytes 0, as at first, to the store's memory budget, as it is now
   * @throws IllegalArgumentException if it is less or more
   */
  public void setWriteMemoryFloor(long bytes) {
    handle.setFloor(bytes, session.memoryBudget());
  }

  /** How much the tree's writes count; see {@link #setWriteWeight}. */
  public double writeWeight() {
    return handle.priority().weight();
  }

  /**
   * Sets how much the bytes that flushes and merges write of this tree count against those of
   * others. With {@link io.isobardb.lsm.option.FlushPolicy#OPTIMAL} a tree gets write memory in
   * proportion to its writes times its weight. The memory tuner multiplies the cost of its writes
   * by the weight. Not stored: it lasts until the store is closed.
   *
   * @param weight 1, as at first, if it counts as others do; 0 to 1,000,000
   * @throws IllegalArgumentException if it is anything else
   */
  public void setWriteWeight(double weight) {
    handle.setWeight(weight, StoreOption.MAX_WEIGHT);
  }

  /** What is stored of how the tree was made. */
  public TreeOptions options() {
    return TreeOptions.of(handle.settings(), timeToLive());
  }

  /** How long entries live that are written now; zero for ever. */
  public Duration timeToLive() {
    return Duration.ofMillis(handle.timeToLive());
  }

  /**
   * Sets how long entries live; see {@link TreeOptions.Builder#timeToLive}. It is stored, durably,
   * when this returns. What is written already keeps its time.
   *
   * @param duration zero for ever
   */
  public void setTimeToLive(Duration duration) {
    Objects.requireNonNull(duration, "duration");
    writes.setTimeToLive(TreeOptions.builder().timeToLive(duration).build().timeToLive());
  }

  /** When what is put now, without an instant, expires; null if it does not. */
  public @Nullable Instant expiryNow() {
    return Expiry.instant(writes.expiry());
  }

  /** Whether entries of the tree expire, or did since the store was opened. */
  public boolean hasExpiring() {
    return handle.expires();
  }

  /** This, once what these options set, and can be changed, is set. */
  Tree with(TreeOptions given) {
    if (given.changesTimeToLive(options())) {
      setTimeToLive(given.timeToLive());
    }
    return this;
  }

  /** About how many entries there are. Old versions and deleted ones may count; reads nothing. */
  public long approximateEntries() {
    return operations.ask(handle, TreeSize::entries);
  }

  /**
   * About how many bytes the keys of a range have on disk; reads nothing. What is in memory does
   * not count.
   *
   * @param from the first key, null for no bound
   * @param to the key behind the last one, null for no bound
   */
  public long approximateBytes(byte @Nullable [] from, byte @Nullable [] to) {
    return operations.ask(handle, state -> TreeSize.diskBytes(state, handle.order(), from, to));
  }

  /**
   * Flushes the tree, merges a range down to its last level, and drops there what is deleted or has
   * expired; returns when that is done. What is written meanwhile does not count. Merges run by
   * themselves: this is for those who want the space at a time of their own.
   *
   * @param from the first key, null for no bound
   * @param to the key behind the last one, null for no bound; not before {@code from}
   */
  public void compact(byte @Nullable [] from, byte @Nullable [] to) {
    checkRange(from, to);
    session.compact(handle, Keys.copy(from), Keys.copy(to));
  }

  /** Whether its writes go to the log; see {@link TreeOptions}. */
  public boolean isLogged() {
    return handle.settings().logged();
  }

  /** The longest key, in bytes. */
  public int maxKeyBytes() {
    return session.pageSize() / 4;
  }

  /** The longest value, in bytes: 1 GiB at most, and no more than a quarter of the write memory. */
  public int maxValueBytes() {
    return session.maxValueBytes();
  }

  /** Sets a key, with the store's default durability. */
  public void put(byte[] key, byte[] value) {
    put(key, value, byDefault);
  }

  /**
   * Sets a key. What the write survives when this returns says {@link Durability}.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; nothing was written
   * @throws io.isobardb.lsm.error.StoreFailedException if the log failed; the outcome is unknown
   */
  public void put(byte[] key, byte[] value, Durability durability) {
    checkKey(key);
    checkValue(value);
    writes.write(writes.begun(Kind.PUT, key, value), isSync(durability));
  }

  /** As {@link #put(byte[], byte[], Instant, Durability)}, with the default durability. */
  public void put(byte[] key, byte[] value, Instant expires) {
    put(key, value, expires, byDefault);
  }

  /**
   * Sets a key until an instant, whatever the tree's time to live is. From that millisecond on it
   * is absent, by the store's clock. That follows the machine's: if it is set back by up to a
   * minute the store's stands still, and what is put meanwhile may live up to a minute longer.
   *
   * @param expires {@link Instant#MAX} for never
   */
  public void put(byte[] key, byte[] value, Instant expires, Durability durability) {
    checkKey(key);
    checkValue(value);
    long expiry = writes.expiry(expires);
    Writer writer = writes.begun(Kind.PUT, key, value);
    writer.write().expiring(expiry);
    writes.write(writer, isSync(durability));
  }

  /** What tells when its entries expire. */
  TreeWriter writes() {
    return writes;
  }

  /** Sets a key; takes what remains in the buffers, whose positions stay. */
  public void put(ByteBuffer key, ByteBuffer value) {
    put(key, value, byDefault);
  }

  /** Sets a key; takes what remains in the buffers, whose positions stay. */
  public void put(ByteBuffer key, ByteBuffer value, Durability durability) {
    boolean sync = isSync(durability);
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    Keys.checkKey(key.remaining(), maxKeyBytes());
    if (!handle.order().isBytes()) {
      checkKey(Keys.bytes(key));
    }
    Keys.checkValue(value.remaining(), maxValueBytes());
    Writer writer = writes.begun();
    Keys.put(writer.write(), key, value);
    writer.write().expiring(writes.expiry());
    writes.write(writer, sync);
  }

  private static boolean isSync(Durability durability) {
    return Objects.requireNonNull(durability, "durability") == Durability.SYNC;
  }

  /** Removes a key, whether it is there or not. */
  public void delete(byte[] key) {
    delete(key, byDefault);
  }

  /** Removes a key, whether it is there or not. */
  public void delete(byte[] key, Durability durability) {
    checkKey(key);
    writes.write(writes.begun(Kind.DELETE, key, Keys.NO_VALUE), isSync(durability));
  }

  /** Removes a key, whether it is there or not; takes what remains in the buffer. */
  public void delete(ByteBuffer key) {
    delete(Keys.bytes(key));
  }

  /** Removes a key, whether it is there or not; takes what remains in the buffer. */
  public void delete(ByteBuffer key, Durability durability) {
    delete(Keys.bytes(key), durability);
  }

  /**
   * Merges an operand into the value of a key, without reading it: reads give what the tree's
   * {@link TreeOptions#mergeOperator} makes of the value and the operands since, in the order of
   * the writes.
   *
   * @throws IllegalArgumentException if the tree has no merge operator, its operator refuses the
   *     operand, or key or operand exceed their limit
   */
  public void merge(byte[] key, byte[] operand) {
    merge(key, operand, byDefault);
  }

  /**
   * As {@link #merge(byte[], byte[])}. What it survives when it returns says {@link Durability}.
   */
  public void merge(byte[] key, byte[] operand, Durability durability) {
    boolean sync = isSync(durability);
    checkMerge(key, operand);
    writes.write(writes.begun(Kind.MERGE, key, Operands.of(operand)), sync);
  }

  /** Passes if an operand can be merged into a key. */
  void checkMerge(byte[] key, byte[] operand) {
    checkKey(key);
    checkValue(operand);
    Keys.checkOperand(handle, operand);
  }

  /** As {@link #deleteRange(byte[], byte[], Durability)}, with the default durability. */
  public void deleteRange(byte @Nullable [] from, byte @Nullable [] to) {
    deleteRange(from, to, byDefault);
  }

  /**
   * Removes all keys of a range, in one step, at the cost of one small write. SSTables that lie
   * wholly in it go unread, once no reader needs them and the log is synced. Each takes some
   * hundred bytes of the Java heap until merges have rewritten what it hides: keep to some ten
   * thousand.
   *
   * @param from the first key that goes, null for no bound
   * @param to the key behind the last one, null for no bound; if it is {@code from}, none goes
   * @throws IllegalArgumentException if {@code from} is behind {@code to}
   */
  public void deleteRange(byte @Nullable [] from, byte @Nullable [] to, Durability durability) {
    checkRange(from, to);
    boolean sync = isSync(durability);
    writes.deleteRange(Keys.copy(from), Keys.copy(to), sync, session.parts().merger()::request);
  }

  /** As {@link #putIfAbsent(byte[], byte[], Durability)}, with the store's default durability. */
  public byte @Nullable [] putIfAbsent(byte[] key, byte[] value) {
    return putIfAbsent(key, value, byDefault);
  }

  /**
   * Sets a key that is not there, in one step: no other write of the key comes between the look and
   * the write.
   *
   * <p>From the first call of this method or {@link #compareAndSet} on, plain writes lock their
   * keys, as they do from the first transaction on; see {@link Store#begin}.
   *
   * @return the value that is there, and stays; null if there was none, and {@code value} is there
   *     now
   * @throws io.isobardb.lsm.error.LockTimeoutException if the key stays locked for a second
   */
  public byte @Nullable [] putIfAbsent(byte[] key, byte[] value, Durability durability) {
    boolean sync = isSync(durability);
    checkKey(key);
    checkValue(value);
    return writes.writeIf(writes.begun(Kind.PUT, key, value), Objects::isNull, sync).before();
  }

  /** As {@link #compareAndSet(byte[], byte[], byte[], Durability)}, with the default durability. */
  public boolean compareAndSet(byte[] key, byte @Nullable [] expected, byte @Nullable [] value) {
    return compareAndSet(key, expected, value, byDefault);
  }

  /**
   * Sets or removes a key if it has the value expected, in one step, as {@link #putIfAbsent} does.
   *
   * @param expected null if the key must not be there
   * @param value null to remove the key
   * @return whether it had the value expected; if not, nothing was written
   * @throws io.isobardb.lsm.error.LockTimeoutException if the key stays locked for a second
   */
  public boolean compareAndSet(
      byte[] key, byte @Nullable [] expected, byte @Nullable [] value, Durability durability) {
    boolean sync = isSync(durability);
    checkKey(key);
    if (value != null) {
      checkValue(value);
    }
    Writer writer =
        value == null
            ? writes.begun(Kind.DELETE, key, Keys.NO_VALUE)
            : writes.begun(Kind.PUT, key, value);
    return writes.writeIf(writer, before -> Arrays.equals(before, expected), sync).done();
  }

  /** Whether there is such a key. */
  public boolean contains(byte[] key) {
    return get(key, Keys.NO_ROOM, reads.latest()) != NOT_FOUND;
  }

  /** Whether there is such a key; takes what remains in the buffer. */
  public boolean contains(ByteBuffer key) {
    return contains(Keys.bytes(key));
  }

  /** Whether there was such a key as of a snapshot. */
  public boolean contains(byte[] key, Snapshot snapshot) {
    return get(key, Keys.NO_ROOM, snapshot) != NOT_FOUND;
  }

  /** The value of a key, or null if there is none; takes what remains in the buffer. */
  public byte @Nullable [] get(ByteBuffer key) {
    return get(Keys.bytes(key));
  }

  /** The value of a key, or null if there is none. */
  public byte @Nullable [] get(byte[] key) {
    return get(key, reads.latest());
  }

  /** The value of a key as of a snapshot, or null if there was none. */
  public byte @Nullable [] get(byte[] key, Snapshot snapshot) {
    int read = enter(snapshot);
    try {
      return get(key, snapshot.moment());
    } finally {
      snapshot.exit(read);
    }
  }

  /** As {@link #get(byte[])}, as of a moment that is registered. */
  byte @Nullable [] get(byte[] key, Moment at) {
    checkKey(key);
    return reads.get(key, at);
  }

  /**
   * Puts the value of a key into {@code target}, if it fits what remains there; its position then
   * advances. Allocates nothing.
   *
   * @return the value's length, or {@link #NOT_FOUND}; nothing was copied if it is larger than what
   *     remains
   */
  public int get(byte[] key, ByteBuffer target) {
    Targets.check(target);
    return get(key, target, reads.latest());
  }

  /** As {@link #get(byte[], ByteBuffer)}; the key is what remains in its buffer. */
  public int get(ByteBuffer key, ByteBuffer target) {
    return get(Keys.bytes(key), target);
  }

  /** As {@link #get(byte[], ByteBuffer)}, as of a snapshot. */
  public int get(byte[] key, ByteBuffer target, Snapshot snapshot) {
    Targets.check(target);
    int read = enter(snapshot);
    try {
      return get(key, target, snapshot.moment());
    } finally {
      snapshot.exit(read);
    }
  }

  int get(byte[] key, ByteBuffer target, Moment at) {
    checkKey(key);
    return advance(target, reads.get(key, at, target));
  }

  private static int advance(ByteBuffer target, int length) {
    if (length > 0 && length <= target.remaining()) {
      target.position(target.position() + length);
    }
    return length;
  }

  /**
   * Looks at the value of a key without making an array of it. A large value in an SSTable is shown
   * where it lies, small ones and those that are not in one piece in a copy.
   *
   * <p>While {@code look} runs, the memory it looks at is kept, which writers may be waiting for:
   * it should be short, and must not close the store, drop the tree, or begin a transaction. It may
   * read other keys.
   *
   * @return what {@code look} made of the value, or null if there is no such key
   */
  public <T> @Nullable T read(byte[] key, ValueReader<T> look) {
    Objects.requireNonNull(look, "look");
    checkKey(key);
    return reads.read(key, look);
  }

  /** As {@link #read(byte[], ValueReader)}; the key is what remains in its buffer. */
  public <T> @Nullable T read(ByteBuffer key, ValueReader<T> look) {
    return read(Keys.bytes(key), look);
  }

  /**
   * The values of many keys, in their order, null for those that are not there. All are as they
   * were at one moment of this call, and cost less than one by one.
   */
  public List<byte @Nullable []> multiGet(List<byte[]> keys) {
    try (Snapshot snapshot = snapshot()) {
      return multiGet(keys, snapshot);
    }
  }

  private Snapshot snapshot() {
    int slot = operations.enter();
    try {
      return Snapshot.take(session);
    } finally {
      operations.exit(slot);
    }
  }

  /** As {@link #multiGet(List)}, as of a snapshot. */
  public List<byte @Nullable []> multiGet(List<byte[]> keys, Snapshot snapshot) {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(snapshot, "snapshot");
    keys.forEach(this::checkKey);
    int slot = operations.enter(handle);
    try {
      int read = enter(snapshot);
      try {
        return reads.multiGet(keys, snapshot.moment());
      } finally {
        snapshot.exit(read);
      }
    } finally {
      operations.exit(slot);
    }
  }

  /** A cursor over all entries as they are now. */
  public Cursor cursor() {
    return cursor(CursorOptions.all());
  }

  /**
   * A cursor over the entries the options say.
   *
   * @throws IllegalArgumentException if they ask for a prefix, and the tree has an order of its own
   */
  public Cursor cursor(CursorOptions options) {
    Objects.requireNonNull(options, "options");
    int slot = operations.enter(handle);
    try {
      Bounds bounds = options.bounds(handle.order());
      Snapshot snapshot = options.snapshot();
      Snapshots registry = session.engine().snapshots();
      Moment at =
          snapshot != null ? snapshot.retain(session) : registry.moment(registry.register());
      return new Cursor(session.cursors().open(handle, bounds, at, null, null));
    } finally {
      operations.exit(slot);
    }
  }

  /**
   * Lets disk merges of this tree leave out entries that no reader counts: for layers above, like
   * datasets, whose readers look at a record of another tree to tell whether an entry counts.
   *
   * <p>Whoever makes a record count an entry has to put that entry, new or not, in the same
   * transaction. Readers have to look at both trees as of one moment, or at the record later.
   * Values of entries that do not count are not to be relied on: they may be gone once a cursor has
   * moved there. Merges ask for as much as is known without reading from disk; records that are
   * neither in write memory nor in the buffer cache are not looked at. Not stored: it lasts until
   * the store is closed, or until the filter throws.
   *
   * @throws IllegalArgumentException if one of the trees is not logged, or of another store: after
   *     a crash they might not stand at one moment; or if one has a merge operator
   */
  public void setMergeFilter(Tree records, MergeFilter filter) {
    Objects.requireNonNull(records, "records");
    Objects.requireNonNull(filter, "filter");
    if (records.session != session
        || !RecordFilter.fits(handle)
        || !RecordFilter.fits(records.handle)) {
      String both = "trees '" + name() + "' and '" + records.name();
      throw new IllegalArgumentException(
          both + "' must both be logged, without merge operator, and belong to one store");
    }
    handle.checkOpen();
    handle.setFilter(new RecordFilter(handle, records.handle, filter, memory));
  }

  /** Begins a read from a snapshot; see {@link Snapshot#enter}. */
  private int enter(Snapshot snapshot) {
    return Objects.requireNonNull(snapshot, "snapshot").enter(session);
  }

  void checkKey(byte[] key) {
    Keys.checkKey(Objects.requireNonNull(key, "key").length, maxKeyBytes());
    Keys.checkOrder(handle.order(), key);
  }

  void checkValue(byte[] value) {
    Keys.checkValue(Objects.requireNonNull(value, "value").length, maxValueBytes());
  }

  /** Passes if the bounds of a range are keys, or null. */
  void checkRange(byte @Nullable [] from, byte @Nullable [] to) {
    checkKey(from == null ? Keys.NO_VALUE : from);
    checkKey(to == null ? Keys.NO_VALUE : to);
  }

  @Override
  public String toString() {
    return "tree " + name();
  }
}
