package io.isobardb.lsm.sstable;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.Purpose;
import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** A cache of a fixed number of pages, evicting in the order of arrival. */
final class MapCache implements PageCache {
  private final PagePool pool;
  private final int capacity;
  final Map<Long, Integer> pages = new LinkedHashMap<>();
  final Map<Long, Integer> pins = new HashMap<>();
  int loads;

  MapCache(PagePool pool, int capacity) {
    this.pool = pool;
    this.capacity = capacity;
  }

  @Override
  public synchronized int find(long key) {
    return pages.getOrDefault(key, ABSENT);
  }

  @Override
  public synchronized int pin(long key, AccessMode mode) {
    int page = find(key);
    if (page != ABSENT) {
      pins.merge(key, 1, Integer::sum);
    }
    return page;
  }

  @Override
  public synchronized int load(long key, Loader loader, AccessMode mode) throws IOException {
    if (!pages.containsKey(key)) {
      int page = pool.allocate(Purpose.CACHE);
      Memory memory = pool.memory(page);
      try {
        loader.load(key, memory, pool.base(page));
      } catch (IOException | RuntimeException e) {
        pool.release(page, Purpose.CACHE);
        throw e;
      }
      loads++;
      put(key, page);
    }
    return pin(key, mode);
  }

  @Override
  public synchronized void unpin(long key) {
    if (pins.merge(key, -1, Integer::sum) == 0) {
      pins.remove(key);
    }
  }

  @Override
  public synchronized void adopt(long key, int page, Purpose from) {
    pool.transfer(from, Purpose.CACHE, 1);
    if (pages.containsKey(key)) {
      pool.retire(page, Purpose.CACHE);
    } else {
      put(key, page);
    }
  }

  private void put(long key, int page) {
    pages.put(key, page);
    Iterator<Map.Entry<Long, Integer>> eldest = pages.entrySet().iterator();
    while (pages.size() > capacity && eldest.hasNext()) {
      Map.Entry<Long, Integer> entry = eldest.next();
      if (entry.getKey() != key && !pins.containsKey(entry.getKey())) {
        eldest.remove();
        pool.retire(entry.getValue(), Purpose.CACHE);
      }
    }
  }

  @Override
  public synchronized void drop(int file, int pageCount) {
    pages
        .entrySet()
        .removeIf(
            e -> {
              boolean goes = e.getKey() >>> 32 == file;
              if (goes) {
                pool.retire(e.getValue(), Purpose.CACHE);
              }
              return goes;
            });
  }
}
