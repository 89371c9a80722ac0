package io.isobardb.lsm;

import io.isobardb.lsm.option.Runs;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One LSM-tree of a store: an ordered map from keys to values.
 *
 * <pre>{@code
 * Tree years = store.openTree("years");
 * years.put("ada".getBytes(UTF_8), "1815".getBytes(UTF_8));
 * byte[] born = years.get("ada".getBytes(UTF_8)); // null if there is none
 * int first = years.read("ada".getBytes(UTF_8), year -> year.get(0)); // without an array
 * years.deleteRange("a".getBytes(UTF_8), "b".getBytes(UTF_8));
 * }</pre>
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
 * DiskFullException} while there is no room on disk, {@code WriteStalledException} for a write that
 * would wait longer than {@link StoreOptions#writeTimeout}, {@code CorruptionException} for a read
 * of damaged data.
 */
public interface Tree {
  /** What {@link #get(byte[], ByteBuffer)} answers if there is no such key. */
  int NOT_FOUND = -1;

  /** {@return its name, which {@link Store#renameTree} changes} */
  String name();

  /**
   * {@return write memory that the tree keeps when memory runs short, in bytes; see {@link
   * #setWriteMemoryFloor}}
   */
  long writeMemoryFloor();

  /**
   * Sets how much write memory others do not take from this tree when memory runs short: up to so
   * much its writes stay in memory until the log is full, or somebody asks for a flush. A tree has
   * it only if it is written to; it is not set aside. If the floors of all trees are more than half
   * of the write memory, each has its part of that half. Not stored: it lasts until the store is
   * closed. Without effect if {@code experiment.writeMemoryAllocation} gives trees shares of their
   * own.
   *
   * @param bytes 0, as at first, to the store's memory budget, as it is now
   * @throws IllegalArgumentException if it is less or more
   */
  void setWriteMemoryFloor(long bytes);

  /** {@return how much the tree's writes count; see {@link #setWriteWeight}} */
  double writeWeight();

  /**
   * Sets how much the bytes that flushes and merges write of this tree count against those of
   * others. A tree gets write memory in proportion to its writes times its weight. The memory tuner
   * multiplies the cost of its writes by the weight. Not stored: it lasts until the store is
   * closed.
   *
   * @param weight 1, as at first, if it counts as others do; 0 to 1,000,000
   * @throws IllegalArgumentException if it is anything else
   */
  void setWriteWeight(double weight);

  /** {@return what is stored of how the tree was made} */
  TreeOptions options();

  /** {@return how long entries live that are written now; zero for ever} */
  Duration timeToLive();

  /**
   * Sets how long entries live; see {@link TreeOptions.Builder#timeToLive}. It is stored, durably,
   * when this returns. What is written already keeps its time.
   *
   * @param duration a millisecond to 36,500 days, or zero for ever; what is below a millisecond
   *     does not count
   * @throws IllegalArgumentException if it is anything else
   */
  void setTimeToLive(Duration duration);

  /**
   * {@return how many runs each level may have now: what was set, or what the store has chosen for
   * a tree of which nobody has said it}
   */
  Runs runs();

  /**
   * Sets how many runs each level may have; see {@link TreeOptions.Builder#runs}. It is stored,
   * durably, when this returns. Nothing is rewritten for it: with more runs merges wait, with fewer
   * those that are too many are merged when there is nothing more urgent to merge.
   *
   * @param runs from the top level down; the first number holds for all levels above, too
   * @throws IllegalArgumentException if {@link #maxSpace} does not allow them; the message has the
   *     least one that does
   */
  void setRuns(Runs runs);

  /**
   * {@return how many times the size of its last level all levels of the tree may have together}
   */
  double maxSpace();

  /**
   * Sets that; see {@link TreeOptions.Builder#maxSpace}. It is stored, durably, when this returns.
   *
   * @param times 1.01 to 10, or 0 for {@link StoreOptions#maxSpace}
   * @throws IllegalArgumentException if it is none of these, or {@link #runs} need more
   */
  void setMaxSpace(double times);

  /** {@return how pages are stored on disk} */
  Compression compression();

  /**
   * Sets how pages are stored on disk; see {@link TreeOptions.Builder#compression}. It is stored,
   * durably, when this returns. SSTables that are there stay as they are until merges rewrite them.
   *
   * @param compression for all levels, or with another codec for the last one
   * @throws IllegalArgumentException if this program has no codec of that name; the message has the
   *     nearest name, or the artifact to add
   */
  void setCompression(Compression compression);

  /** {@return when what is put now, without an instant, expires; null if it does not} */
  @Nullable Instant expiryNow();

  /** {@return whether entries of the tree expire, or did since the store was opened} */
  boolean hasExpiring();

  /**
   * {@return about how many entries there are} Old versions and deleted ones may count, and what
   * was deleted may be taken off twice: it may be 0 though there are entries. Reads nothing.
   */
  long approximateEntries();

  /**
   * About how many bytes the keys of a range have on disk; reads nothing. What is in memory does
   * not count.
   *
   * @param from the first key, null for no bound
   * @param to the key behind the last one, null for no bound
   * @return an estimate, 0 if nothing of the range is on disk
   */
  long approximateBytes(byte @Nullable [] from, byte @Nullable [] to);

  /**
   * Flushes the tree, merges a range down to its last level, drops there what is deleted or has
   * expired, and makes one SSTable of small neighbours; returns when that is done. What is written
   * meanwhile does not count. Merges run by themselves: this is for those who want the space at a
   * time of their own. It leaves the device to clients as other merges do, so it takes longer while
   * they are busy.
   *
   * @param from the first key, null for no bound
   * @param to the key behind the last one, null for no bound; if it is {@code from}, nothing is
   *     done
   * @throws IllegalArgumentException if {@code from} is behind {@code to}
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room to merge
   * @throws io.isobardb.lsm.error.StoreFailedException if the store takes no more writes
   */
  void compact(byte @Nullable [] from, byte @Nullable [] to);

  /** {@return whether its writes go to the log; see {@link TreeOptions}} */
  boolean isLogged();

  /** {@return the longest key, in bytes} */
  int maxKeyBytes();

  /**
   * {@return the longest value, in bytes: 1 GiB at most, and no more than a quarter of the write
   * memory}
   */
  int maxValueBytes();

  /**
   * Sets a key, with the store's default durability.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param value 0 to {@link #maxValueBytes} bytes, which replace what was there
   */
  void put(byte[] key, byte[] value);

  /**
   * Sets a key. What the write survives when this returns says {@link Durability}.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param value 0 to {@link #maxValueBytes} bytes
   * @param durability what the write survives once this returns
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; nothing was written
   * @throws io.isobardb.lsm.error.StoreFailedException if the log failed; the outcome is unknown
   */
  void put(byte[] key, byte[] value, Durability durability);

  /**
   * As {@link #put(byte[], byte[], Instant, Durability)}, with the default durability.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param value 0 to {@link #maxValueBytes} bytes
   * @param expires from when on the key is absent; {@link Instant#MAX} for never
   */
  void put(byte[] key, byte[] value, Instant expires);

  /**
   * Sets a key until an instant, whatever the tree's time to live is. From that millisecond on it
   * is absent, by the store's clock. That follows the machine's: if it is set back by up to a
   * minute the store's stands still, and what is put meanwhile may live up to a minute longer.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param value 0 to {@link #maxValueBytes} bytes
   * @param expires {@link Instant#MAX} for never
   * @param durability what the write survives once this returns
   */
  void put(byte[] key, byte[] value, Instant expires, Durability durability);

  /**
   * Sets a key; takes what remains in the buffers, whose positions stay.
   *
   * @param key its remaining bytes are the key; its position stays
   * @param value likewise; both may be direct or on the heap
   */
  void put(ByteBuffer key, ByteBuffer value);

  /**
   * Sets a key; takes what remains in the buffers, whose positions stay.
   *
   * @param key its remaining bytes are the key; its position stays
   * @param value likewise; both may be direct or on the heap
   * @param durability what the write survives once this returns
   */
  void put(ByteBuffer key, ByteBuffer value, Durability durability);

  /**
   * Removes a key, whether it is there or not.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   */
  void delete(byte[] key);

  /**
   * Removes a key, whether it is there or not.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param durability what the write survives once this returns
   */
  void delete(byte[] key, Durability durability);

  /**
   * Removes a key, whether it is there or not; takes what remains in the buffer.
   *
   * @param key its remaining bytes are the key; its position stays
   */
  void delete(ByteBuffer key);

  /**
   * Removes a key, whether it is there or not; takes what remains in the buffer.
   *
   * @param key its remaining bytes are the key; its position stays
   * @param durability what the write survives once this returns
   */
  void delete(ByteBuffer key, Durability durability);

  /**
   * Merges an operand into the value of a key, without reading it: reads give what the tree's
   * {@link TreeOptions#mergeOperator} makes of the value and the operands since, in the order of
   * the writes.
   *
   * <p>What had expired when the operand was written does not count. The merged value expires when
   * its last operand does, by {@link #timeToLive}, whatever was said of the value below it.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param operand in the form that the operator defines, 0 to {@link #maxValueBytes} bytes
   * @throws IllegalArgumentException if the tree has no merge operator, its operator refuses the
   *     operand, or key or operand exceed their limit
   */
  void merge(byte[] key, byte[] operand);

  /**
   * As {@link #merge(byte[], byte[])}. What it survives when it returns says {@link Durability}.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param operand in the form that the operator defines, 0 to {@link #maxValueBytes} bytes
   * @param durability what the write survives once this returns
   */
  void merge(byte[] key, byte[] operand, Durability durability);

  /**
   * As {@link #deleteRange(byte[], byte[], Durability)}, with the default durability.
   *
   * @param from the first key that goes, null for no bound
   * @param to the key behind the last one, null for no bound
   */
  void deleteRange(byte @Nullable [] from, byte @Nullable [] to);

  /**
   * Removes all keys of a range, in one step, at the cost of one small write. SSTables that lie
   * wholly in it go unread, once no reader needs them and the log is synced. Each takes some
   * hundred bytes of the Java heap until merges have rewritten what it hides. All of a store may
   * take an eighth of its memory budget: then one more waits for a flush or a merge.
   *
   * @param from the first key that goes, null for no bound
   * @param to the key behind the last one, null for no bound; if it is {@code from}, none goes
   * @param durability what the removal survives once this returns
   * @throws IllegalArgumentException if {@code from} is behind {@code to}
   * @throws io.isobardb.lsm.error.TooManyRangeDeletesException if no flush or merge would make
   *     room; batches and transactions with range deletes throw it when they are written
   */
  void deleteRange(byte @Nullable [] from, byte @Nullable [] to, Durability durability);

  /**
   * As {@link #putIfAbsent(byte[], byte[], Durability)}, with the store's default durability.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param value 0 to {@link #maxValueBytes} bytes
   * @return the value that is there, and stays; null if {@code value} was written
   */
  byte @Nullable [] putIfAbsent(byte[] key, byte[] value);

  /**
   * Sets a key that is not there, in one step: no other write of the key comes between the look and
   * the write.
   *
   * <p>From the first call of this method or {@link #compareAndSet} on, plain writes lock their
   * keys, as they do from the first transaction on; see {@link Store#begin}.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param value what to write if there is none, 0 to {@link #maxValueBytes} bytes
   * @param durability what the write survives once this returns; of no matter if there is a value
   *     already
   * @return the value that is there, and stays; null if there was none, and {@code value} is there
   *     now
   * @throws io.isobardb.lsm.error.LockTimeoutException if the key stays locked for a second
   */
  byte @Nullable [] putIfAbsent(byte[] key, byte[] value, Durability durability);

  /**
   * As {@link #compareAndSet(byte[], byte[], byte[], Durability)}, with the default durability.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param expected null if the key must not be there
   * @param value null to remove the key
   * @return whether it had the value expected; if not, nothing was written
   */
  boolean compareAndSet(byte[] key, byte @Nullable [] expected, byte @Nullable [] value);

  /**
   * Sets or removes a key if it has the value expected, in one step, as {@link #putIfAbsent} does.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param expected null if the key must not be there
   * @param value null to remove the key
   * @param durability what the write survives once this returns; of no matter if nothing is written
   * @return whether it had the value expected; if not, nothing was written
   * @throws io.isobardb.lsm.error.LockTimeoutException if the key stays locked for a second
   */
  boolean compareAndSet(
      byte[] key, byte @Nullable [] expected, byte @Nullable [] value, Durability durability);

  /**
   * {@return whether there is such a key}
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   */
  boolean contains(byte[] key);

  /**
   * {@return whether there is such a key; takes what remains in the buffer}
   *
   * @param key its remaining bytes are the key; its position stays
   */
  boolean contains(ByteBuffer key);

  /**
   * {@return whether there was such a key as of a snapshot}
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param snapshot of this store, and not closed
   */
  boolean contains(byte[] key, Snapshot snapshot);

  /**
   * {@return the value of a key, or null if there is none; takes what remains in the buffer}
   *
   * @param key its remaining bytes are the key; its position stays
   */
  byte @Nullable [] get(ByteBuffer key);

  /**
   * {@return the value of a key, or null if there is none}
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   */
  byte @Nullable [] get(byte[] key);

  /**
   * {@return the value of a key as of a snapshot, or null if there was none}
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param snapshot of this store, and not closed
   */
  byte @Nullable [] get(byte[] key, Snapshot snapshot);

  /**
   * Puts the value of a key into {@code target}, if it fits what remains there; its position then
   * advances. Allocates nothing.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param target direct or on the heap, not read-only
   * @return the value's length, or {@link #NOT_FOUND}; nothing was copied if it is larger than what
   *     remains
   */
  int get(byte[] key, ByteBuffer target);

  /**
   * As {@link #get(byte[], ByteBuffer)}; the key is what remains in its buffer.
   *
   * @param key its remaining bytes are the key; its position stays
   * @param target direct or on the heap, not read-only
   * @return the value's length, or {@link #NOT_FOUND}
   */
  int get(ByteBuffer key, ByteBuffer target);

  /**
   * As {@link #get(byte[], ByteBuffer)}, as of a snapshot.
   *
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param target direct or on the heap, not read-only
   * @param snapshot of this store, and not closed
   * @return the value's length then, or {@link #NOT_FOUND}
   */
  int get(byte[] key, ByteBuffer target, Snapshot snapshot);

  /**
   * Looks at the value of a key without making an array of it. A large value in an SSTable is shown
   * where it lies, small ones and those that are not in one piece in a copy.
   *
   * <p>While {@code look} runs, the memory it looks at is kept, which writers may be waiting for:
   * it should be short, and write nothing. It may read other keys. It must do nothing that waits
   * for calls under way: close or copy the store, create, rename or drop a tree, begin a
   * transaction, or commit a bulk load.
   *
   * @param <T> what is made of a value; must not be its buffer
   * @param key 0 to {@link #maxKeyBytes} bytes
   * @param look called once, on this thread, if there is such a key; what it throws, this throws
   * @return what {@code look} made of the value, or null if there is no such key
   */
  <T> @Nullable T read(byte[] key, ValueReader<T> look);

  /**
   * As {@link #read(byte[], ValueReader)}; the key is what remains in its buffer.
   *
   * @param <T> what is made of a value; must not be its buffer
   * @param key its remaining bytes are the key; its position stays
   * @param look called once, on this thread, if there is such a key
   * @return what {@code look} made of the value, or null if there is no such key
   */
  <T> @Nullable T read(ByteBuffer key, ValueReader<T> look);

  /**
   * {@return the values of many keys, in their order, null for those that are not there} All are as
   * they were at one moment of this call, and cost less than one by one.
   *
   * @param keys in any order, each 0 to {@link #maxKeyBytes} bytes; one may come twice
   */
  List<byte @Nullable []> multiGet(List<byte[]> keys);

  /**
   * As {@link #multiGet(List)}, as of a snapshot.
   *
   * @param keys in any order, each 0 to {@link #maxKeyBytes} bytes; one may come twice
   * @param snapshot of this store, and not closed
   * @return the values then, in the order of the keys; null for those that were not there
   */
  List<byte @Nullable []> multiGet(List<byte[]> keys, Snapshot snapshot);

  /** {@return a cursor over all entries as they are now} */
  default Cursor cursor() {
    return cursor(CursorOptions.all());
  }

  /**
   * {@return a cursor over the entries the options say}
   *
   * @param options which entries, as of which moment
   * @throws IllegalArgumentException if they ask for a prefix, and the tree has an order of its own
   */
  Cursor cursor(CursorOptions options);

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
   * @param records the tree whose records tell which entries of this one count; of the same store
   * @param filter called by threads of merges; must be quick and safe for threads
   * @throws IllegalArgumentException if one of the trees is not logged, or of another store: after
   *     a crash they might not stand at one moment; or if one has a merge operator
   */
  void setMergeFilter(Tree records, MergeFilter filter);
}
