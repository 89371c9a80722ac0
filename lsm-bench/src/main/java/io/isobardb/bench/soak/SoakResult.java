package io.isobardb.bench.soak;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of it; its names are those of the JSON.
 *
 * @param operations that were done, most of them verified
 * @param seconds that it took
 * @param openings of the store
 * @param heapAfterCloseBytes used after each closing of the store and a collection of garbage
 * @param residentAfterCloseBytes the process's resident set then; -1 if the system does not tell
 * @param residentBytesPerHour by how much that grows in an hour, as a straight line through it; 0
 *     if the time was too short to tell
 * @param filesAfterClose open then
 * @param largestDiskBytes size of all files
 * @param mostSlabBytes the most bytes of slabs that were resident; 0 if the system does not tell
 * @param mostL0Groups in L0, of all trees
 * @param mostTiers between L0 and the levels, of all trees
 * @param mostMergeDebtBytes the most bytes that waited for merges
 * @param lastMergeDebtBytes those left when the store was left alone at the end
 * @param stallMillis that writers waited in all
 * @param longestStallMillis the longest that one of them waited
 * @param wrong what was found wrong; null if nothing was
 */
public record SoakResult(
    long operations,
    long seconds,
    int openings,
    List<Long> heapAfterCloseBytes,
    List<Long> residentAfterCloseBytes,
    long residentBytesPerHour,
    List<Integer> filesAfterClose,
    long largestDiskBytes,
    long mostSlabBytes,
    int mostL0Groups,
    int mostTiers,
    long mostMergeDebtBytes,
    long lastMergeDebtBytes,
    long stallMillis,
    long longestStallMillis,
    @Nullable String wrong) {}
