package io.isobardb.lsm.typed;

import io.isobardb.lsm.Cursor;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Comparator;
import java.util.Iterator;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a range of a typed tree as a map, in their order or the opposite one.
 *
 * <p>Thread rule: all methods may be called by any thread; iterators by one at a time.
 */
final class LiveMap<K, V> extends AbstractMap<K, V> implements ConcurrentNavigableMap<K, V> {
  private final TypedTree<K, V> tree;
  private final ByteRange range;
  private final boolean descending;

  LiveMap(TypedTree<K, V> tree, ByteRange range, boolean descending) {
    this.tree = tree;
    this.range = range;
    this.descending = descending;
  }

  // ---- single keys

  /** The type of what is looked for is found out by the codec's cast. */
  @SuppressWarnings("unchecked")
  private K key(@Nullable Object key) {
    return (K) Objects.requireNonNull(key, "key");
  }

  private boolean holds(K key) {
    return range == ByteRange.ALL || range.contains(tree.encodeKey(key));
  }

  private K checked(K key) {
    if (!holds(key(key))) {
      throw new IllegalArgumentException("key " + key + " is outside of the map's range");
    }
    return key;
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    return holds(key(key)) && tree.contains(key(key));
  }

  @Override
  public boolean containsValue(@Nullable Object value) {
    return super.containsValue(Objects.requireNonNull(value, "value"));
  }

  @Override
  public @Nullable V get(@Nullable Object key) {
    return holds(key(key)) ? tree.get(key(key)) : null;
  }

  @Override
  public @Nullable V put(K key, V value) {
    return tree.getAndPut(checked(key), value);
  }

  @Override
  public @Nullable V remove(@Nullable Object key) {
    return holds(key(key)) ? tree.remove(key(key)) : null;
  }

  @Override
  public @Nullable V putIfAbsent(K key, V value) {
    return tree.putIfAbsent(checked(key), value);
  }

  @Override
  public @Nullable V replace(K key, V value) {
    Objects.requireNonNull(value, "value");
    return tree.replace(checked(key), value);
  }

