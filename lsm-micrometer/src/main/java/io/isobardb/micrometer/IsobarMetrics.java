package io.isobardb.micrometer;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.Figure;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import io.isobardb.memory.stats.Metric;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of an open store.
 *
 * <pre>{@code
 * IsobarMetrics metrics = new IsobarMetrics(store, Tags.of("store", "orders")).withTrees();
 * metrics.bindTo(registry);
 * }</pre>
 *
 * <p>There is a meter for each {@link Figure} of the store that has a number, called {@code
 * isobar.} and the figure's name. Counters count from the opening of the store. Times are in
 * seconds. With {@link #withTrees} there are also those of each tree, tagged with its name. Nothing
 * is pushed: the store is asked when the registry is read, at most once a second.
 *
 * <p>Once the store is closed, the next reading removes its meters, and so does binding another
 * one: a store that is opened again has them anew. A store that was bound and not closed is not
 * noticed to be lost.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class IsobarMetrics implements MeterBinder, AutoCloseable {
  private static final String PREFIX = "isobar.";
  private static final String NANOSECONDS = "nanoseconds";
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final double NANOS_PER_SECOND = 1e9;

  private final Store store;
  private final Tags tags;

  /** Told of trees that come and go; null without {@link #withTrees}. */
  private @Nullable StoreListener treeListener;

  private boolean closed;
  private long looked;

  /** What {@link #trees} was made from. */
  private @Nullable StoreStats last;

  private Map<String, TreeStats> trees = Map.of();

  /** Where it is bound to. Guarded by this. */
  private final List<Bound> bound = new ArrayList<>();

  /** A registry, and what it has of the store. */
  private static final class Bound {
    private final MeterRegistry registry;
    private final List<Meter> ofStore = new ArrayList<>();
    private final Map<String, List<Meter>> ofTrees = new HashMap<>();

    Bound(MeterRegistry registry) {
      this.registry = registry;
    }

    void remove(List<Meter> meters) {
      meters.forEach(registry::remove);
      meters.clear();
    }

    void removeAll() {
      remove(ofStore);
      ofTrees.values().forEach(this::remove);
      ofTrees.clear();
    }
  }

  /**
   * Metrics of a store, tagged {@code store} with its directory.
   *
   * @param store an open store
   */
  public IsobarMetrics(Store store) {
    this(store, Tags.of("store", store.path()));
  }

  /**
   * Metrics of a store.
   *
   * @param store an open store
   * @param tags of all its meters; different for each store of a registry
   */
  public IsobarMetrics(Store store, Iterable<Tag> tags) {
    this.store = Objects.requireNonNull(store, "store");
    this.tags = Tags.of(Objects.requireNonNull(tags, "tags"));
  }

  /**
   * Has the metrics of each tree, too, tagged {@code tree} with its name. Those of trees that are
   * created or dropped later come and go with them; their first values may be a second late. With
   * some thousand trees that is more than most metric systems like.
   *
   * @return this
   */
  public synchronized IsobarMetrics withTrees() {
    if (treeListener == null) {
      StoreListener listener =
          new StoreListener() {
            @Override
            public void onTreeCreated(TreeCreated event) {
              change(to -> addTree(to, event.tree()));
            }

            @Override
            public void onTreeDropped(TreeDropped event) {
              change(to -> removeTree(to, event.tree()));
            }
          };
      store.addListener(listener);
      treeListener = listener;
    }
    return this;
  }

  /** Changes what all registries have; {@link #close} has left none. */
  private synchronized void change(Consumer<Bound> how) {
    bound.forEach(how);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Objects.requireNonNull(registry, "registry");
    readOthers(registry);
    bind(registry);
  }

  /**
   * Reads what other stores have in a registry, so that those that are closed remove it. Else a
   * store that was closed and opened again would get the meters of before, and lose them at the
   * next reading. The monitor must not be held: this takes theirs.
   */
  private static void readOthers(MeterRegistry registry) {
    for (Meter meter : registry.getMeters()) {
      if (meter.getId().getName().startsWith(PREFIX)) {
        meter.measure().forEach(Measurement::getValue);
      }
    }
  }

  private synchronized void bind(MeterRegistry registry) {
    if (closed) {
      throw new IllegalStateException("these metrics are closed");
    }
    Bound to = new Bound(registry);
    bound.add(to);
    try {
      addAll(to, to.ofStore, Figure.ofStore(), store::metrics, tags);
      lookAtTrees();
    } catch (RuntimeException | Error e) {
      // The registry refuses a meter, or the store is closed.
      bound.remove(to);
      to.removeAll();
      throw e;
    }
  }

  /** Removes all meters. */
  @Override
  public synchronized void close() {
    closed = true;
    bound.forEach(Bound::removeAll);
    bound.clear();
    StoreListener listener = treeListener;
    if (listener != null) {
      store.removeListener(listener);
    }
  }

  /** Adds and removes meters, if it is time to: of trees, or all if the store was closed. */
  private synchronized void look() {
    if (closed || System.nanoTime() - looked < LOOK_NANOS) {
      return;
    }
    try {
      lookAtTrees();
    } catch (StoreClosedException e) {
      close();
    }
  }

  /** The monitor is held. A store that was closed throws. */
  private void lookAtTrees() {
    looked = System.nanoTime();
    List<String> names = store.treeNames();
    if (treeListener == null) {
      return;
    }
    for (Bound to : bound) {
      Set<String> gone = new HashSet<>(to.ofTrees.keySet());
      names.forEach(gone::remove);
      gone.forEach(name -> removeTree(to, name));
      names.forEach(name -> addTree(to, name));
    }
  }

  /** The monitor is held. */
  private void addTree(Bound to, String name) {
    if (!to.ofTrees.containsKey(name)) {
      List<Meter> meters = new ArrayList<>();
      to.ofTrees.put(name, meters);
      addAll(to, meters, Figure.ofTree(), new OneTree(name), tags.and("tree", name));
    }
  }

  /** The monitor is held. */
  private static void removeTree(Bound to, String name) {
    List<Meter> meters = to.ofTrees.remove(name);
    if (meters != null) {
      to.remove(meters);
    }
  }

  /**
   * The figures of a tree. Before the store's have it there are none; once it is gone they stay, so
   * that no counter that is read for the last time goes backwards.
   */
  private final class OneTree implements Supplier<@Nullable TreeStats> {
    private final String name;
    private volatile @Nullable TreeStats latest;

    OneTree(String name) {
      this.name = name;
    }

    @Override
    public @Nullable TreeStats get() {
      TreeStats now = trees().get(name);
      if (now != null) {
        latest = now;
      }
      return latest;
    }
  }

  private <S> void addAll(
      Bound to,
      List<Meter> meters,
      List<Figure<S>> figures,
      Supplier<? extends @Nullable S> stats,
      Tags with) {
    for (Figure<S> figure : figures) {
      Metric metric = figure.metric();
      if (metric.kind() == Metric.Kind.TEXT) {
        continue;
      }
      if (metric.tag().isEmpty()) {
        meters.add(add(to.registry, figure, with, any -> number(read(figure, stats), metric)));
        continue;
      }
      for (Object key : map(read(figure, stats)).keySet()) {
        Tags one = with.and(metric.tag(), key.toString());
        meters.add(
            add(
                to.registry,
                figure,
                one,
                any -> number(map(read(figure, stats)).get(key), metric)));
      }
    }
  }

  private Meter add(
      MeterRegistry registry, Figure<?> figure, Tags with, ToDoubleFunction<Store> value) {
    Metric metric = figure.metric();
    String name = PREFIX + figure.name();
    String unit = unit(metric);
    // Registries hold the store weakly, and the function, which leads to it, strongly.
    return metric.kind() == Metric.Kind.COUNTER
        ? FunctionCounter.builder(name, store, value)
            .description(metric.value())
            .baseUnit(unit)
            .tags(with)
            .register(registry)
        : Gauge.builder(name, store, value)
            .description(metric.value())
            .baseUnit(unit)
            .tags(with)
            .register(registry);
  }

  /** Others would stand twice in the names that Prometheus makes. */
  private static @Nullable String unit(Metric metric) {
    return switch (metric.unit()) {
      case "bytes" -> "bytes";
      case NANOSECONDS -> "seconds";
      default -> null;
    };
  }

  /** The values of a figure that has a tag; empty if it could not be read. */
  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  private static double number(@Nullable Object value, Metric metric) {
    if (!(value instanceof Number number)) {
      // Registries add up differences of counters.
      return metric.kind() == Metric.Kind.COUNTER ? 0 : Double.NaN;
    }
    double plain = number.doubleValue();
    return metric.unit().equals(NANOSECONDS) ? plain / NANOS_PER_SECOND : plain;
  }

  /** The value of a figure; null if the store was closed, which ends this, or the tree dropped. */
  private <S> @Nullable Object read(Figure<S> figure, Supplier<? extends @Nullable S> stats) {
    look();
    try {
      S now = stats.get();
      return now == null ? null : figure.of(now);
    } catch (StoreClosedException e) {
      if (!Thread.holdsLock(this)) { // else meters are being added: the next reading does it
        close();
      }
      return null;
    }
  }

  /** The trees by name, as {@link Store#metrics} has them. */
  private synchronized Map<String, TreeStats> trees() {
    StoreStats now = store.metrics();
    if (now != last) {
      Map<String, TreeStats> named = new HashMap<>();
      now.trees().forEach(tree -> named.put(tree.name(), tree));
      trees = named;
      last = now;
    }
    return trees;
  }
}
