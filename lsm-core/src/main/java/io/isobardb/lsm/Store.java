package io.isobardb.lsm;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.store.Opening;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * An embedded, ordered, durable key-value store: one directory, one log, one memory budget, many
 * trees.
 *
 * <pre>{@code
 * try (Store store = Store.open(Path.of("data"))) {
 *   Tree users = store.openTree("users");
 *   users.put("ada".getBytes(UTF_8), "1815".getBytes(UTF_8));
 *   byte[] born = users.get("ada".getBytes(UTF_8));
 * }
 * }</pre>
 *
 * <p>A write that has returned survives the end of the process, however it ends. What it survives
 * of the machine depends on its {@link Durability}, whose table says what survives what.
 *
 * <p>A call that finds less than 32 KB of its thread's stack throws {@link StackOverflowError} and
 * has done nothing.
 *
 * <p>Thread rule: all methods may be called by any thread. Close a store once you are done with it;
 * whatever was taken from it throws {@code StoreClosedException} from then on.
 */
public interface Store extends AutoCloseable {
  /**
   * Opens the store in a directory, or makes one there, with default options.
   *
   * @param directory of the default file system, no network file system; made if it is missing,
   *     with its parents
   * @return the open store, to be closed
   */
  static Store open(Path directory) {
    return open(directory, StoreOptions.defaults());
  }

  /**
   * Opens the store in a directory.
   *
   * @param directory of the default file system, no network file system; made if it is missing,
   *     with its parents
   * @param options how it is opened; a stored page size wins
   * @return the open store, to be closed
   * @throws io.isobardb.lsm.error.StoreLockedException if it is open already, here or in another
   *     process
   * @throws io.isobardb.lsm.error.FormatException if the directory is not a store, or of a newer
   *     format
   * @throws io.isobardb.lsm.error.CorruptionException if what recovery needs is damaged
   * @throws IllegalArgumentException if the memory budget exceeds what the JVM may have, or what
   *     its container has; if the {@code ioBudget} is not one that {@link IoBudget#of} gave; if the
   *     directory is in an archive or the like; or if there is no store yet, and it would lie
   *     within another one or within backups
   * @throws UncheckedIOException if a file can't be read or written, or the directory is missing
   *     and not to be made
   * @throws IllegalStateException if the JVM is ending, unless {@link StoreOptions#closeOnExit} is
   *     false
   */
  static Store open(Path directory, StoreOptions options) {
    return Opening.store(directory, options);
  }

  /**
   * Opens a store to be read only. Many processes may do that at the same time, each once, while
   * none has it open to write. Nothing in the directory is changed; no right to write is needed.
   *
   * <p>The store is as {@link #open} would show it. What is in the log is kept in memory: as much
   * as write memory can have, and the rest on the Java heap. SSTables of unlogged trees with
   * entries newer than the last checkpoint are written anew there, too. Both together take as much
   * of the heap as the memory budget, and no more than half of its maximum. Nothing is merged on
   * disk. All that would write throws {@code ReadOnlyException}; backups and {@link #checkpointTo}
   * work.
   *
   * @param directory of the default file system, no network file system
   * @param options as for {@link #open}; {@code createIfMissing} is of no matter
   * @return the open store, to be closed; it takes no writes
   * @throws io.isobardb.lsm.error.StoreLockedException if it is open to write, or open in this
   *     process
   * @throws io.isobardb.lsm.error.FormatException if the directory is not a store, or of a newer
   *     format
   * @throws io.isobardb.lsm.error.CorruptionException if what recovery needs is damaged
   * @throws IsobarException if the log is longer than both; the message has a budget that is enough
   * @throws IllegalArgumentException as for {@link #open(Path, StoreOptions)}
   * @throws UncheckedIOException if a file can't be read, or the directory is missing
   * @throws IllegalStateException if the JVM is ending, unless {@link StoreOptions#closeOnExit} is
   *     false
   */
  static Store openReadOnly(Path directory, StoreOptions options) {
    return Opening.storeToRead(directory, options);
  }

  /** {@return what the store was opened with; the page size is the one that it has} */
  StoreOptions options();

  /** {@return the names of all trees, sorted} */
  List<String> treeNames();

  /**
   * {@return a tree that exists}
   *
   * @param name upper and lower case count
   * @throws IllegalArgumentException if there is none of this name; says which come near
   */
  Tree tree(String name);

  /**
   * {@return a tree as it is stored, or created with default options if it is missing}
   *
   * @param name if it is missing: 1 to 200 characters, without control characters and lone
   *     surrogates
   */
  default Tree openTree(String name) {
    return openTree(name, TreeOptions.defaults());
  }

