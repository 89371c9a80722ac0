package io.isobardb.lsm.store;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.MergeFilter;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.ValueReader;
import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.Committer.Writer;
import io.isobardb.lsm.commit.Latencies;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.commit.WriteGate;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.read.Bounds;
import io.isobardb.lsm.read.PointReader;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.state.Adjustments;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeSize;
import io.isobardb.lsm.transaction.OwnWrites;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A tree of an open store: checks what it is given, and reads and writes within operations of the
 * store.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class OpenTree implements Tree {
  private final OpenStore store;
  private final TreeHandle handle;
  private final Operations operations;
  private final TreeReads reads;
  private final LockedWrites lockedWrites;
  private final Committer committer;
  private final Transactions transactions;
  private final Latencies latencies;
  private final StoreClock time;
  private final Durability byDefault;
  private final long writeTimeoutNanos;
  private final int maxKeyBytes;
  private final WriteGate gate;
  private final PointReader reader;
  private final RecorderSlot recorders;

  /** The order of the keys if it is a user's, and may refuse some; else null. */
  private final @Nullable KeyOrder ownOrder;

  OpenTree(OpenStore store, TreeHandle handle) {
    this.store = store;
    this.handle = handle;
    this.operations = store.operations();
    this.reads = new TreeReads(store, handle);
    this.lockedWrites = new LockedWrites(store, handle);
    this.committer = store.parts().committer();
    this.transactions = store.transactions();
    this.latencies = store.engine().latencies();
    this.time = store.engine().snapshots().time();
    this.byDefault = store.options().durability();
    this.writeTimeoutNanos = WaitLimit.nanos(store.options().writeTimeout());
    this.maxKeyBytes = store.pageSize() / 4;
    this.gate = store.engine().gate();
    this.reader = store.parts().reader();
    this.recorders = store.recorders();
    this.ownOrder = handle.order().isBytes() ? null : handle.order();
  }

  /**
   * A tree as the engine knows it.
   *
   * @param user what is to use it, for the message
   * @throws IllegalArgumentException if it is no tree of this store
   */
  static OpenTree of(Tree tree, OpenStore store, String user) {
    if (Objects.requireNonNull(tree, "tree") instanceof OpenTree open && open.store == store) {
      return open;
    }
    throw new IllegalArgumentException(
        "tree '" + tree.name() + "' belongs to another store than the " + user);
  }

  /** The store that it is in. */
  public OpenStore store() {
    return store;
  }

  /** The tree below. */
  public TreeHandle handle() {
    return handle;
  }

  @Override
  public String name() {
    return handle.name();
  }

  @Override
  public long writeMemoryFloor() {
    return handle.priority().floorBytes();
  }

  @Override
  public void setWriteMemoryFloor(long bytes) {
    store.engine().catalog().setFloor(handle, bytes, store.memoryBudget());
  }

  @Override
  public double writeWeight() {
    return handle.priority().weight();
  }

  @Override
  public void setWriteWeight(double weight) {
    handle.setWeight(weight, OptionLimits.MOST_WEIGHT);
  }

  @Override
  public TreeOptions options() {
    return handle.settings().options(handle.adjustments());
  }

  @Override
  public Duration timeToLive() {
    return Duration.ofMillis(handle.timeToLive());
  }

  @Override
  public void setTimeToLive(Duration duration) {
    Objects.requireNonNull(duration, "duration");
    set(TreeOptions.builder().timeToLive(duration).build());
  }

  @Override
  public Runs runs() {
    return handle.shape().runs();
  }

  @Override
  public void setRuns(Runs runs) {
    set(TreeOptions.builder().runs(Objects.requireNonNull(runs, "runs")).build());
  }

  @Override
  public double maxSpace() {
    return handle.shape().maxSpace();
  }

  @Override
  public void setMaxSpace(double times) {
    set(TreeOptions.builder().maxSpace(times).build());
  }

  @Override
  public Compression compression() {
    return handle.compression();
  }

  @Override
  public void setCompression(Compression compression) {
    set(
        TreeOptions.builder()
            .compression(Objects.requireNonNull(compression, "compression"))
            .build());
  }

  @Override
  public @Nullable Instant expiryNow() {
    return Expiry.instant(expiry());
  }

  @Override
  public boolean hasExpiring() {
    return handle.expires();
  }

  /** As {@link #with}, and durable even if the tree was created with just that a moment ago. */
  private void set(TreeOptions given) {
    with(given);
    adjust(UnaryOperator.identity());
  }

  private void adjust(UnaryOperator<Adjustments> change) {
    StackRoom.check();
    int slot = operations.enter(handle);
    try {
      store.parts().adjust(handle, change);
    } catch (IOException e) {
      throw Operations.failed("adjusting tree '" + name() + "'", e);
    } finally {
      operations.exit(slot);
    }
  }

  /** This, once what these options set, and can be changed, is set. */
  OpenTree with(TreeOptions given) {
    operations.checkOpen();
    handle.checkOpen();
    TreeOptions stored = options();
    boolean lives = given.changesTimeToLive(stored);
    boolean runs = given.changesRuns(stored);
    boolean space = given.changesMaxSpace(stored);
    boolean packs = given.changesCompression(stored);
    if (lives || runs || space || packs) {
      adjust(
          before ->
              new Adjustments(
                  lives ? given.timeToLive().toMillis() : before.timeToLive(),
                  runs ? given.runs() : before.runs(),
                  space ? given.maxSpace() : before.maxSpace(),
                  packs ? handle.settings().other(given.compression()) : before.compression()));
    }
    if (Adjustments.givesRuns(given)) {
      // Not before: a change that is refused leaves the store's own choice.
      handle.keepRuns();
    }
    return this;
  }

  @Override
  public long approximateEntries() {
    return operations.ask(handle, TreeSize::entries);
  }

  @Override
  public long approximateBytes(byte @Nullable [] from, byte @Nullable [] to) {
    KeyOrder order = handle.order();
    Keys.checkBound(order, from);
    Keys.checkBound(order, to);
    return operations.ask(handle, state -> TreeSize.diskBytes(state, order, from, to));
  }

  @Override
  public void compact(byte @Nullable [] from, byte @Nullable [] to) {
    checkRange(from, to);
    store.merges().compact(handle, Keys.copy(from), Keys.copy(to));
  }

  @Override
  public boolean isLogged() {
    return handle.settings().logged();
  }

  @Override
  public int maxKeyBytes() {
    return maxKeyBytes;
  }

  @Override
  public int maxValueBytes() {
    return gate.maxValueBytes();
  }

  @Override
  public void put(byte[] key, byte[] value) {
    put(key, value, byDefault);
  }

  @Override
  public void put(byte[] key, byte[] value, Durability durability) {
    boolean sync = isSync(durability);
    checkKey(key);
    checkValue(value);
    write(begin(Kind.PUT, key, value), sync);
  }

  @Override
  public void put(byte[] key, byte[] value, Instant expires) {
    put(key, value, expires, byDefault);
  }

  @Override
  public void put(byte[] key, byte[] value, Instant expires, Durability durability) {
    boolean sync = isSync(durability);
    checkKey(key);
    checkValue(value);
    long expiry = expiry(expires);
    Writer writer = begin(Kind.PUT, key, value);
    writer.write().expiring(expiry);
    write(writer, sync);
  }

  @Override
  public void put(ByteBuffer key, ByteBuffer value) {
    put(key, value, byDefault);
  }

  @Override
  public void put(ByteBuffer key, ByteBuffer value, Durability durability) {
    boolean sync = isSync(durability);
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    StackRoom.check();
    Keys.checkKey(key.remaining(), maxKeyBytes());
    if (ownOrder != null) {
      checkKey(Keys.bytes(key));
    }
    Keys.checkValue(value.remaining(), maxValueBytes());
    Writer writer = committer.writer();
    Keys.put(writer.write(), key, value);
    expire(writer);
    write(writer, sync);
  }

  private static boolean isSync(Durability durability) {
    return Objects.requireNonNull(durability, "durability") == Durability.SYNC;
  }

  @Override
  public void delete(byte[] key) {
    delete(key, byDefault);
  }

  @Override
  public void delete(byte[] key, Durability durability) {
    boolean sync = isSync(durability);
    checkKey(key);
    write(begin(Kind.DELETE, key, Keys.NO_VALUE), sync);
  }

  @Override
  public void delete(ByteBuffer key) {
    delete(Keys.bytes(key));
  }

  @Override
  public void delete(ByteBuffer key, Durability durability) {
    delete(Keys.bytes(key), durability);
  }

  @Override
  public void merge(byte[] key, byte[] operand) {
    merge(key, operand, byDefault);
  }

  @Override
  public void merge(byte[] key, byte[] operand, Durability durability) {
    boolean sync = isSync(durability);
    checkMerge(key, operand);
    write(begin(Kind.MERGE, key, Operands.of(operand)), sync);
  }

  /** Passes if an operand can be merged into a key. */
  void checkMerge(byte[] key, byte[] operand) {
    checkKey(key);
    Keys.checkValue(Objects.requireNonNull(operand, "operand").length, maxValueBytes());
    Keys.checkOperand(handle, operand);
  }

  @Override
  public void deleteRange(byte @Nullable [] from, byte @Nullable [] to) {
    deleteRange(from, to, byDefault);
  }

  @Override
  public void deleteRange(byte @Nullable [] from, byte @Nullable [] to, Durability durability) {
    checkRange(from, to);
    boolean sync = isSync(durability);
    byte[] first = Keys.copy(from);
    byte[] end = Keys.copy(to);
    if (RangeDelete.isEmpty(handle.order(), first, end)) {
      return;
    }
    Writer writer = committer.writer();
    writer.write().ofRange(first, end);
    write(writer, sync);
    if (sync) {
      // Whole SSTables may be without use now. Else it counts for merges later: IdleWatch asks.
      store.parts().merger().request(handle);
    }
  }

  @Override
  public byte @Nullable [] putIfAbsent(byte[] key, byte[] value) {
    return putIfAbsent(key, value, byDefault);
  }

  @Override
  public byte @Nullable [] putIfAbsent(byte[] key, byte[] value, Durability durability) {
    boolean sync = isSync(durability);
    checkKey(key);
    checkValue(value);
    return writeIf(begin(Kind.PUT, key, value), Objects::isNull, sync).before();
  }

  @Override
  public boolean compareAndSet(byte[] key, byte @Nullable [] expected, byte @Nullable [] value) {
    return compareAndSet(key, expected, value, byDefault);
  }

  @Override
  public boolean compareAndSet(
      byte[] key, byte @Nullable [] expected, byte @Nullable [] value, Durability durability) {
    boolean sync = isSync(durability);
    checkKey(key);
    if (value != null) {
      checkValue(value);
    }
    Writer writer =
        value == null ? begin(Kind.DELETE, key, Keys.NO_VALUE) : begin(Kind.PUT, key, value);
    return writeIf(writer, before -> Arrays.equals(before, expected), sync).done();
  }

  private LockedWrites.Outcome writeIf(
      Writer writer, Predicate<byte @Nullable []> condition, boolean sync) {
    writer.limit().begin(writeTimeoutNanos, name());
    return lockedWrites.writeIf(writer, condition, sync);
  }

  @Override
  public boolean contains(byte[] key) {
    return get(key, Keys.NO_ROOM, reader.latest()) != NOT_FOUND;
  }

  @Override
  public boolean contains(ByteBuffer key) {
    return contains(Keys.bytes(key));
  }

  @Override
  public boolean contains(byte[] key, Snapshot snapshot) {
    return get(key, Keys.NO_ROOM, snapshot) != NOT_FOUND;
  }

  @Override
  public byte @Nullable [] get(ByteBuffer key) {
    return get(Keys.bytes(key));
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    return get(key, reader.latest());
  }

  @Override
  public byte @Nullable [] get(byte[] key, Snapshot snapshot) {
    RegisteredSnapshot registered = RegisteredSnapshot.of(snapshot);
    int read = registered.enter(store);
    try {
      return get(key, registered.moment());
    } finally {
      registered.exit(read);
    }
  }

  /** As {@link #get(byte[])}, as of a moment that is registered. */
  byte @Nullable [] get(byte[] key, Moment at) {
    checkKey(key);
    byte[] value = reader.getArray(handle, key, at);
    recorders.onGet(handle, key, value);
    return value;
  }

  @Override
  public int get(byte[] key, ByteBuffer target) {
    Targets.check(target);
    return get(key, target, reader.latest());
  }

  @Override
  public int get(ByteBuffer key, ByteBuffer target) {
    return get(Keys.bytes(key), target);
  }

  @Override
  public int get(byte[] key, ByteBuffer target, Snapshot snapshot) {
    Targets.check(target);
    RegisteredSnapshot registered = RegisteredSnapshot.of(snapshot);
    int read = registered.enter(store);
    try {
      return get(key, target, registered.moment());
    } finally {
      registered.exit(read);
    }
  }

  int get(byte[] key, ByteBuffer target, Moment at) {
    checkKey(key);
    int length = reader.get(handle, key, at, target);
    recorders.onGet(handle, key, length);
    return advance(target, length);
  }

  private static int advance(ByteBuffer target, int length) {
    if (length > 0 && length <= target.remaining()) {
      target.position(target.position() + length);
    }
    return length;
  }

  @Override
  public <T> @Nullable T read(byte[] key, ValueReader<T> look) {
    Objects.requireNonNull(look, "look");
    checkKey(key);
    return reads.read(key, look);
  }

  @Override
  public <T> @Nullable T read(ByteBuffer key, ValueReader<T> look) {
    return read(Keys.bytes(key), look);
  }

  @Override
  public List<byte @Nullable []> multiGet(List<byte[]> keys) {
    try (Snapshot snapshot = store.snapshot()) {
      return multiGet(keys, snapshot);
    }
  }

  @Override
  public List<byte @Nullable []> multiGet(List<byte[]> keys, Snapshot snapshot) {
    Objects.requireNonNull(keys, "keys");
    RegisteredSnapshot registered = RegisteredSnapshot.of(snapshot);
    StackRoom.check(); // there may be no keys
    keys.forEach(this::checkKey);
    int slot = operations.enter(handle);
    try {
      int read = registered.enter(store);
      try {
        return reads.multiGet(keys, registered.moment());
      } finally {
        registered.exit(read);
      }
    } finally {
      operations.exit(slot);
    }
  }

  @Override
  public Cursor cursor(CursorOptions options) {
    Objects.requireNonNull(options, "options");
    StackRoom.check();
    int slot = operations.enter(handle);
    try {
      Bounds bounds = Keys.bounds(options, handle.order());
      Snapshot snapshot = options.snapshot();
      Snapshots registry = store.engine().snapshots();
      Moment at =
          snapshot != null
              ? RegisteredSnapshot.of(snapshot).retain(store)
              : registry.moment(registry.register());
      return store.cursors().open(handle, bounds, at, null, null);
    } finally {
      operations.exit(slot);
    }
  }

  @Override
  public void setMergeFilter(Tree records, MergeFilter filter) {
    Objects.requireNonNull(records, "records");
    Objects.requireNonNull(filter, "filter");
    if (!(records instanceof OpenTree open)
        || open.store != store
        || !RecordFilter.fits(handle)
        || !RecordFilter.fits(open.handle)) {
      String both = "trees '" + name() + "' and '" + records.name();
      throw new IllegalArgumentException(
          both + "' must both be logged, without merge operator, and belong to one store");
    }
    handle.checkOpen();
    handle.setFilter(new RecordFilter(handle, open.handle, filter, store.parts().memoryReader()));
  }

  /**
   * What the calling thread writes with, a key and a value in hand; it expires as the tree's do.
   */
  private Writer begin(int kind, byte[] key, byte[] value) {
    Writer writer = committer.writer();
    writer.write().of(kind, key, 0, key.length).value(value, 0, value.length);
    if (!Kind.isDelete(kind)) {
      expire(writer);
    }
    return writer;
  }

  /** Has what is in hand live as long as the tree's entries do. */
  private void expire(Writer writer) {
    if (handle.timeToLive() != 0) {
      writer.write().expiring(expiry());
    }
  }

  /** When what is put now expires, or {@link Expiry#NEVER}. */
  long expiry() {
    long millis = handle.timeToLive();
    return millis == 0 ? Expiry.NEVER : noted(Expiry.after(time.getAsLong(), millis));
  }

  /** When what expires at an instant does. */
  long expiry(Instant at) {
    return noted(time.expiry(Expiry.of(Objects.requireNonNull(at, "expires"))));
  }

  /** As it is; from now on something in the tree may expire. */
  long noted(long expiry) {
    if (expiry != Expiry.NEVER) {
      time.noteExpiring(handle);
    }
    return expiry;
  }

  /**
   * A put of a transaction.
   *
   * @param expiry {@link #noted}
   */
  OwnWrites.Write ownPut(byte[] value, long expiry) {
    // The transaction itself sees what it puts until it ends, but not what had expired before.
    return expiry != Expiry.NEVER && Expiry.isOver(expiry, time.getAsLong())
        ? OwnWrites.Write.DELETE
        : new OwnWrites.Write(Kind.PUT, value, expiry);
  }

  /** A merge of a transaction. */
  OwnWrites.Write ownMerge(byte[] operand) {
    return new OwnWrites.Write(Kind.MERGE, Operands.of(operand), expiry());
  }

  /** Writes what is in hand. */
  private void write(Writer writer, boolean sync) {
    long begun = latencies.begin(writer.number());
    writer.limit().begin(writeTimeoutNanos, name());
    try {
      int slot = operations.enter(handle);
      try {
        committer.admit(handle, writer);
        if (!transactions.inUse()) {
          long written = committer.write(handle, writer, slot);
          recorders.onWrite(handle, writer.write());
          if (sync) {
            committer.awaitDurable(written);
          }
          latencies.endWrite(begun);
          return;
        }
      } finally {
        operations.exit(slot);
      }
      lockedWrites.write(writer, sync);
      latencies.endWrite(begun);
    } finally {
      writer.give();
    }
  }

  void checkKey(byte[] key) {
    StackRoom.check();
    Keys.checkKey(Objects.requireNonNull(key, "key").length, maxKeyBytes());
    if (ownOrder != null) {
      Keys.checkOrder(ownOrder, key);
    }
  }

  void checkValue(byte[] value) {
    Keys.checkValue(Objects.requireNonNull(value, "value").length, maxValueBytes());
  }

  /** Passes if the bounds of a range are keys, or null. */
  void checkRange(byte @Nullable [] from, byte @Nullable [] to) {
    StackRoom.check();
    if (from != null) {
      checkKey(from);
    }
    if (to != null) {
      checkKey(to);
    }
  }

  @Override
  public String toString() {
    return "tree " + name();
  }
}
