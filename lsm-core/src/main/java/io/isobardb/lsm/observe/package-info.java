/**
 * What a store tells of itself while it works: listeners and JFR events.
 *
 * <p>Promises that nobody is told anything under a lock, and that what a listener throws harms
 * nothing. Knows no other package, so that all others may report to it. Counters are the business
 * of those who count.
 */
@NullMarked
package io.isobardb.lsm.observe;

import org.jspecify.annotations.NullMarked;
