package io.isobardb.lsm.typed;

import java.util.AbstractSet;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map.Entry;
import java.util.NavigableSet;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentNavigableMap;
import org.jspecify.annotations.Nullable;

/** The keys of a map as a set. */
final class LiveKeys<K, V> extends AbstractSet<K> implements NavigableSet<K> {
  private final ConcurrentNavigableMap<K, V> map;

  LiveKeys(ConcurrentNavigableMap<K, V> map) {
    this.map = map;
  }

  @Override
  public Iterator<K> iterator() {
    Iterator<Entry<K, V>> entries = map.entrySet().iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return entries.hasNext();
      }

      @Override
      public K next() {
        return entries.next().getKey();
      }

      @Override
      public void remove() {
        entries.remove();
      }
    };
  }

  @Override
  public int size() {
    return map.size();
  }

  @Override
  public boolean isEmpty() {
    return map.isEmpty();
  }

  @Override
  public boolean contains(@Nullable Object key) {
    return map.containsKey(key);
  }

  @Override
  public boolean remove(@Nullable Object key) {
    return map.remove(key) != null;
  }

  @Override
  public void clear() {
    map.clear();
  }

  @Override
  public @Nullable Comparator<? super K> comparator() {
    return map.comparator();
  }

  @Override
  public K first() {
    return map.firstKey();
  }

  @Override
  public K last() {
    return map.lastKey();
  }

  @Override
  public @Nullable K lower(K key) {
    return map.lowerKey(key);
  }

  @Override
  public @Nullable K floor(K key) {
    return map.floorKey(key);
  }

  @Override
  public @Nullable K ceiling(K key) {
    return map.ceilingKey(key);
  }

  @Override
  public @Nullable K higher(K key) {
    return map.higherKey(key);
  }

  @Override
  public @Nullable K pollFirst() {
    return keyOf(map.pollFirstEntry());
  }

  @Override
  public @Nullable K pollLast() {
    return keyOf(map.pollLastEntry());
  }

  private static <K, V> @Nullable K keyOf(@Nullable Entry<K, V> entry) {
    return entry == null ? null : entry.getKey();
  }

  @Override
  public NavigableSet<K> descendingSet() {
    return map.descendingMap().navigableKeySet();
  }

  @Override
  public Iterator<K> descendingIterator() {
    return descendingSet().iterator();
  }

  @Override
  public NavigableSet<K> subSet(K from, boolean fromInclusive, K to, boolean toInclusive) {
    return map.subMap(from, fromInclusive, to, toInclusive).navigableKeySet();
  }

  @Override
  public NavigableSet<K> headSet(K to, boolean inclusive) {
    return map.headMap(to, inclusive).navigableKeySet();
  }

  @Override
  public NavigableSet<K> tailSet(K from, boolean inclusive) {
    return map.tailMap(from, inclusive).navigableKeySet();
  }

  @Override
  public SortedSet<K> subSet(K from, K to) {
    return subSet(from, true, to, false);
  }

  @Override
  public SortedSet<K> headSet(K to) {
    return headSet(to, false);
  }

  @Override
  public SortedSet<K> tailSet(K from) {
    return tailSet(from, true);
  }
}
