/**
 * What a store tells of itself: to listeners while it works, and as statistics to whoever asks. The
 * figures of statistics are described once, for JMX, JSON and other bridges.
 *
 * <p>Part of the API. Knows no other package of the engine, so that all others may report to it.
 */
@NullMarked
package io.isobardb.lsm.observe;

import org.jspecify.annotations.NullMarked;
