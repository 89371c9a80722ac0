package io.isobardb.bench.streams;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.streams.StateStores.Held;
import io.isobardb.bench.streams.StateStores.Task;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/**
 * Loads state stores, and calls them from threads that each have tasks of their own, as those of
 * Kafka Streams do. A seed gives the same calls however fast they are.
 *
 * <p>Each {@link #TIMED_EVERY}th call is timed. Commits are timed one by one, and are no calls.
 */
final class StoreLoad {
  private static final int TIMED_EVERY = 8;
  private static final int CHECK_EVERY = 64;
  private static final int KEY_BYTES = 16;
  private static final int RANGE_ENTRIES = 20;
  private static final int WINDOWS = 10;
  private static final int WINDOW_SHARE = 4;
  private static final Duration WINDOW = Duration.ofMinutes(1);
  private static final Duration RETENTION = Duration.ofHours(1);
  private static final long FIRST_WINDOW = Duration.ofDays(1).toMillis();
  private static final double ZIPF_EXPONENT = 0.99;
  private static final int DIGITS = 3;
  private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final double BUSY_COMPILER_SHARE = 0.05;

  /** In durations of a step: the longest wait for the compiler. */
  private static final double WARM_UP_DURATIONS = 2;

  private final StreamsSpec spec;
  private final Events events;
  private final long recordsPerStore;
  private final List<Client> clients = new ArrayList<>();

  StoreLoad(StreamsSpec spec, Events events) {
    this.spec = spec;
    this.events = events;
    recordsPerStore = Math.max(WINDOWS, spec.records() / spec.stores());
  }

  /** Runs all steps. */
  void run() throws IOException, InterruptedException {
    StateStores stores = new StateStores(spec);
    ExecutorService threads = Executors.newFixedThreadPool(spec.threads());
    for (int i = 0; i < spec.threads(); i++) {
      clients.add(new Client(i));
    }
    // A single state store has one of windows beside it.
    for (int i = 0; i < Math.max(2, spec.stores()); i++) {
      int of = spec.stores() == 1 ? 0 : i % spec.partitions();
      clients.get(of % spec.threads()).add(stores.tasks().get(of), i);
    }
    clients.removeIf(client -> client.all().isEmpty());
    for (Client client : clients) {
      for (Held<?> held : client.all()) {
        held.open();
      }
    }
    step(threads, "load", Client::load);
    for (Mix mix : spec.mixes()) {
      events.at(mix.label() + ", warming up", 0, 1);
      warmUp(threads, mix);
      step(threads, mix.label(), client -> client.run(mix, spec.durationSeconds()));
    }
    threads.shutdown();
    clients.forEach(client -> client.all().forEach(Held::close));
    stores.closeShared();
  }

  /** Until the compiler has hardly anything to do: until then slow code is measured, and it. */
  private void warmUp(ExecutorService threads, Mix mix) throws InterruptedException {
    double most = WARM_UP_DURATIONS * spec.durationSeconds();
    double slice = Math.min(1, spec.durationSeconds());
    boolean compiling = true;
    for (double seconds = 0; seconds < most && compiling; seconds += slice) {
      long compiled = compilerMillis();
      parallel(threads, client -> client.run(mix, slice), () -> {});
      compiling = compilerMillis() - compiled > BUSY_COMPILER_SHARE * slice * 1e3;
    }
  }

  private static long compilerMillis() {
    return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
  }

  private interface Part {
    void run(Client client);
  }

