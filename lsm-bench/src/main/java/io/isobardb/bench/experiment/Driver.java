package io.isobardb.bench.experiment;

import io.isobardb.bench.compare.Dataset;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/**
 * Does a workload's operations on an engine, in some threads that each draw theirs from a seed of
 * their own: a driver with the same seed does the same, however fast. Used by one thread at a time.
 */
final class Driver implements AutoCloseable {
  private static final int CLOCK_EVERY = 16;
  private static final int CHECK_EVERY = 64;
  private static final double ZIPF_EXPONENT = 0.99;
  private static final int DIGITS = 3;
  private static final long NOTHING = Long.MAX_VALUE;

  /** Waits shorter than this take longer than they should. */
  private static final long SHORTEST_WAIT_NANOS = 50_000;

  private final Shape shape;
  private final ExecutorService threads;
  private final List<Client> clients = new ArrayList<>();

  /** The next record to insert. */
  private final AtomicLong inserted;

  /**
   * What was done: less than asked for if the time was up.
   *
   * @param latencies of writes that were due at a time, from then on, in nanoseconds; else empty
   */
  record Done(long operations, long writes, double seconds, Histogram latencies) {
    Done(long operations, long writes, double seconds) {
      this(operations, writes, seconds, new Histogram(DIGITS));
    }
  }

  Driver(Engine engine, Shape shape, int threads, long seed) {
    this.shape = shape;
    this.inserted = new AtomicLong(shape.records());
    this.threads = Executors.newFixedThreadPool(threads);
    for (int i = 0; i < threads; i++) {
      clients.add(new Client(engine.openSession(), i, Dataset.mix(seed * 31 + i)));
    }
  }

  /** Puts every record of every tree once, in an order that is random in the keys. */
  Done load() throws InterruptedException {
    long all = shape.trees() * shape.records();
    return parallel(all, Double.MAX_VALUE, (client, share, deadline) -> client.load(all));
  }

  /** Does so many operations, or what can be done in {@code maxSeconds}. */
  Done run(Workload workload, long operations, double maxSeconds) throws InterruptedException {
    return parallel(
        operations, maxSeconds, (client, share, deadline) -> client.run(workload, share, deadline));
  }

  /**
   * The same at a constant rate of arrival: an operation begins when it is due, or when the one
   * before it has ended, if that is later.
   *
   * @param rate operations per second of all threads
   */
  Done pace(Workload workload, long operations, double rate, double maxSeconds)
      throws InterruptedException {
    double nanosBetween = clients.size() * 1e9 / rate;
    return parallel(
        operations,
        maxSeconds,
        (client, share, deadline) -> client.pace(workload, share, nanosBetween, deadline));
  }

  private interface Part {
    void run(Client client, long share, long deadlineNanos);
  }

