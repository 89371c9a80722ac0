/**
 * When entries expire.
 *
 * <p>Owns the number, how it is stored behind a value, and whether it has come. Knows neither
 * entries nor clocks: the store's time is {@code StoreClock}'s.
 */
@NullMarked
package io.isobardb.lsm.expiry;

import org.jspecify.annotations.NullMarked;
