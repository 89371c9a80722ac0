/**
 * What a tree holds: entries, their kinds and order.
 *
 * <p>Owns key order, kinds and the order of versions. Knows neither pages nor files.
 */
@NullMarked
package io.isobardb.lsm.entry;

import org.jspecify.annotations.NullMarked;
