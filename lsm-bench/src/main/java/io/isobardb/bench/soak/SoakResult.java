package io.isobardb.bench.soak;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of it. Sizes in bytes.
 *
 * @param operations that were done, most of them verified
 * @param seconds that it took
 * @param openings of the store
 * @param heapAfterClose used after each closing of the store and a collection of garbage
 * @param residentAfterClose the process's resident set then; -1 if the system does not tell
 * @param residentPerHour by how much that grows in an hour, as a straight line through it; 0 if the
 *     time was too short to tell
 * @param filesAfterClose open then
 * @param largestDisk size of all files
 * @param mostSlabs the most bytes of slabs that were resident; 0 if the system does not tell
 * @param mostGroups in L0, of all trees
 * @param mostDebt the most bytes that waited for merges
 * @param lastDebt those left when the store was left alone at the end
 * @param stallMillis that writers waited in all
 * @param longestStallMillis the longest that one of them waited
 * @param wrong what was found wrong; null if nothing was
 */
public record SoakResult(
    long operations,
    long seconds,
    int openings,
    List<Long> heapAfterClose,
    List<Long> residentAfterClose,
    long residentPerHour,
    List<Integer> filesAfterClose,
    long largestDisk,
    long mostSlabs,
    int mostGroups,
    long mostDebt,
    long lastDebt,
    long stallMillis,
    long longestStallMillis,
    @Nullable String wrong) {}
