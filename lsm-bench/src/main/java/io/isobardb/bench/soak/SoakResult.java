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
 * @param filesAfterClose open then
 * @param largestDisk size of all files
 * @param mostGroups in L0, of all trees
 * @param stallMillis that writers waited in all
 * @param wrong what was found wrong; null if nothing was
 */
public record SoakResult(
    long operations,
    long seconds,
    int openings,
    List<Long> heapAfterClose,
    List<Integer> filesAfterClose,
    long largestDisk,
    int mostGroups,
    long stallMillis,
    @Nullable String wrong) {}