  /**
   * A tree, created if it is missing, as by {@link #createTree(String, TreeOptions)}.
   *
   * <p>The options of a tree never change, save {@code timeToLive}, {@code runs}, {@code maxSpace}
   * and {@code compression}, which this sets. If the tree exists, the others that were set must be
   * what is stored; those that were not take that ({@link Tree#options}).
   *
   * @param name if it is missing: 1 to 200 characters, without control characters and lone
   *     surrogates
   * @param treeOptions what was not set takes what is stored, or the default if the tree is missing
   * @return the tree, in use by as many callers as want it
   * @throws IllegalArgumentException if it exists and an option that was set is stored otherwise,
   *     with both values; or if it is missing and the name, or that of the key order, can't be
   *     stored; or if {@code runs} need more space than {@code maxSpace} allows, or this program
   *     has no codec of that name
   */
  Tree openTree(String name, TreeOptions treeOptions);

  /**
   * Creates a tree. That survives what a write survives that does not say how durable it is: see
   * {@link StoreOptions#durability}. With {@link Durability#ASYNC}, a failure of the machine within
   * {@link StoreOptions#asyncSyncInterval} may take the tree, and then takes all that was written
   * to the store after it.
   *
   * @param name 1 to 200 characters, without control characters and lone surrogates
   * @param treeOptions what was not set takes its default
   * @return the new tree, which is empty
   * @throws IllegalArgumentException if there is one of this name, or if the name, or that of the
   *     key order, can't be stored; if {@code runs} need more space than {@code maxSpace} allows;
   *     or if this program has no codec of that name
   */
  Tree createTree(String name, TreeOptions treeOptions);

  /**
   * Drops a tree with all it holds. That survives what {@link #createTree} does: a failure of the
   * machine that brings the tree back takes all that was written after the drop. Its files go once
   * the drop is durable. Waits for the calls that are using the tree. Whatever was taken from it
   * throws {@code TreeDroppedException} from now on: the {@link Tree}, cursors over it, write
   * batches and transactions that write to it.
   *
   * @param name of a tree that exists
   * @throws IllegalArgumentException if there is no such tree
   */
  void dropTree(String name);

  /**
   * Gives a tree another name, durably; handles stay usable. Trees of a dataset must keep theirs.
   *
   * @param name of a tree that exists
   * @param newName 1 to 200 characters, without control characters and lone surrogates
   * @throws IllegalArgumentException if there is no tree {@code name}, if there is one of the new
   *     name, or if that can't be stored
   */
  void renameTree(String name, String newName);

  /** {@return a new batch of writes to trees of this store} */
  WriteBatch newBatch();

  /**
   * Writes a batch: see {@link #write(WriteBatch, Durability)}.
   *
   * @param batch made by this store; may be cleared and filled again afterwards
   */
  default void write(WriteBatch batch) {
    write(batch, options().durability());
  }

  /**
   * Writes a batch: all of it or nothing. What it survives when this returns says {@link
   * Durability}.
   *
   * @param batch made by this store; may be cleared and filled again afterwards
   * @param durability what all of it survives once this returns
   * @throws DiskFullException if there is no room; nothing was written, and will not be
   * @throws io.isobardb.lsm.error.WriteStalledException if it would wait longer than the batch's
   *     {@link WriteBatch#writeTimeout}; nothing was written, and will not be
   * @throws io.isobardb.lsm.error.StoreFailedException if the log failed; the outcome is unknown
   * @throws io.isobardb.lsm.error.TreeDroppedException if one of its trees was dropped; nothing was
   *     written
   * @throws IllegalStateException if another thread is using the batch
   */
  void write(WriteBatch batch, Durability durability);

  /**
   * Begins to load entries in the order of their keys; syncs the log. See {@link BulkLoad}.
   *
   * @param trees all that the load may add to, of this store
   * @return the load, to be finished or closed
   */
  BulkLoad bulkLoad(Tree... trees);

  /**
   * The one object of a type that goes with this store as long as it is open: for layers above that
   * have to know what of theirs is open over it.
   *
   * @param <T> what goes with the store
   * @param type there is one object for each, told apart by its class
   * @param make makes it when it is first asked for; must not call this method
   * @return the same object in each call, of whatever thread
   * @throws IllegalArgumentException if {@code make} gives null
   * @throws io.isobardb.lsm.error.StoreClosedException if the store is closed
   */
  <T> T companion(Class<T> type, Supplier<T> make);