  private Done parallel(long operations, double maxSeconds, Part part) throws InterruptedException {
    long start = System.nanoTime();
    long deadline = start + (long) (Math.min(maxSeconds, 1e9) * 1e9);
    List<Future<?>> runs = new ArrayList<>();
    int n = clients.size();
    for (int i = 0; i < n; i++) {
      Client client = clients.get(i);
      long share = (operations - i + n - 1) / n;
      client.done = 0;
      client.writes = 0;
      client.latencies.reset();
      runs.add(threads.submit(() -> part.run(client, share, deadline)));
    }
    try {
      for (Future<?> run : runs) {
        run.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("an operation failed: " + e.getCause(), e.getCause());
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    Histogram latencies = new Histogram(DIGITS);
    clients.forEach(client -> latencies.add(client.latencies));
    return new Done(
        clients.stream().mapToLong(client -> client.done).sum(),
        clients.stream().mapToLong(client -> client.writes).sum(),
        seconds,
        latencies);
  }

  @Override
  public void close() {
    threads.shutdownNow();
    clients.forEach(client -> client.session.close());
  }

  /** The first record that may not be there yet. */
  private long firstMissing() {
    // In this order: who has taken a record that is counted here says so, or has inserted it.
    long first = inserted.get();
    for (Client client : clients) {
      first = Math.min(first, client.inserting);
    }
    return first;
  }

  /** One thread's part. */
  private final class Client {
    private final Dataset data = new Dataset(Shape.KEY_BYTES, Shape.VALUE_BYTES);
    private final Session session;
    private final int thread;
    private final SplittableRandom random;
    private final SharedStateDiscreteSampler zipf;
    private final byte[] key = new byte[Shape.KEY_BYTES];
    private final byte[] value = new byte[Shape.VALUE_BYTES];
    private final byte[] readInto = new byte[Shape.VALUE_BYTES + 16];
    private final Histogram latencies = new Histogram(DIGITS);

    /** The record being inserted, or one before it; {@link #NOTHING} if none is. */
    private volatile long inserting = NOTHING;

    private long version;
    private long done;
    private long writes;

    private Client(Session session, int thread, long seed) {
      this.session = session;
      this.thread = thread;
      random = new SplittableRandom(seed);
      version = seed;
      zipf =
          RejectionInversionZipfSampler.of(
              random::nextLong, (int) Math.min(shape.records(), Integer.MAX_VALUE), ZIPF_EXPONENT);
    }

    private void load(long all) {
      for (long i = thread; i < all; i += clients.size()) {
        put((int) (i % shape.trees()), i / shape.trees());
        done++;
      }
    }

    private void run(Workload workload, long operations, long deadlineNanos) {
      while (done < operations) {
        one(workload);
        done++;
        if (done % CLOCK_EVERY == 0 && System.nanoTime() - deadlineNanos > 0) {
          return;
        }
      }
    }

    private void pace(Workload workload, long operations, double nanosBetween, long deadlineNanos) {
      long start = System.nanoTime();
      long now = start;
      while (done < operations && now - deadlineNanos <= 0) {
        long due = start + (long) (done * nanosBetween);
        for (long wait = due - now; wait > SHORTEST_WAIT_NANOS; wait = due - now) {
          LockSupport.parkNanos(wait);
          now = System.nanoTime();
        }
        long before = writes;
        one(workload);
        done++;
        now = System.nanoTime();
        if (writes > before) {
          latencies.recordValue(Math.max(0, now - due));
        }
      }
    }

    private void one(Workload workload) {
      boolean write = random.nextInt(100) < workload.writePercent();
      int tree = tree(workload);
      long record = record(workload);
      if (write) {
        write(workload.write(), tree, record);
        writes++;
      } else if (workload.scanEntries() > 0) {
        data.key(record, key);
        int seen = session.scan(tree, key, workload.scanEntries(), (k, kLength, v, vLength) -> {});
        if (seen == 0) {
          throw new IllegalStateException("a scan from record " + record + " found nothing");
        }
      } else {
        read(tree, record);
      }
    }

    private long record(Workload workload) {
      if (workload.latest()) {
        return Math.max(0, firstMissing() - zipf.sample());
      }
      return workload.zipf()
          ? below(Dataset.mix(zipf.sample()), shape.records())
          : below(random.nextLong(), shape.records());
    }

    private void write(Workload.Write write, int tree, long record) {
      if (write == Workload.Write.READ_MODIFY_WRITE) {
        read(tree, record);
      }
      if (write != Workload.Write.INSERT) {
        put(tree, record);
        return;
      }
      inserting = inserted.get();
      put(tree, inserted.getAndIncrement());
      inserting = NOTHING;
    }

    private int tree(Workload workload) {
      int hot = workload.hotTrees();
      if (hot == 0 || hot >= shape.trees()) {
        return random.nextInt(shape.trees());
      }
      return random.nextInt(100) < workload.hotPercent()
          ? random.nextInt(hot)
          : hot + random.nextInt(shape.trees() - hot);
    }

    private void put(int tree, long record) {
      data.key(record, key);
      data.value(record, version++, value);
      session.put(tree, key, value);
    }

    private void read(int tree, long record) {
      data.key(record, key);
      int length = session.get(tree, key, readInto);
      if (length != Shape.VALUE_BYTES) {
        throw new IllegalStateException(
            "record " + record + " of tree " + tree + " was loaded; found " + length + " bytes");
      }
      if (done % CHECK_EVERY == 0) {
        data.check(record, readInto, length, value);
      }
    }

    private static long below(long bits, long bound) {
      return Math.multiplyHigh(bits >>> 1, bound << 1);
    }
  }
}
