package io.isobardb.memory.cache;

/** Entries that were removed from the page table: their keys and their pages. For one thread. */
final class Victims {
  final long[] keys;
  final int[] pages;
  int count;

  /** How many of them were pinned. */
  int pinned;

  Victims(int capacity) {
    this.keys = new long[capacity];
    this.pages = new int[capacity];
  }

  boolean isFull() {
    return count == pages.length;
  }

  void add(long key, int page) {
    keys[count] = key;
    pages[count++] = page;
  }
}