  /**
   * Begins a transaction with default options: see {@link #begin(TransactionOptions)}.
   *
   * @return the transaction, to be closed by the caller
   */
  default Transaction begin() {
    return begin(TransactionOptions.defaults());
  }

  /**
   * Begins a transaction. The first one of an open store waits for the writes under way; from then
   * on plain writes lock their keys, which costs them a little.
   *
   * @param transactionOptions how isolated it is, how it locks, and how long it waits
   * @return the transaction, to be closed by the caller
   */
  Transaction begin(TransactionOptions transactionOptions);

  /**
   * Runs {@code body} in a transaction with default options, and commits it.
   *
   * @param <T> what {@code body} gives
   * @param <X> what {@code body} may throw beside unchecked exceptions
   * @param body may run several times
   * @return what {@code body} gave at last
   * @throws X what {@code body} throws; the transaction is rolled back then
   */
  default <T extends @Nullable Object, X extends Exception> T inTransaction(
      TransactionBody<T, X> body) throws X {
    return inTransaction(TransactionOptions.defaults(), body);
  }

  /**
   * Runs {@code body} in a transaction and commits it, unless {@code body} has ended it; if others
   * get in its way, runs it anew, after a pause that grows. It does so, too, if {@code body} has
   * caught what told it of that. What {@code body} has committed itself is never run anew.
   *
   * <p>A write within {@code body} that does not go through the transaction is not part of it. On a
   * key that the transaction has locked it throws {@code SelfDeadlockException}, and so does
   * another transaction of the same thread.
   *
   * @param <T> what {@code body} gives
   * @param <X> what {@code body} may throw beside unchecked exceptions
   * @param transactionOptions how it is isolated, and how often and how long it is tried
   * @param body may run several times, each time in a new transaction, on this thread
   * @return what {@code body} gave at last
   * @throws TransactionAbortedException if all attempts were in vain, or no more was begun since
   *     {@link TransactionOptions#retryTimeout} had passed; or from {@code body} after it has
   *     committed
   * @throws X what {@code body} throws; the transaction is rolled back then
   */
  <T extends @Nullable Object, X extends Exception> T inTransaction(
      TransactionOptions transactionOptions, TransactionBody<T, X> body) throws X;

  /**
   * As {@link #inTransaction(TransactionBody)}, of what gives nothing. It has a name of its own
   * since the compiler could not tell which of the two {@code t -> t.get(tree, key)} is for.
   *
   * @param <X> what {@code task} may throw beside unchecked exceptions
   * @param task may run several times
   * @throws X what {@code task} throws; the transaction is rolled back then
   */
  default <X extends Exception> void runInTransaction(TransactionTask<X> task) throws X {
    runInTransaction(TransactionOptions.defaults(), task);
  }

  /**
   * As {@link #inTransaction(TransactionOptions, TransactionBody)}, of what gives nothing.
   *
   * @param <X> what {@code task} may throw beside unchecked exceptions
   * @param transactionOptions how it is isolated, and how often and how long it is tried
   * @param task may run several times
   * @throws X what {@code task} throws; the transaction is rolled back then
   */
  default <X extends Exception> void runInTransaction(
      TransactionOptions transactionOptions, TransactionTask<X> task) throws X {
    Objects.requireNonNull(task, "task");
    this.<@Nullable Void, X>inTransaction(
        transactionOptions,
        transaction -> {
          task.run(transaction);
          return null;
        });
  }

  /** {@return the store as it is now, to read from while it changes} */
  Snapshot snapshot();

  /** Waits until all that was written survives a failure of the machine; errors as a write. */
  void sync();

  /** Writes everything that is in memory to SSTables, durably, and waits for that. */
  void flush();

  /**
   * Makes what was written to unlogged trees survive a crash: after one, all of them stand where
   * they stood at some moment of this call, or of a later one. Waits until it is on disk. The
   * writes of logged trees are synced, too.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; the last checkpoint stands
   * @throws io.isobardb.lsm.error.StoreFailedException if the store takes no more writes
   */
  void checkpoint();

  /**
   * Makes a store in another directory that holds what this one does at one moment of this call,
   * over all trees, unlogged ones included. Writers go on meanwhile. SSTables get a second name
   * there if both directories lie in one file system ({@linkplain java.nio.file.Files#createLink
   * hard links}), and are copied if not. All is durable when this returns. The copy has the ID of
   * this store, and from then on they are changed apart.
   *
   * <p>It takes 16 MB beside the memory budget while it works.
   *
   * @param directory empty or not there yet; no store before all of it is there. After a failure it
   *     is again as it was; a crash may leave files there, but no store
   * @throws io.isobardb.lsm.error.FormatException if the directory is not empty
   * @throws IllegalArgumentException if it lies within a store or a directory of backups; nothing
   *     is made
   * @throws DiskFullException if there is no room
   * @throws io.isobardb.lsm.error.StoreFailedException if this store has failed
   */
  void checkpointTo(Path directory);

