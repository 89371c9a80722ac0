/**
 * Passes on what happens in a store: to listeners, to JFR, to the JVM's log, and, after the first
 * failure, to a thread that is about to write.
 *
 * <p>Promises that nobody is told anything under a lock, and that what a listener throws harms
 * nothing. Knows what is told, and none of those who tell it.
 */
@NullMarked
package io.isobardb.lsm.event;

import org.jspecify.annotations.NullMarked;
