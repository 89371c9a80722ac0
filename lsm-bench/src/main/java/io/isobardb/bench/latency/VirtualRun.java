package io.isobardb.bench.latency;

import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.Recording;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualScheduler;
import io.isobardb.lsm.simulation.VirtualStorage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A load on Isobar in virtual time: equal seeds give equal latencies, however busy the machine is.
 * The disk's content is on the heap. Used by one thread.
 */
final class VirtualRun {
  /** A step of a job carries this, and takes so much processor time. */
  private static final int STEP_BYTES = 64 << 10;

  private static final long STEP_NANOS = 100_000;

  /** Processor time of a request, and of each further entry that it touches. */
  private static final long REQUEST_NANOS = 3_000;

  private static final long ENTRY_NANOS = 500;
  private static final double SECOND_NANOS = 1e9;

  private final LatencySpec spec;
  private final String name;
  private final Jobs jobs;
  private final Watcher watcher;
  private final SimulatedClock clock = new SimulatedClock();
  private final VirtualScheduler scheduler;
  private final List<Sample> samples = new ArrayList<>();
  private long beginNanos = Long.MAX_VALUE;
  private boolean isQuiet;

  private VirtualRun(LatencySpec spec, String name, Jobs jobs, Watcher watcher) {
    this.spec = spec;
    this.name = name;
    this.jobs = jobs;
    this.watcher = watcher;
    Machine machine = spec.machine();
    scheduler =
        new VirtualScheduler(
            clock,
            new VirtualScheduler.Machine(
                Stores.options(spec).backgroundThreads(),
                machine.processors(),
                STEP_NANOS,
                STEP_BYTES,
                machine.limits()));
  }

  /**
   * Loads the records, waits until merges are done, and serves the requests.
   *
   * @param name of the engine
   * @param jobs how flushes and merges run, once the records are loaded
   */
  static Outcome run(LatencySpec spec, String name, Jobs jobs, Watcher watcher) {
    return new VirtualRun(spec, name, jobs, watcher).run(spec.records());
  }

  /** As {@link #run}, on an empty store. */
  static Outcome runEmpty(LatencySpec spec, String name, Jobs jobs, Watcher watcher) {
    return new VirtualRun(spec, name, jobs, watcher).run(0);
  }

  private Outcome run(long records) {
    StoreOptions options = Stores.options(spec);
    SimulatedStorage disk = new SimulatedStorage(clock);
    VirtualStorage storage = new VirtualStorage(disk, scheduler);
    try (Store store =
        Inside.open(
            new Environment(storage, clock, scheduler, new SplittableRandom(spec.seed())),
            options)) {
      Tree tree = store.openTree("t", Stores.treeOptions(spec));
      watcher.at(name + ": loading", 0, 1);
      server(store, tree).load(0, records, 1);
      store.awaitQuiet();
      scheduler.settle();
      if (jobs == Jobs.FAIR) {
        scheduler.fairJobs();
      }
      if (jobs == Jobs.FREE) {
        scheduler.freeJobs();
      } else if (spec.machine().jobBytes() < Long.MAX_VALUE) {
        scheduler.limitJobs(spec.machine().jobBytes());
      }
      JobWatch watch = new JobWatch(this::nanos);
      store.addListener(watch);
      Recording recording = Stores.record(store, spec);
      try {
        return serve(store, tree, watch);
      } finally {
        if (recording != null) {
          recording.close();
        }
      }
    }
  }

  private Outcome serve(Store store, Tree tree, JobWatch watch) {
    beginNanos = clock.nanos();
    long busyBefore = scheduler.deviceBusyNanos();
    Arrivals arrivals = spec.arrivals(spec.nanos());
    List<Server> clients = new ArrayList<>();
    List<VirtualScheduler.Client> running = new ArrayList<>();
    for (int i = 0; i < spec.machine().clients(); i++) {
      Server client = server(store, tree);
      clients.add(client);
      running.add(scheduler.client("client-" + i, () -> client.serve(arrivals)));
    }
    VirtualScheduler.Client sampler = scheduler.client("samples", () -> sample(store));
    running.forEach(VirtualScheduler.Client::join);
    final double seconds = Math.max(spec.seconds(), nanos() / SECOND_NANOS);
    final Sample end = Sample.of(store, seconds);
    store.awaitQuiet();
    scheduler.settle();
    final double quiet = Math.max(seconds, nanos() / SECOND_NANOS);
    final long busy = scheduler.deviceBusyNanos() - busyBefore;
    isQuiet = true;
    sampler.join();
    Latencies latencies = new Latencies();
    clients.forEach(client -> latencies.add(client.latencies()));
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("store", store.options().toString());
    facts.put("runs", tree.runs().toString());
    facts.putAll(ReplayFacts.of(spec, samples.get(0), end, latencies.requests()));
    facts.put(
        "device busy",
        String.format(Locale.ROOT, "%.1f %% of the time", 100 * busy / (quiet * SECOND_NANOS)));
    return new Outcome(name, 0, latencies, seconds, quiet, samples, watch.spans(), facts);
  }

  /** Looks once a second, until merges are done. */
  private void sample(Store store) {
    for (int second = 0; !isQuiet; second++) {
      samples.add(Sample.of(store, nanos() / SECOND_NANOS));
      watcher.at(name, Math.min(second, spec.seconds()), spec.seconds());
      scheduler.sleepUntil(beginNanos + (long) ((second + 1) * SECOND_NANOS));
    }
    samples.add(Sample.of(store, nanos() / SECOND_NANOS));
  }

  private Server server(Store store, Tree tree) {
    return spec.server(new Timer(), Stores.target(store, tree), spec.seed());
  }

  /** Since the run began; below 0 before. */
  private long nanos() {
    return clock.nanos() - beginNanos;
  }

  private final class Timer implements Client.Timer {
    @Override
    public long nanos() {
      return VirtualRun.this.nanos();
    }

    @Override
    public void until(long nanos) {
      scheduler.sleepUntil(beginNanos + nanos);
    }

    @Override
    public void begins(int entries) {
      scheduler.compute(REQUEST_NANOS + (entries - 1) * ENTRY_NANOS);
    }

    @Override
    public void ends() {
      scheduler.settle();
    }
  }
}
