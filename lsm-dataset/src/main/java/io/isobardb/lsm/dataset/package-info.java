/**
 * Datasets: a primary tree and any number of secondary indexes, kept in step.
 *
 * <pre>{@code
 * Index byYear = Index.builder("by-year").key((key, value) -> List.of(year(value))).build();
 * Dataset people = Dataset.open(store, "people", DatasetOptions.builder().index(byYear).build());
 * people.put(ada, record);
 * try (IndexCursor cursor = people.cursor("by-year", IndexRange.from(year1800))) {
 *   for (boolean more = cursor.first(); more; more = cursor.next()) {
 *     use(cursor.indexKey(), cursor.key(), cursor.value());
 *   }
 * }
 * }</pre>
 *
 * <p>Built on the public API of {@code lsm} alone: an index is a tree, and a write to a record and
 * its index entries is a transaction. Owns the layout of index entries ({@code EntryKey}), what is
 * stored of the definitions ({@code IndexCatalog}), and how an index comes and goes while records
 * are written ({@code IndexChanges}).
 */
@NullMarked
package io.isobardb.lsm.dataset;

import org.jspecify.annotations.NullMarked;
