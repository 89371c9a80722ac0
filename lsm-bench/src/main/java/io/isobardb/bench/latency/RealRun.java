package io.isobardb.bench.latency;

import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.bench.engine.RocksLimits;
import io.isobardb.bench.engine.Session;
import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A load on an engine on the real clock, with a thread for each client. Used by one thread. */
final class RealRun {
  /** Waits shorter than this take longer than they should. */
  private static final long SHORTEST_WAIT_NANOS = 50_000;

  private static final double SECOND_NANOS = 1e9;

  private final LatencySpec spec;
  private final String name;
  private final double warmUpSeconds;
  private final Watcher watcher;
  private final List<Sample> samples = new ArrayList<>();
  private volatile long beginNanos = System.nanoTime();
  private volatile boolean begun;

  private RealRun(LatencySpec spec, String name, double warmUpSeconds, Watcher watcher) {
    this.spec = spec;
    this.name = name;
    this.warmUpSeconds = warmUpSeconds;
    this.watcher = watcher;
  }

  /**
   * Loads the records, serves requests that are not measured, waits until merges are done, and
   * serves the requests.
   *
   * @param dir an empty directory
   * @param warmUpSeconds how long requests are served before, so that code is compiled
   */
  static Outcome run(
      LatencySpec spec, Contender contender, Path dir, double warmUpSeconds, Watcher watcher)
      throws IOException, InterruptedException {
    RealRun run = new RealRun(spec, contender.label(), warmUpSeconds, watcher);
    return switch (contender) {
      case ROCKSDB, ROCKSDB_AUTOTUNED -> run.rocksDb(dir, contender == Contender.ROCKSDB_AUTOTUNED);
      case NONE -> run.none();
      default -> run.isobar(dir);
    };
  }

  private Outcome isobar(Path dir) throws IOException, InterruptedException {
    StoreOptions options = Stores.options(spec);
    Storage real = DirectoryStorage.open(dir, true);
    Storage storage =
        spec.machine().isDeviceLimited() ? new LimitedStorage(real, spec.machine().limits()) : real;
    Environment environment =
        new Environment(
            storage,
            Clock.SYSTEM,
            new ThreadScheduler("latency", options.backgroundThreads()),
            new SplittableRandom(spec.seed()));
    try (Store store = Inside.open(environment, options)) {
      Tree tree = store.openTree("t", Stores.treeOptions(spec));
      JobWatch jobs = new JobWatch(() -> begun ? nanos() : -1);
      store.addListener(jobs);
      Outcome outcome =
          serve(
              () -> Stores.target(store, tree),
              store::awaitQuiet,
              seconds -> samples.add(Sample.of(store, seconds)));
      Sample end = samples.get(samples.size() - 1);
      outcome
          .facts()
          .putAll(ReplayFacts.of(spec, samples.get(0), end, outcome.latencies().requests()));
      outcome.facts().put("store", store.options().toString());
      outcome.facts().put("runs", tree.runs().toString());
      return new Outcome(
          name,
          0,
          outcome.latencies(),
          outcome.seconds(),
          outcome.quietSeconds(),
          samples,
          jobs.spans(),
          outcome.facts());
    }
  }

  private Outcome rocksDb(Path dir, boolean autoTuned) throws InterruptedException {
    Machine machine = spec.machine();
    EngineOptions options = new EngineOptions(dir, machine.memoryBytes(), true, false, 1);
    // Equal terms: what is given to one engine as write memory is given to the other one.
    long writeBytes =
        spec.options().containsKey("writeMemory") ? Stores.options(spec).writeMemory() : 0;
    RocksLimits limits = new RocksLimits(writeBytes, machine.limiterBytes(), autoTuned);
    try (Engine engine = EngineKind.limitedRocksDb(options, limits)) {
      Outcome outcome = serve(() -> target(engine.openSession()), engine::settle, seconds -> {});
      outcome.facts().put("store", engine.configuration());
      return outcome;
    }
  }

  private static Target target(Session session) {
    return new Target(session, (keys, values) -> session.putAll(0, keys, values));
  }

