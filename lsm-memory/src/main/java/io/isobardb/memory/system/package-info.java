/**
 * Memory outside of the Java heap: where regions come from, and how they go back.
 *
 * <p>Owns the only code that asks the operating system or the JVM for memory. It promises that a
 * freed region is no longer resident, and that all regions of the process stay within the JVM's
 * limit for direct memory. What regions are used for, and how they share a budget, is the business
 * of {@code memory.pool}.
 */
@NullMarked
package io.isobardb.memory.system;

import org.jspecify.annotations.NullMarked;
