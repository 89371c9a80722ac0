package io.isobardb.memory.cache;

/** What a cache asks of those that it shares memory with. Any thread; all return at once. */
public interface CacheNeighbours {
  /** Those of a cache that has its memory for itself. */
  CacheNeighbours NONE =
      new CacheNeighbours() {
        @Override
        public int sparePages() {
          return 0;
        }

        @Override
        public void askForPages() {}

        @Override
        public void onMissed() {}
      };

  /**
   * How many pages the cache may hold besides its target: what others do not use of theirs. Others
   * take them back from the pool, whose reclaimer the cache is. Asked with each miss.
   */
  int sparePages();

  /**
   * Makes others give back what they can do without: all pages are pinned, or the pool is dry.
   * Called by a thread that waits, and may hold pins.
   */
  void askForPages();

  /** A page was not there, and is about to be read. */
  void onMissed();
}
