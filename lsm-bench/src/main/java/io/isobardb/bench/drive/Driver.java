package io.isobardb.bench.drive;

import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.drive.Workload.Write;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.HdrHistogram.Histogram;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;
import org.jspecify.annotations.Nullable;

/**
 * Does a workload's operations on an engine, in some threads that each draw theirs from a seed of
 * their own: a driver with the same seed does the same, however fast. Used by one thread at a time.
 *
 * <p>Every {@link #TIMED_EVERY}th operation is timed, since a look at the clock costs as much as a
 * small part of an operation; on the same occasions the deadline is checked. Every {@link
 * #CHECK_EVERY}th value read is compared with what it must be.
 */
public final class Driver implements AutoCloseable {
  private static final int TIMED_EVERY = 16;
  private static final int CHECK_EVERY = 64;
  private static final double ZIPF_EXPONENT = 0.99;
  private static final int MOST_DRAWN = 1 << 22;
  private static final int DIGITS = 3;
  private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final double LONGEST_SECONDS = 1e9;
  private static final long NOTHING = Long.MAX_VALUE;

  /** Shorter than any key, and long enough for no two records to share. */
  private static final int PREFIX_BYTES = 7;

  /** Waits shorter than this take longer than they should. */
  private static final long SHORTEST_WAIT_NANOS = 50_000;

  private final Shape shape;
  private final ExecutorService threads;
  private final List<Client> clients = new ArrayList<>();
  private final LongAdder progress = new LongAdder();
  private LongConsumer eachSecond = done -> {};
  private volatile boolean closing;

  /** The next record to insert. */
  private final AtomicLong inserted;

  /**
   * What was done: less than asked for if the time was up.
   *
   * @param latencies of the operations timed, in nanoseconds; if they were due at a time, of writes
   *     from then on
   */
  public record Done(long operations, long writes, double seconds, Histogram latencies) {
    /** Without latencies. */
    public Done(long operations, long writes, double seconds) {
      this(operations, writes, seconds, new Histogram(DIGITS));
    }
  }

  /**
   * How long a run takes.
   *
   * @param leastSeconds it goes on for, however many operations there are to do
   * @param seconds after which it ends, however few were done
   */
  public record Limits(double leastSeconds, double seconds) {}

  /** A driver of {@code threads} threads with a session each. */
  public Driver(Engine engine, Shape shape, int threads, long seed) {
    this(engine, shape, Executors.newFixedThreadPool(threads), threads, seed);
  }

  private Driver(Engine engine, Shape shape, ExecutorService service, int threads, long seed) {
    this.shape = shape;
    this.inserted = new AtomicLong(shape.records());
    this.threads = service;
    for (int i = 0; i < threads; i++) {
      clients.add(new Client(engine.openSession(), i, Dataset.mix(seed * 31 + i)));
    }
  }

  /** The same with virtual threads, see {@link #hasVirtualThreads}. */
  public static Driver ofVirtualThreads(Engine engine, Shape shape, int threads, long seed) {
    try {
      ExecutorService service =
          (ExecutorService)
              Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
      return new Driver(engine, shape, service, threads, seed);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JDK has no virtual threads", e);
    }
  }

  /** Whether this JDK has virtual threads: from 21 on. */
  public static boolean hasVirtualThreads() {
    return Runtime.version().feature() >= 21;
  }

  /** From now on, the waiting thread tells once a second how many operations a run has done. */
  public void eachSecond(LongConsumer watcher) {
    eachSecond = watcher;
  }

  /**
   * Draws Zipfian keys beforehand, enough for so many operations, and others than before: a draw
   * costs as much as a tenth of a cached read.
   */
  public void draw(long operations) {
    clients.forEach(client -> client.draw(operations / clients.size() + 1));
  }

  /** Puts every record of every tree once, in an order that is random in the keys. */
  public Done load() throws InterruptedException {
    long all = shape.trees() * shape.records();
    Limits limits = new Limits(0, LONGEST_SECONDS);
    return parallel(all, limits, (client, share, times) -> client.load(share, times));
  }