  private Outcome none() throws InterruptedException {
    NoSession session = new NoSession(spec.content().valueBytes().least());
    return serve(() -> target(session), () -> {}, seconds -> {});
  }

  private Outcome serve(Supplier<Target> targets, Runnable quiet, Consumer<Double> sample)
      throws InterruptedException {
    int threads = spec.machine().clients();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Target> opened = new ArrayList<>();
    try {
      for (int i = 0; i < threads; i++) {
        opened.add(targets.get());
      }
      watcher.at(name + ": loading", 0, 1);
      List<Server> before = servers(opened, spec.seed() + 1);
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int from = i;
        running.add(pool.submit(() -> before.get(from).load(from, spec.records(), threads)));
      }
      await(running, seconds -> {});
      watcher.at(name + ": warming up", 0, 1);
      Arrivals first = spec.arrivals((long) (warmUpSeconds * SECOND_NANOS));
      beginNanos = System.nanoTime();
      running.clear();
      before.forEach(client -> running.add(pool.submit(() -> client.serve(first))));
      await(running, seconds -> {});
      quiet.run();
      List<Server> clients = servers(opened, spec.seed());
      Arrivals arrivals = spec.arrivals(spec.nanos());
      // The first sample loads classes for some 8 ms: no request may be due meanwhile.
      sample.accept(0.0);
      beginNanos = System.nanoTime();
      begun = true;
      running.clear();
      clients.forEach(client -> running.add(pool.submit(() -> client.serve(arrivals))));
      await(running, sample);
      double seconds = Math.max(spec.seconds(), nanos() / SECOND_NANOS);
      sample.accept(nanos() / SECOND_NANOS);
      quiet.run();
      Latencies latencies = new Latencies();
      clients.forEach(client -> latencies.add(client.latencies()));
      Map<String, String> facts = new LinkedHashMap<>();
      double quietSeconds = Math.max(seconds, nanos() / SECOND_NANOS);
      return new Outcome(name, 0, latencies, seconds, quietSeconds, List.of(), List.of(), facts);
    } finally {
      pool.shutdownNow();
      pool.awaitTermination(1, TimeUnit.MINUTES);
      opened.forEach(target -> target.session().close());
    }
  }

  private List<Server> servers(List<Target> targets, long seed) {
    return targets.stream().map(target -> spec.server(new Timer(), target, seed)).toList();
  }

  private void await(List<Future<?>> running, Consumer<Double> eachSecond)
      throws InterruptedException {
    long second = 1;
    for (Future<?> run : running) {
      while (!run.isDone()) {
        try {
          long wait = begun ? (long) (second * SECOND_NANOS) - nanos() : (long) SECOND_NANOS;
          run.get(Math.max(1, wait), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          if (begun) {
            watcher.at(name, Math.min(second, spec.seconds()), spec.seconds());
            eachSecond.accept(nanos() / SECOND_NANOS);
            second = (long) (nanos() / SECOND_NANOS) + 1;
          }
        } catch (ExecutionException e) {
          throw failed(e.getCause());
        }
      }
    }
    for (Future<?> run : running) {
      try {
        run.get();
      } catch (ExecutionException e) {
        throw failed(e.getCause());
      }
    }
  }

  private static FailedException failed(@Nullable Throwable cause) {
    return cause instanceof FailedException failed
        ? failed
        : new FailedException(Exit.FAILURE, "a request failed: " + cause, cause);
  }

  private long nanos() {
    return System.nanoTime() - beginNanos;
  }

  private final class Timer implements Client.Timer {
    @Override
    public long nanos() {
      return RealRun.this.nanos();
    }

    @Override
    public void until(long nanos) {
      for (long wait = nanos - nanos(); wait > SHORTEST_WAIT_NANOS; wait = nanos - nanos()) {
        LockSupport.parkNanos(this, wait);
        if (Thread.currentThread().isInterrupted()) {
          throw new FailedException(Exit.FAILURE, "interrupted");
        }
      }
    }

    @Override
    public void begins(int entries) {}

    @Override
    public void ends() {}
  }
}
