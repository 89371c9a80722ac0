package io.isobardb.micrometer;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.observe.Metric;
import io.isobardb.lsm.observe.StoreMXBean;
import io.isobardb.lsm.observe.TreeMXBean;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
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
 * <p>There is a meter for each attribute of {@link StoreMXBean} that has a number, called {@code
 * isobar.} and the name of its {@link Metric}. Counters count from the opening of the store. Times
 * are in seconds. With {@link #withTrees} there are also those of {@link TreeMXBean}, tagged with
 * the tree's name. Nothing is pushed: the store is asked when the registry is read, at most once a
 * second.
 *
 * <p>Once the store is closed, the next reading removes its meters. A store that was bound and not
 * closed is not noticed to be lost.
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
  private boolean perTree;
  private boolean closed;
  private long looked;

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
  }

  /** Metrics of a store, tagged {@code store} with its directory. */
  public IsobarMetrics(Store store) {
    this(store, Tags.of("store", store.metrics().getPath()));
  }

  /**
   * Metrics of a store.
   *
   * @param tags of all its meters; different for each store of a registry
   */
  public IsobarMetrics(Store store, Iterable<Tag> tags) {
    this.store = Objects.requireNonNull(store, "store");
    this.tags = Tags.of(Objects.requireNonNull(tags, "tags"));
  }

  /**
   * Has the metrics of each tree, too, tagged {@code tree} with its name. Trees that are created or
   * dropped later come and go when the registry is next read. With some thousand trees that is more
   * than most metric systems like.
   *
   * @return this
   */
  public synchronized IsobarMetrics withTrees() {
    perTree = true;
    return this;
  }

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    if (closed) {
      throw new IllegalStateException("these metrics are closed");
    }
    Bound to = new Bound(Objects.requireNonNull(registry, "registry"));
    addAll(to, to.ofStore, StoreMXBean.class, store.metrics(), tags);
    bound.add(to);
    lookAtTrees();
  }

  /** Removes all meters. */
  @Override
  public synchronized void close() {
    closed = true;
    for (Bound to : bound) {
      to.remove(to.ofStore);
      to.ofTrees.values().forEach(to::remove);
    }
    bound.clear();
  }

  /** Adds and removes meters of trees, if it is time to. */
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

  /** The monitor is held. */
  private void lookAtTrees() {
    looked = System.nanoTime();
    if (!perTree) {
      return;
    }
    Map<String, TreeMXBean> beans = store.treeMetrics();
    for (Bound to : bound) {
      Set<String> gone = new HashSet<>(to.ofTrees.keySet());
      gone.removeAll(beans.keySet());
      gone.forEach(name -> to.remove(to.ofTrees.remove(name)));
      Set<String> fresh = new TreeSet<>(beans.keySet());
      fresh.removeAll(to.ofTrees.keySet());
      for (String name : fresh) {
        List<Meter> meters = new ArrayList<>();
        addAll(to, meters, TreeMXBean.class, beans.get(name), tags.and("tree", name));
        to.ofTrees.put(name, meters);
      }
    }
  }

  private void addAll(Bound to, List<Meter> meters, Class<?> type, Object bean, Tags with) {
    for (Method getter : type.getMethods()) {
      Metric metric = getter.getAnnotation(Metric.class);
      if (metric == null || metric.kind() == Metric.Kind.TEXT) {
        continue;
      }
      if (metric.tag().isEmpty()) {
        meters.add(add(to.registry, metric, with, any -> number(read(getter, bean), metric)));
        continue;
      }
      for (Object key : ((Map<?, ?>) Objects.requireNonNull(read(getter, bean))).keySet()) {
        Tags one = with.and(metric.tag(), key.toString());
        meters.add(add(to.registry, metric, one, any -> number(of(key, getter, bean), metric)));
      }
    }
  }

  private Meter add(
      MeterRegistry registry, Metric metric, Tags with, ToDoubleFunction<Store> value) {
    String name = PREFIX + metric.name();
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

  private @Nullable Object of(Object key, Method getter, Object bean) {
    return read(getter, bean) instanceof Map<?, ?> map ? map.get(key) : null;
  }

  private static double number(@Nullable Object value, Metric metric) {
    if (!(value instanceof Number number)) {
      return Double.NaN;
    }
    double plain = number.doubleValue();
    return metric.unit().equals(NANOSECONDS) ? plain / NANOS_PER_SECOND : plain;
  }

  /** An attribute; null if the store was closed, or the tree dropped. */
  private @Nullable Object read(Method getter, Object bean) {
    look();
    try {
      return getter.invoke(bean);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof StoreClosedException) {
        return null;
      }
      throw new IllegalStateException(getter + " failed", e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(getter + " is not public", e);
    }
  }
}