  /**
   * Changes the memory budget, in bytes, at least 4 MiB. Write memory and buffer cache keep their
   * shares. A larger budget can be used at once. For a smaller one, this waits until memory has
   * been flushed and given back to the system. If reads, merges or a full disk keep some of it for
   * more than ten seconds, this returns and logs a warning, and the store goes on giving it back;
   * {@link #stats} tells how much is held.
   *
   * @param bytes 4 MiB, and 128 pages, to what the JVM and its container allow. The least is more
   *     if the store was opened with much more: the log's buffer and some tables keep their size
   * @throws IllegalArgumentException if it is more than the JVM lets the store have, or too little;
   *     the message has the least that will do
   * @throws DiskFullException if memory can't be flushed for want of room; nothing has changed
   */
  void setMemoryBudget(long bytes);

  /**
   * As {@link #stats}, for monitoring that reads figures one by one, as {@link
   * io.isobardb.lsm.observe.Figure} helps to. Calls within a second get the same, of one moment.
   * The times of calls are those of the last minute or two.
   *
   * @return what the store has done, at most a second old
   */
  StoreStats metrics();

  /** {@return the directory of the store, in full} */
  String path();

  /**
   * Lets JMX see the store and its trees, until it is closed, in the platform's server: the store
   * as {@code io.isobardb:type=Store,path="..."} with the path of its directory, each tree as
   * {@code io.isobardb:type=Tree,path="...",name="..."} as long as it exists.
   *
   * @return the name in full
   * @throws IllegalStateException if that name is registered already, or the server refuses
   */
  ObjectName registerMXBean();

  /**
   * Records what is done to the store from now on, in a file: of a sample of the keys their hashes,
   * the kinds, sizes and times of operations. Keys and values are not kept. {@code isobar record}
   * shows such a file; others of its commands do the same again.
   *
   * <p>Bulk loads are not recorded, nor is what a transaction finds among its own writes. The file
   * is not synced. Whether it can be written to is of no matter to the store.
   *
   * @param file must not be there yet
   * @param recordingOptions of which keys, and how large the file may become
   * @return the handle that ends it; the end of the store does, too
   * @throws IllegalStateException if the store is being recorded
   * @throws UncheckedIOException if the file is there, or can't be written to
   */
  Recording startRecording(Path file, RecordingOptions recordingOptions);

  /**
   * Adds a listener; it is told of what ends from now on, until it is {@linkplain #removeListener
   * removed} or the store is closed.
   *
   * @param listener called by the threads on which things end; what it throws is logged
   */
  void addListener(StoreListener listener);

  /**
   * Ends that a listener is told. A call of it that is under way goes on. Does nothing if it was
   * not added, or the store is closed.
   *
   * @param listener as it was added; of several equal ones the first
   */
  void removeListener(StoreListener listener);

  /**
   * Waits until no flush or merge is under way or due, those included that would come when trees
   * have been left alone for a while. Meant for tests and measurements: with writers at work it may
   * never come.
   */
  void awaitQuiet();

  /**
   * {@return what has stopped the store from writing for good, such as a sync that failed; null as
   * long as nothing has} Reads go on; to write again, close the store, mend the cause, and open it.
   */
  @Nullable Throwable failure();

  /** {@return what the store has done and what it holds} */
  StoreStats stats();

  /**
   * {@return what reads have asked of each run and SSTable on disk} When the store is closed it
   * leaves that in a file, which {@code isobar stats DIR --profile} shows.
   */
  StoreProfile profile();

  /**
   * Closes the store: waits for operations under way, makes a {@link #checkpoint} if an unlogged
   * tree needs one, syncs the log, and gives all memory back. If the log is long, it flushes for
   * five seconds at most, so that the next opening has little to replay. Does nothing if it is
   * closed.
   *
   * <p>A {@link VirtualMachineError}, such as a stack that overflows, may end the call half-way.
   * The store takes no operations then, and its directory may still be locked. Another call goes on
   * with the rest; so does the end of the JVM, unless {@code closeOnExit} is false.
   *
   * @throws IsobarException if what was written last could not be synced, or the checkpoint not be
   *     made, or the store has failed and no call was told so far; all is closed nevertheless
   */
  @Override
  void close();
}
