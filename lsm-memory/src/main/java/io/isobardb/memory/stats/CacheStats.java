package io.isobardb.memory.stats;

/**
 * What a buffer cache has done since it was opened. All but {@code hits} are exact; each is read on
 * its own, so that they need not be of one instant.
 *
 * @param queryMisses pages that had to be read for queries
 * @param mergeMisses pages that had to be read for merges, into the cache or past it
 * @param queryGhostHits those of {@code queryMisses} whose page the ghost cache knew
 * @param mergeGhostHits those of {@code mergeMisses} whose page the ghost cache knew
 * @param failedLoads misses whose loader failed
 * @param adoptions pages that came without being read
 * @param waits loads that had to wait for a frame
 * @param heldPages pages charged to the cache: frames and pages about to be reused
 * @param heldAtMisses the sum, over all pages that queries had to read, of how many pages were held
 *     then, those of the entry cache included: its mean is what the cache had while it was needed
 * @param targetPages how many it may hold, together with the entry cache
 * @param entryHits entries found in the entry cache
 * @param entryPages pages that the entry cache holds, out of the cache's memory
 * @param ghostPages page IDs that the ghost cache knows
 * @param ghostCapacityPages how many it can know; 0 if there is none
 */
public record CacheStats(
    @Metric(
            value = "Pages that the cache had.",
            kind = Metric.Kind.COUNTER,
            unit = "pages",
            name = "cache.hits",
            attribute = "CacheHits")
        long hits,
    long queryMisses,
    long mergeMisses,
    long queryGhostHits,
    long mergeGhostHits,
    long failedLoads,
    @Metric(
            value = "Pages that made room for others.",
            kind = Metric.Kind.COUNTER,
            unit = "pages",
            name = "cache.evictions",
            attribute = "CacheEvictions")
        long evictions,
    long adoptions,
    long waits,
    long heldPages,
    long heldAtMisses,
    long targetPages,
    long entryHits,
    long entryPages,
    long ghostPages,
    long ghostCapacityPages) {
  /** {@return pages read from disk, for queries and merges} */
  @Metric(
      value = "Pages read from disk, for queries and merges.",
      kind = Metric.Kind.COUNTER,
      unit = "pages",
      name = "cache.misses",
      attribute = "CacheMisses")
  public long misses() {
    return queryMisses + mergeMisses;
  }
}