  @Override
  public boolean replace(K key, V expected, V value) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(expected, "expected");
    return tree.replace(checked(key), expected, value);
  }

  @Override
  @SuppressWarnings("unchecked")
  public boolean remove(@Nullable Object key, @Nullable Object expected) {
    return expected != null && holds(key(key)) && tree.remove(key(key), (V) expected);
  }

  // What is stored is compared as it is: a codec need not give back the bytes that it has read.

  @Override
  public @Nullable V compute(
      K key, BiFunction<? super K, ? super @Nullable V, ? extends @Nullable V> make) {
    boolean inside = holds(key(key));
    // Outside of the range there is nothing, and nothing may come there.
    return !inside && make.apply(key, null) == null ? null : tree.compute(checked(key), make);
  }

  @Override
  public @Nullable V computeIfPresent(
      K key, BiFunction<? super K, ? super V, ? extends @Nullable V> make) {
    Objects.requireNonNull(make, "make");
    return compute(key, (same, value) -> value == null ? null : make.apply(same, value));
  }

  @Override
  public @Nullable V merge(
      K key, V value, BiFunction<? super V, ? super V, ? extends @Nullable V> make) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(make, "make");
    return compute(key, (same, old) -> old == null ? value : make.apply(old, value));
  }

  @Override
  public void replaceAll(BiFunction<? super K, ? super V, ? extends V> make) {
    for (K key : keySet()) {
      computeIfPresent(key, (same, value) -> Objects.requireNonNull(make.apply(same, value)));
    }
  }

  @Override
  public boolean isEmpty() {
    return firstEntry() == null;
  }

  @Override
  public int size() {
    long size = 0;
    try (Cursor cursor = tree.tree().cursor(range.options())) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        size++;
      }
    }
    return (int) Math.min(size, Integer.MAX_VALUE);
  }

  // ---- neighbours

  /** What a cursor over the map's range finds. */
  private @Nullable Entry<K, V> find(Function<Cursor, Boolean> move) {
    if (range.isEmpty()) {
      return null;
    }
    try (Cursor cursor = tree.tree().cursor(range.options())) {
      return move.apply(cursor) ? tree.entry(cursor) : null;
    }
  }

  /** The nearest entry behind a key in the map's order, or before it. */
  private @Nullable Entry<K, V> near(K key, boolean behind, boolean inclusive) {
    byte[] at = tree.encodeKey(key(key));
    return behind != descending
        ? find(cursor -> cursor.seek(inclusive ? at : ByteRange.next(at)))
        : find(cursor -> cursor.seekBefore(inclusive ? ByteRange.next(at) : at));
  }

  private static <K, V> @Nullable K keyOf(@Nullable Entry<K, V> entry) {
    return entry == null ? null : entry.getKey();
  }

  @Override
  public @Nullable Entry<K, V> firstEntry() {
    return find(cursor -> descending ? cursor.last() : cursor.first());
  }

  @Override
  public @Nullable Entry<K, V> lastEntry() {
    return find(cursor -> descending ? cursor.first() : cursor.last());
  }

  @Override
  public @Nullable Entry<K, V> lowerEntry(K key) {
    return near(key, false, false);
  }

  @Override
  public @Nullable Entry<K, V> floorEntry(K key) {
    return near(key, false, true);
  }

  @Override
  public @Nullable Entry<K, V> ceilingEntry(K key) {
    return near(key, true, true);
  }

  @Override
  public @Nullable Entry<K, V> higherEntry(K key) {
    return near(key, true, false);
  }

  @Override
  public @Nullable K lowerKey(K key) {
    return keyOf(lowerEntry(key));
  }

  @Override
  public @Nullable K floorKey(K key) {
    return keyOf(floorEntry(key));
  }

  @Override
  public @Nullable K ceilingKey(K key) {
    return keyOf(ceilingEntry(key));
  }

  @Override
  public @Nullable K higherKey(K key) {
    return keyOf(higherEntry(key));
  }

  @Override
  public K firstKey() {
    return present(firstEntry()).getKey();
  }

  @Override
  public K lastKey() {
    return present(lastEntry()).getKey();
  }

  private static <T> T present(@Nullable T entry) {
    if (entry == null) {
      throw new NoSuchElementException("the map is empty");
    }
    return entry;
  }

  @Override
  public @Nullable Entry<K, V> pollFirstEntry() {
    return poll(true);
  }

  @Override
  public @Nullable Entry<K, V> pollLastEntry() {
    return poll(false);
  }

  private @Nullable Entry<K, V> poll(boolean first) {
    while (!range.isEmpty()) {
      Entry<K, V> entry;
      byte[] key;
      byte[] value;
      try (Cursor cursor = tree.tree().cursor(range.options())) {
        if (!(first != descending ? cursor.first() : cursor.last())) {
          return null;
        }
        entry = tree.entry(cursor);
        key = cursor.key();
        value = cursor.value();
      }
      if (tree.tree().compareAndSet(key, value, null)) {
        return entry;
      }
    }
    return null;
  }

  // ---- views

  @Override
  public Comparator<? super K> comparator() {
    Comparator<K> order = tree.keys().comparator();
    return descending ? order.reversed() : order;
  }

  @Override
  public ConcurrentNavigableMap<K, V> descendingMap() {
    return new LiveMap<>(tree, range, !descending);
  }

  /** The range from a key on in the map's order, or up to it. */
  private ByteRange bounded(K key, boolean inclusive, boolean from) {
    byte[] bound = tree.encodeKey(key(key));
    if (!range.takes(bound, inclusive)) {
      throw new IllegalArgumentException("key " + key + " is outside of the map's range");
    }
    return from != descending ? range.from(bound, inclusive) : range.to(bound, inclusive);
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(
      K from, boolean fromInclusive, K to, boolean toInclusive) {
    if (comparator().compare(key(from), key(to)) > 0) {
      throw new IllegalArgumentException("the range ends before it begins: " + from + ", " + to);
    }
    ByteRange begun = bounded(from, fromInclusive, true);
    ByteRange ended = bounded(to, toInclusive, false);
    // Of two bounds each may lie at the other's end: then nothing is between.
    return new LiveMap<>(tree, begun.intersect(ended), descending);
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to, boolean inclusive) {
    return new LiveMap<>(tree, bounded(to, inclusive, false), descending);
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from, boolean inclusive) {
    return new LiveMap<>(tree, bounded(from, inclusive, true), descending);
  }

  @Override
  public ConcurrentNavigableMap<K, V> subMap(K from, K to) {
    return subMap(from, true, to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> headMap(K to) {
    return headMap(to, false);
  }

  @Override
  public ConcurrentNavigableMap<K, V> tailMap(K from) {
    return tailMap(from, true);
  }

  @Override
  public NavigableSet<K> navigableKeySet() {
    return new LiveKeys<>(this);
  }

  @Override
  public NavigableSet<K> keySet() {
    return navigableKeySet();
  }

  @Override
  public NavigableSet<K> descendingKeySet() {
    return descendingMap().navigableKeySet();
  }

  @Override
  public Set<Entry<K, V>> entrySet() {
    return new EntrySet();
  }

  private final class EntrySet extends AbstractSet<Entry<K, V>> {
    @Override
    public int size() {
      return LiveMap.this.size();
    }

    @Override
    public boolean isEmpty() {
      return LiveMap.this.isEmpty();
    }

    @Override
    public Iterator<Entry<K, V>> iterator() {
      return new LiveIterator<>(tree, range, descending);
    }

    @Override
    public boolean contains(@Nullable Object other) {
      return other instanceof Entry<?, ?> entry
          && entry.getKey() != null
          && entry.getValue() != null
          && entry.getValue().equals(LiveMap.this.get(entry.getKey()));
    }

    @Override
    public boolean remove(@Nullable Object other) {
      return other instanceof Entry<?, ?> entry
          && entry.getKey() != null
          && LiveMap.this.remove(entry.getKey(), entry.getValue());
    }
  }
}