  private void step(ExecutorService threads, String name, Part part) throws InterruptedException {
    clients.forEach(Client::reset);
    long began = System.nanoTime();
    StepMeter meter = new StepMeter(spec);
    parallel(
        threads,
        part,
        () -> {
          meter.sample();
          double seconds = (System.nanoTime() - began) / 1e9;
          events.at(name, Math.min(1, seconds / spec.durationSeconds()), 1);
        });
    Histogram latencies = new Histogram(LONGEST_NANOS, DIGITS);
    Histogram commits = new Histogram(LONGEST_NANOS, DIGITS);
    long done = 0;
    for (Client client : clients) {
      latencies.add(client.latencies);
      commits.add(client.commits);
      done += client.done;
    }
    StepResult result = meter.end(name, done, latencies);
    events.send("step", result.toMap());
    if (commits.getTotalCount() > 0) {
      events.send(
          "step",
          new StepResult(name + ": commit of a state store", StepMeter.latencies(commits)).toMap());
    }
  }

  private void parallel(ExecutorService threads, Part part, Runnable eachSecond)
      throws InterruptedException {
    List<Future<?>> runs = new ArrayList<>();
    clients.forEach(client -> runs.add(threads.submit(() -> part.run(client))));
    for (Future<?> run : runs) {
      await(run, eachSecond);
    }
  }

  private static void await(Future<?> run, Runnable eachSecond) throws InterruptedException {
    while (true) {
      try {
        run.get(1, TimeUnit.SECONDS);
        return;
      } catch (TimeoutException e) {
        eachSecond.run();
      } catch (ExecutionException e) {
        throw new IllegalStateException("a call failed: " + e.getCause(), e.getCause());
      }
    }
  }

  /** One thread's part. */
  private final class Client {
    private final List<Held<KeyValueStore<Bytes, byte[]>>> keyValues = new ArrayList<>();
    private final List<Held<WindowStore<Bytes, byte[]>>> windows = new ArrayList<>();
    private final Dataset data = new Dataset(KEY_BYTES, spec.valueBytes());
    private final byte[] scratch = new byte[spec.valueBytes()];
    private final SplittableRandom random;
    private final SharedStateDiscreteSampler zipfOfKeys;
    private final Histogram latencies = new Histogram(LONGEST_NANOS, DIGITS);
    private final Histogram commits = new Histogram(LONGEST_NANOS, DIGITS);
    private SharedStateDiscreteSampler zipfOfStores;
    private SharedStateDiscreteSampler zipfOfWindows;
    private long done;
    private long version;
    private long nextCommitNanos = System.nanoTime();

    Client(int number) {
      random = new SplittableRandom(Dataset.mix(spec.seed() * 31 + number));
      zipfOfKeys = zipf(recordsPerStore);
    }

    private SharedStateDiscreteSampler zipf(long elements) {
      return RejectionInversionZipfSampler.of(
          random::nextLong, Math.toIntExact(elements), ZIPF_EXPONENT);
    }

    /** Takes another state store; of each four the second one is of windows. */
    void add(Task task, int number) {
      if (all().size() % WINDOW_SHARE == 1) {
        windows.add(task.windows("windows-" + number, RETENTION, WINDOW));
      } else {
        keyValues.add(task.keyValues("values-" + number));
      }
    }

    List<Held<?>> all() {
      List<Held<?>> all = new ArrayList<>(keyValues);
      all.addAll(windows);
      return all;
    }

    void reset() {
      done = 0;
      latencies.reset();
      commits.reset();
    }

    private void commitIfDue(long now) {
      if (now - nextCommitNanos < 0) {
        return;
      }
      nextCommitNanos = now + (long) (spec.commitSeconds() * 1e9);
      for (Held<?> held : all()) {
        long begin = System.nanoTime();
        held.commit();
        commits.recordValue(System.nanoTime() - begin);
      }
    }

    /** Puts every record once, in an order that is random in the keys, a state store at a time. */
    void load() {
      for (long record = 0; record < recordsPerStore; record++) {
        long of = record;
        keyValues.forEach(held -> put(held, of));
        windows.forEach(held -> putWindow(held, of));
        done += keyValues.size() + windows.size();
        commitIfDue(System.nanoTime());
      }
    }

