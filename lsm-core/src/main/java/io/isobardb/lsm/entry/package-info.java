/**
 * What a tree holds: entries, and their kinds.
 *
 * <p>Owns kinds and the order of versions. Knows neither pages nor files.
 */
@NullMarked
package io.isobardb.lsm.entry;

import org.jspecify.annotations.NullMarked;
