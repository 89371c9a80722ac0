package io.isobardb.memory.cache;

/**
 * Divides a cache's memory between pages and single entries: it goes where one page more saves more
 * reads. How many it would save is known of either from its ghosts. Pure functions.
 */
final class CacheBalance {
  /** The entries get this part of all at first. */
  private static final int FIRST = 32;

  /** They get a quarter more than they have, or give an eighth. */
  private static final int MORE = 4;

  private static final int LESS = 8;

  /** The entries keep this part of the memory, else nobody would know what they could save. */
  private static final int LEAST = 64;

  /** A difference of less than a fifth is noise. */
  private static final double CLEAR = 1.2;

  private CacheBalance() {}

  /**
   * What was seen since the last decision, of pages or of entries.
   *
   * @param ghostHits misses that would have been none, had all ghosts been in the cache
   * @param ghostPages how many pages they would have taken
   */
  record Seen(long ghostHits, double ghostPages) {
    /** Misses that a page more would have spared. */
    double savedByPage() {
      return ghostHits / Math.max(1, ghostPages);
    }
  }

  /** The most pages that entries may have of {@code allPages}. */
  static int mostEntryPages(int allPages) {
    return allPages / 4 * 3;
  }

  /**
   * How many pages the entries should have.
   *
   * @param entryPages how many they have
   * @param allPages what pages and entries have together
   */
  static int entryPages(int entryPages, int allPages, Seen entries, Seen pages) {
    if (entryPages > 0 && pages.savedByPage() > CLEAR * entries.savedByPage()) {
      return fewerEntryPages(entryPages, allPages);
    }
    int wanted = entryPages == 0 ? allPages / FIRST : entryPages;
    if (entries.savedByPage() > CLEAR * pages.savedByPage()) {
      wanted += entryPages / MORE + 1;
    }
    return within(allPages, wanted);
  }

  /** How many pages the entries should have if they do not need what they have. */
  static int fewerEntryPages(int entryPages, int allPages) {
    return within(allPages, entryPages - entryPages / LESS - 1);
  }

  private static int within(int allPages, int entryPages) {
    int least = Math.max(1, allPages / LEAST);
    return Math.max(least, Math.min(mostEntryPages(allPages), entryPages));
  }
}
