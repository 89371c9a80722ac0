/**
 * Finds options for a workload by search: {@code isobar tune}.
 *
 * <p>Owns knobs, the models that say what to try next, the search with its file, and its report. A
 * workload is whatever runs options and gives figures ({@link Load}). Leaves the running to the
 * packages that measure.
 */
@NullMarked
package io.isobardb.bench.search;

import org.jspecify.annotations.NullMarked;
