package io.isobardb.lsm.recipe;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A durable queue of jobs with any number of consumers. No two of them get one job at a time. Any
 * number of these may be made of one tree.
 *
 * <pre>{@code
 * Queue<String> mails = Queue.open(store, "mails", Codec.string());
 * mails.add("welcome ada");
 * while (mails.work((transaction, mail) -> System.out.println(mail))) {
 *   // until there is none left that no other consumer has
 * }
 * }</pre>
 *
 * <p>A consumer gets the oldest job that no other one has. Jobs are as old as their call of {@code
 * add}, also if that is part of a transaction, which is committed later.
 *
 * <p><b>What fails.</b>
 *
 * <ul>
 *   <li>A job is removed when its worker is done, in one transaction with what the worker writes
 *       through that. So these writes happen once. Whatever else a worker does may happen again.
 *   <li>A worker that throws leaves the job in the queue, in its place: it is the next again. A job
 *       that can't be done has to be caught in the worker, and put elsewhere.
 *   <li>If the process dies, so do its consumers. After the next opening their jobs are there
 *       again.
 *   <li>A worker that does not end keeps its job, and no other one.
 *   <li>A crash may take back what was not synced: jobs that were added last, or the removal of
 *       jobs that were done. The default durability of the store says how much.
 * </ul>
 *
 * <p>Thread rule: all methods may be called by any thread; those with a transaction by that one's.
 *
 * <p>Errors: those of {@link Tree} and {@link Transaction}, and what the codec throws. A job that
 * the codec can't decode stays.
 *
 * @param <T> the type of the jobs
 */
public final class Queue<T> {
  private static final KeyCodec<Long> NUMBERS = KeyCodec.ofLong();

  private final Store store;
  private final Tree tree;
  private final Codec<T> jobs;
  private final QueuePlaces places;

  private Queue(Store store, Tree tree, Codec<T> jobs, QueuePlaces places) {
    this.store = store;
    this.tree = tree;
    this.jobs = jobs;
    this.places = places;
  }

  /**
   * Opens a queue, or makes it.
   *
   * @param <T> the type of the jobs
   * @param store an open store
   * @param name of the tree that holds it, and nothing else
   * @param jobs the codec of jobs
   * @return the queue
   */
  public static <T> Queue<T> open(Store store, String name, Codec<T> jobs) {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(jobs, "jobs");
    Tree tree = store.openTree(name);
    QueuePlaces places =
        store.companion(QueuePlaces.Open.class, QueuePlaces.Open::new).of(tree, () -> end(tree));
    return new Queue<>(store, tree, jobs, places);
  }

  /** The number behind the last job. */
  private static long end(Tree tree) {
    try (Cursor cursor = tree.cursor()) {
      return cursor.last() ? number(cursor) + 1 : 0;
    }
  }

  private static long number(Cursor cursor) {
    return NUMBERS.decode(ByteBuffer.wrap(cursor.key()));
  }

  /**
   * Adds a job at the end.
   *
   * @param job the job
   */
  public void add(T job) {
    byte[] value = jobs.encode(Objects.requireNonNull(job, "job"));
    long number = places.begin();
    try {
      tree.put(NUMBERS.encode(number), value);
    } finally {
      places.added(number);
    }
  }

  /**
   * Adds a job within a transaction: no consumer gets it before that is committed.
   *
   * @param transaction the transaction that it is part of
   * @param job the job
   */
  public void add(Transaction transaction, T job) {
    Objects.requireNonNull(transaction, "transaction");
    byte[] value = jobs.encode(Objects.requireNonNull(job, "job"));
    long number = places.begin();
    try {
      transaction.onEnd(() -> places.added(number));
    } catch (RuntimeException | Error e) {
      places.added(number);
      throw e;
    }
    transaction.put(tree, NUMBERS.encode(number), value);
  }

  /**
   * Has the oldest job done that no other consumer has, and removes it.
   *
   * @param worker gets a transaction and the job. It is called again if its transaction meets with
   *     conflicts, and must not end that
   * @return whether there was a job
   * @throws IllegalStateException if the worker ended the transaction; the job stays unless that
   *     was a commit
   */
  public boolean work(BiConsumer<Transaction, ? super T> worker) {
    Objects.requireNonNull(worker, "worker");
    for (long number = take(); number >= 0; number = take()) {
      boolean gone = false;
      try {
        byte[] key = NUMBERS.encode(number);
        T job = tree.read(key, this::decoded);
        // It was done while it was looked for, or was removed past the queue.
        gone = job == null;
        if (job != null) {
          finish(key, job, worker);
          gone = true;
          return true;
        }
      } finally {
        places.giveBack(number, gone);
      }
    }
    return false;
  }

  private void finish(byte[] key, T job, BiConsumer<Transaction, ? super T> worker) {
    // If others ended it, the worker runs anew, and this call does not get as far.
    boolean isLeftOpen =
        store.inTransaction(
            transaction -> {
              transaction.delete(tree, key);
              worker.accept(transaction, job);
              return transaction.isOpen();
            });
    if (!isLeftOpen) {
      throw new IllegalStateException(
          "a worker of queue '"
              + tree.name()
              + "' ended its transaction: if it rolled back, the job is still there. A worker must"
              + " leave that to the queue, and throw to leave the job there");
    }
  }

  private T decoded(ByteBuffer bytes) {
    return Objects.requireNonNull(jobs.decode(bytes), "the job that the codec gave");
  }

  /**
   * Removes the oldest job that no other consumer has, and gives it; null if there is none. It is
   * lost if the process dies before it is done.
   *
   * @return the job, or null
   */
  public @Nullable T poll() {
    Polled<T> polled = new Polled<>();
    work((transaction, job) -> polled.job = job);
    return polled.job;
  }

  private static final class Polled<T> {
    private @Nullable T job;
  }

  /** Takes the oldest job that nobody has, and that may be gone by then; -1 if there is none. */
  private long take() {
    return places.take(this::from, Queue::number);
  }

  private Cursor from(long number) {
    return tree.cursor(CursorOptions.all().from(NUMBERS.encode(number)));
  }

  /** {@return whether there is no job, those that consumers have included} */
  public boolean isEmpty() {
    try (Cursor cursor = from(places.lowest())) {
      return !cursor.first();
    }
  }

  /** {@return the number of jobs, those that consumers have included} Goes through all of them. */
  public long size() {
    try (Cursor cursor = from(places.lowest())) {
      cursor.first();
      return cursor.forEach(Long.MAX_VALUE, (key, value) -> true);
    }
  }

  /** {@return the tree that holds the queue} */
  public Tree tree() {
    return tree;
  }
}