  /** Does so many operations, or what can be done in {@code maxSeconds}. */
  public Done run(Workload workload, long operations, double maxSeconds)
      throws InterruptedException {
    return run(workload, operations, new Limits(0, maxSeconds));
  }

  /** Does so many operations, more if it is through with them earlier, or what can be done. */
  public Done run(Workload workload, long operations, Limits limits) throws InterruptedException {
    return parallel(
        operations, limits, (client, share, times) -> client.run(workload, share, times));
  }

  /**
   * The same at a constant rate of arrival: an operation begins when it is due, or when the one
   * before it has ended, if that is later.
   *
   * @param rate operations per second of all threads
   */
  public Done pace(Workload workload, long operations, double rate, double maxSeconds)
      throws InterruptedException {
    double nanosBetween = clients.size() * 1e9 / rate;
    return parallel(
        operations,
        new Limits(0, maxSeconds),
        (client, share, times) -> client.pace(workload, share, nanosBetween, times));
  }

  /** When a run may end at the earliest, and when it ends at the latest, as the clock has it. */
  private record Times(long leastNanos, long deadlineNanos) {}

  private interface Part {
    void run(Client client, long share, Times times);
  }

  private Done parallel(long operations, Limits limits, Part part) throws InterruptedException {
    CountDownLatch go = new CountDownLatch(1);
    progress.reset();
    long start = System.nanoTime();
    Times times = new Times(start + nanos(limits.leastSeconds()), start + nanos(limits.seconds()));
    List<Future<?>> runs = new ArrayList<>();
    int n = clients.size();
    for (int i = 0; i < n; i++) {
      Client client = clients.get(i);
      long share = (operations - i + n - 1) / n;
      client.reset();
      runs.add(
          threads.submit(
              () -> {
                go.await();
                part.run(client, share, times);
                return null;
              }));
    }
    go.countDown();
    for (Future<?> run : runs) {
      await(run);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    Histogram latencies = new Histogram(LONGEST_NANOS, DIGITS);
    clients.forEach(client -> latencies.add(client.latencies));
    return new Done(
        clients.stream().mapToLong(client -> client.done).sum(),
        clients.stream().mapToLong(client -> client.writes).sum(),
        seconds,
        latencies);
  }

  private static long nanos(double seconds) {
    return (long) (Math.min(seconds, LONGEST_SECONDS) * 1e9);
  }

  private void await(Future<?> run) throws InterruptedException {
    while (true) {
      try {
        run.get(1, TimeUnit.SECONDS);
        return;
      } catch (TimeoutException e) {
        eachSecond.accept(progress.sum());
      } catch (ExecutionException e) {
        throw new IllegalStateException("an operation failed: " + e.getCause(), e.getCause());
      }
    }
  }

  /** Ends what is still being done after a failure, and closes the sessions. */
  @Override
  public void close() {
    closing = true;
    threads.shutdownNow();
    try {
      threads.awaitTermination(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    clients.forEach(client -> client.session.close());
  }

  /** The first record that may not be there yet. */
  private long firstMissing() {
    // In this order: a client that has taken a record that is counted here says so, or has inserted
    // it.
    long first = inserted.get();
    for (Client client : clients) {
      first = Math.min(first, client.inserting);
    }
    return first;
  }

  /** One thread's part. */
  private final class Client {
    private final Dataset data = new Dataset(shape.keyBytes(), shape.valueBytes());
    private final Session session;
    private final int thread;
    private final SplittableRandom random;
    private final SharedStateDiscreteSampler zipf;
    private final boolean freshArrays;
    private final byte[] readInto = new byte[shape.valueBytes() + 16];
    private final byte[] scratch = new byte[shape.valueBytes()];
    private final Histogram latencies = new Histogram(LONGEST_NANOS, DIGITS);
    private byte[] key = new byte[shape.keyBytes()];
    private byte[] value = new byte[shape.valueBytes()];
    private int[] drawn = {};

    /** Keys of a batch, and the first bytes of a key, which no other has. */
    private final List<byte[]> batch = new ArrayList<>();

    private final byte[] prefix = new byte[PREFIX_BYTES];

    /** The record being inserted, or one before it; {@link #NOTHING} if none is. */
    private volatile long inserting = NOTHING;

    private long version;
    private long done;
    private long writes;
    private int seen;

    private Client(Session session, int thread, long seed) {
      this.session = session;
      this.thread = thread;
      random = new SplittableRandom(seed);
      version = seed;
      freshArrays = session.keepsArrays();
      zipf =
          RejectionInversionZipfSampler.of(
              random::nextLong, (int) Math.min(shape.records(), Integer.MAX_VALUE), ZIPF_EXPONENT);
    }

    private void reset() {
      done = 0;
      writes = 0;
      latencies.reset();
    }

    private void draw(long operations) {
      drawn = new int[(int) Math.min(operations, MOST_DRAWN)];
      for (int i = 0; i < drawn.length; i++) {
        drawn[i] = Math.toIntExact(zipfian());
      }
    }

    private void load(long share, Times times) {
      timed(
          share,
          times,
          () -> {
            long record = done * clients.size() + thread;
            put((int) (record % shape.trees()), record / shape.trees());
            writes++;
          });
    }

    private void run(Workload workload, long share, Times times) {
      timed(share, times, () -> one(workload));
    }

    private void timed(long share, Times times, Runnable operation) {
      long end = System.nanoTime();
      while (done < share || times.leastNanos() - end > 0) {
        long start = System.nanoTime();
        operation.run();
        done++;
        end = System.nanoTime();
        latencies.recordValue(Math.min(LONGEST_NANOS, end - start));
        if (end - times.deadlineNanos() > 0 || closing) {
          return;
        }
        long left = times.leastNanos() - end > 0 ? TIMED_EVERY : share - done;
        long untimed = Math.max(0, Math.min(TIMED_EVERY - 1, left));
        for (long i = 0; i < untimed; i++) {
          operation.run();
          done++;
        }
        progress.add(untimed + 1);
      }
    }

    private void pace(Workload workload, long share, double nanosBetween, Times times) {
      long start = System.nanoTime();
      long now = start;
      while (done < share && now - times.deadlineNanos() <= 0 && !closing) {
        long due = start + (long) (done * nanosBetween);
        for (long wait = due - now; wait > SHORTEST_WAIT_NANOS; wait = due - now) {
          LockSupport.parkNanos(wait);
          now = System.nanoTime();
        }
        long before = writes;
        // What is begun a moment before it is due, as that is no wait, takes what it takes.
        long from = Math.min(due, now);
        one(workload);
        done++;
        progress.increment();
        now = System.nanoTime();
        if (writes > before) {
          latencies.recordValue(Math.min(LONGEST_NANOS, now - from));
        }
      }
    }

    private void one(Workload workload) {
      boolean write = isWrite(workload.writePercent());
      int tree = tree(workload);
      long record = record(workload.keys());
      if (write) {
        write(workload.write(), tree, record);
        writes++;
      } else {
        read(workload, tree, record);
      }
    }

    private void read(Workload workload, int tree, long record) {
      switch (workload.read()) {
        case SCAN -> scan(tree, record, workload.entries());
        case BATCH -> batch(tree, record, workload);
        case PREFIX -> prefix(tree, record, workload.keys() == Keys.ABSENT ? 0 : 1);
        case LOOK -> look(tree, record, workload.keys() != Keys.ABSENT);
        case RECORD -> {
          if (workload.keys() == Keys.ABSENT) {
            absent(tree, record);
          } else {
            read(tree, record);
          }
        }
      }
    }

    private boolean isWrite(int percent) {
      return percent == 100 || (percent > 0 && random.nextInt(100) < percent);
    }

    private long record(Keys keys) {
      return switch (keys) {
        case UNIFORM -> below(random.nextLong());
        case ZIPF -> drawn.length > 0 ? drawn[(int) (done % drawn.length)] : zipfian();
        case LATEST -> Math.max(0, firstMissing() - zipf.sample());
        case ABSENT -> shape.records() + below(random.nextLong());
      };
    }

    private long zipfian() {
      return below(Dataset.mix(zipf.sample()));
    }

    private long below(long bits) {
      return Math.multiplyHigh(bits >>> 1, shape.records() << 1);
    }

    private int tree(Workload workload) {
      int hot = workload.hotTrees();
      if (shape.trees() == 1) {
        return 0;
      }
      if (hot == 0 || hot >= shape.trees()) {
        return random.nextInt(shape.trees());
      }
      return random.nextInt(100) < workload.hotPercent()
          ? random.nextInt(hot)
          : hot + random.nextInt(shape.trees() - hot);
    }

    private void write(Write write, int tree, long record) {
      if (write == Write.READ_MODIFY_WRITE) {
        read(tree, record);
      }
      if (write != Write.INSERT) {
        put(tree, record);
        return;
      }
      inserting = inserted.get();
      put(tree, inserted.getAndIncrement());
      inserting = NOTHING;
    }

    private void put(int tree, long record) {
      if (freshArrays) {
        key = new byte[shape.keyBytes()];
        value = new byte[shape.valueBytes()];
      }
      data.key(record, key);
      data.value(record, version++, value);
      session.put(tree, key, value);
    }

    private void read(int tree, long record) {
      data.key(record, key);
      int length = session.get(tree, key, readInto);
      if (length != shape.valueBytes()) {
        throw new IllegalStateException(
            where(record, tree)
                + (length == Session.ABSENT
                    ? " was loaded and is not there"
                    : " has a value of " + length + " bytes"));
      }
      if (done % CHECK_EVERY == 0) {
        data.check(record, readInto, length, scratch);
      }
    }

    private void look(int tree, long record, boolean there) {
      data.key(record, key);
      int seen = session.look(tree, key);
      if ((seen == Session.ABSENT) == there || (there && seen >> 8 != shape.valueBytes())) {
        throw new IllegalStateException("a look at " + where(record, tree) + " went wrong");
      }
    }

    private void absent(int tree, long record) {
      data.key(record, key);
      if (session.get(tree, key, readInto) != Session.ABSENT) {
        throw new IllegalStateException(where(record, tree) + " was never loaded and is there");
      }
    }

    private void scan(int tree, long record, int entries) {
      data.key(record, key);
      seen = 0;
      session.scan(tree, key, entries, this::visit);
      if (seen == 0) {
        throw new IllegalStateException("a scan from " + where(record, tree) + " found nothing");
      }
    }

    /** Asks for a record and others that are drawn as it was. */
    private void batch(int tree, long first, Workload workload) {
      while (batch.size() < workload.entries()) {
        batch.add(new byte[shape.keyBytes()]);
      }
      data.key(first, batch.get(0));
      for (int i = 1; i < workload.entries(); i++) {
        data.key(record(workload.keys()), batch.get(i));
      }
      List<byte @Nullable []> values = session.multiGet(tree, batch.subList(0, workload.entries()));
      boolean there = workload.keys() != Keys.ABSENT;
      for (byte[] found : values) {
        if ((found != null) != there || (found != null && found.length != shape.valueBytes())) {
          throw new IllegalStateException(
              "a batch from " + where(first, tree) + " on got a wrong value");
        }
      }
      byte[] value = values.get(0);
      if (value != null && done % CHECK_EVERY == 0) {
        data.check(first, value, value.length, scratch);
      }
    }

    private void prefix(int tree, long record, int expected) {
      data.key(record, key);
      System.arraycopy(key, 0, prefix, 0, prefix.length);
      seen = 0;
      session.scanPrefix(tree, prefix, this::visit);
      if (seen != expected) {
        throw new IllegalStateException(
            seen + " entries begin as " + where(record, tree) + " does, not " + expected);
      }
    }

    private void visit(byte[] entryKey, int keyLength, byte[] entryValue, int valueLength) {
      long record = data.record(entryKey);
      if (seen++ % CHECK_EVERY == 0 && record >= 0) {
        data.check(record, entryValue, valueLength, scratch);
      }
    }

    private String where(long record, int tree) {
      return "record " + record + (shape.trees() > 1 ? " of tree " + tree : "");
    }
  }
}