    void run(Mix mix, double seconds) {
      zipfOfStores = zipf(keyValues.size());
      zipfOfWindows = zipf(windows.size());
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      long now = begin;
      while (now - end < 0) {
        long from = System.nanoTime();
        call(mix);
        now = System.nanoTime();
        latencies.recordValue(now - from);
        for (int i = 1; i < TIMED_EVERY; i++) {
          call(mix);
        }
        done += TIMED_EVERY;
        commitIfDue(now);
      }
    }

    private void call(Mix mix) {
      int draw = random.nextInt(100);
      long record = record(mix);
      draw -= mix.gets;
      if (draw < 0) {
        get(keyValue(mix), record);
        return;
      }
      draw -= mix.puts;
      if (draw < 0) {
        put(keyValue(mix), record);
        return;
      }
      draw -= mix.ranges;
      if (draw < 0) {
        range(keyValue(mix), record);
        return;
      }
      draw -= mix.windows;
      if (draw < 0) {
        count(window(mix), record);
      } else {
        fetch(window(mix), record);
      }
    }

    private Held<KeyValueStore<Bytes, byte[]>> keyValue(Mix mix) {
      return keyValues.get(
          mix.skewed ? zipfOfStores.sample() - 1 : random.nextInt(keyValues.size()));
    }

    private Held<WindowStore<Bytes, byte[]>> window(Mix mix) {
      return windows.get(mix.skewed ? zipfOfWindows.sample() - 1 : random.nextInt(windows.size()));
    }

    private long record(Mix mix) {
      return mix.skewed
          ? Math.floorMod(Dataset.mix(zipfOfKeys.sample()), recordsPerStore)
          : random.nextLong(recordsPerStore);
    }

    private Bytes key(long record) {
      byte[] key = new byte[KEY_BYTES];
      data.key(record, key);
      return Bytes.wrap(key);
    }

    private byte[] value(long record) {
      byte[] value = new byte[spec.valueBytes()];
      data.value(record, version++, value);
      return value;
    }

    private void check(long record, byte[] value) {
      if (value == null) {
        throw new IllegalStateException("record " + record + " was put and is not there");
      }
      if (version++ % CHECK_EVERY == 0) {
        data.check(record, value, value.length, scratch);
      }
    }

    private void get(Held<KeyValueStore<Bytes, byte[]>> held, long record) {
      check(record, held.store().get(key(record)));
    }

    private void put(Held<KeyValueStore<Bytes, byte[]>> held, long record) {
      held.next();
      held.store().put(key(record), value(record));
    }

    private void range(Held<KeyValueStore<Bytes, byte[]>> held, long record) {
      int seen = 0;
      try (KeyValueIterator<Bytes, byte[]> entries = held.store().range(key(record), null)) {
        while (seen < RANGE_ENTRIES && entries.hasNext()) {
          entries.next();
          seen++;
        }
      }
      if (seen == 0) {
        throw new IllegalStateException("a range from record " + record + " on is empty");
      }
    }

    private long start(long record) {
      return FIRST_WINDOW + record % WINDOWS * WINDOW.toMillis();
    }

    private void putWindow(Held<WindowStore<Bytes, byte[]>> held, long record) {
      held.next();
      held.store().put(key(record / WINDOWS), value(record), start(record));
    }

    /** As an aggregation does. */
    private void count(Held<WindowStore<Bytes, byte[]>> held, long record) {
      check(record, held.store().fetch(key(record / WINDOWS), start(record)));
      putWindow(held, record);
    }

    private void fetch(Held<WindowStore<Bytes, byte[]>> held, long record) {
      int seen = 0;
      try (WindowStoreIterator<byte[]> found =
          held.store()
              .fetch(key(record / WINDOWS), FIRST_WINDOW, FIRST_WINDOW + RETENTION.toMillis())) {
        while (found.hasNext()) {
          found.next();
          seen++;
        }
      }
      if (seen == 0) {
        throw new IllegalStateException("no window of record " + record);
      }
    }
  }
}
