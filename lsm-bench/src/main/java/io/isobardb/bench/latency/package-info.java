/**
 * {@code isobar latency}: requests that arrive when they will, and how long each takes from then
 * on.
 *
 * <p>A trace says how many requests arrive when; a pure function of a request's number says what it
 * does. Clients serve them in the order of arrival, on the real clock or in virtual time, beside a
 * device with a limit.
 */
@NullMarked
package io.isobardb.bench.latency;

import org.jspecify.annotations.NullMarked;
