package io.isobardb.lsm.observe;

import io.isobardb.memory.stats.Metric;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A figure that monitoring is told of: what its {@link Metric} says, and how to read it from
 * statistics. The figures of a type are found once, when they are first asked for: opening a store
 * asks for none.
 *
 * <pre>{@code
 * StoreStats stats = store.metrics();
 * for (Figure<StoreStats> figure : Figure.ofStore()) {
 *   System.out.println(figure.attribute() + " = " + figure.of(stats));
 * }
 * }</pre>
 *
 * <p>Thread rule: immutable.
 *
 * @param <S> the statistics that have it
 */
public final class Figure<S> {
  private static final String BYTES = "Bytes";

  private final String name;
  private final String attribute;
  private final Metric metric;
  private final Class<?> type;
  private final Function<S, Object> reader;

  private Figure(String prefix, Metric metric, Method accessor, Function<S, Object> reader) {
    this.name = metric.name().isEmpty() ? "" : prefix + metric.name();
    this.attribute = metric.attribute().isEmpty() ? attribute(accessor) : metric.attribute();
    this.metric = metric;
    this.type = metric.tag().isEmpty() ? type(accessor.getReturnType()) : Map.class;
    this.reader = reader;
  }

  /** Those of a store. */
  private static final class OfStore {
    static final List<Figure<StoreStats>> FIGURES = find(StoreStats.class, "");
  }

  /** Those of a tree. */
  private static final class OfTree {
    static final List<Figure<StoreStats.TreeStats>> FIGURES =
        find(StoreStats.TreeStats.class, "tree.");
  }

  /**
   * {@return the figures of a store, those of its trees left out; ordered by {@link #attribute}}
   */
  public static List<Figure<StoreStats>> ofStore() {
    return OfStore.FIGURES;
  }

  /**
   * {@return the figures of a tree, ordered by {@link #attribute}} Their names begin with {@code
   * tree.}.
   */
  public static List<Figure<StoreStats.TreeStats>> ofTree() {
    return OfTree.FIGURES;
  }

  /** {@return the metric's name, in lower case with dots; empty if it is a text} */
  public String name() {
    return name;
  }

  /** {@return the attribute's name in JMX} */
  public String attribute() {
    return attribute;
  }

  /** {@return its kind, unit, tag, and what it tells} */
  public Metric metric() {
    return metric;
  }

  /**
   * {@return what its values are: {@code int}, {@code long}, {@code double}, a string, or a map}
   */
  public Class<?> type() {
    return type;
  }

  /**
   * Reads it. True is told as 1 and false as 0, a list as its size, and times of calls as their
   * quantiles.
   *
   * @param stats what the figure is read from
   * @return a number or string, or a map of longs by strings if the figure has a {@linkplain
   *     Metric#tag tag}
   */
  public Object of(S stats) {
    return told(reader.apply(stats));
  }

  @Override
  public String toString() {
    return name.isEmpty() ? attribute : name;
  }

  private static <S> List<Figure<S>> find(Class<S> type, String prefix) {
    List<Figure<S>> found = new ArrayList<>();
    find(type, stats -> stats, prefix, found);
    found.sort(Comparator.comparing(Figure::attribute));
    return List.copyOf(found);
  }

  /** Finds the figures of a record and of the records in it. */
  private static <S> void find(
      Class<?> type, Function<S, Object> part, String prefix, List<Figure<S>> found) {
    for (Method accessor : type.getDeclaredMethods()) {
      Metric metric = accessor.getAnnotation(Metric.class);
      if (metric != null && !metric.value().isEmpty()) {
        found.add(new Figure<>(prefix, metric, accessor, part.andThen(of -> get(accessor, of))));
      }
    }
    for (RecordComponent component : type.getRecordComponents()) {
      Method accessor = component.getAccessor();
      Class<?> inner = inner(component.getGenericType());
      if (inner.isRecord()) {
        find(inner, part.andThen(of -> get(accessor, of)), prefix, found);
      }
    }
  }

  /** The values' type of a map, or the type itself. */
  private static Class<?> inner(Type type) {
    if (type instanceof ParameterizedType generic) {
      return generic.getRawType() == Map.class
          ? (Class<?>) generic.getActualTypeArguments()[1]
          : (Class<?>) generic.getRawType();
    }
    return (Class<?>) type;
  }

  private static Class<?> type(Class<?> type) {
    return type == boolean.class || type == List.class ? int.class : type;
  }

  private static String attribute(Method accessor) {
    String name = accessor.getName();
    String whole = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    return withoutBytes(whole);
  }

  /** A component's name as attributes and JSON have it: values are in bytes, unless said. */
  static String withoutBytes(String name) {
    return name.endsWith(BYTES) ? name.substring(0, name.length() - BYTES.length()) : name;
  }

  /** A component of a record, or of each record of a map. */
  private static Object get(Method accessor, Object part) {
    if (part instanceof Map<?, ?> map) {
      Map<Object, Object> each = new TreeMap<>();
      map.forEach((key, value) -> each.put(key, get(accessor, value)));
      return each;
    }
    return read(accessor, part);
  }

  /** Calls a public method of statistics. */
  static Object read(Method accessor, Object stats) {
    try {
      return accessor.invoke(stats);
    } catch (InvocationTargetException | IllegalAccessException e) {
      throw new IllegalStateException(accessor + " can't be read", e);
    }
  }

  private static Object told(Object value) {
    if (value instanceof Boolean is) {
      return is ? 1 : 0;
    }
    if (value instanceof List<?> list) {
      return list.size();
    }
    if (value instanceof LatencyStats times) {
      return times.quantiles();
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, Object> named = new TreeMap<>();
      map.forEach((key, each) -> named.put(((Enum<?>) key).name(), each));
      return named;
    }
    return value;
  }
}
