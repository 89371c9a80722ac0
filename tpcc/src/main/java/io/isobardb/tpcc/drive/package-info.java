/**
 * The terminals: which transaction comes next, when, how often it is tried, and what that says.
 *
 * <p>Owns threads, the delivery queue, keying and think times, response times, the rules of a valid
 * run and the report.
 */
@NullMarked
package io.isobardb.tpcc.drive;

import org.jspecify.annotations.NullMarked;
