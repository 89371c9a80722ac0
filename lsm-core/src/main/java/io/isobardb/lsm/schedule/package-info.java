/**
 * Background threads, jobs and waiting.
 *
 * <p>Owns every thread of a store and every wait of a caller. Jobs do their work in steps, so that
 * they can be paused between two of them, and so that the simulated scheduler can interleave them.
 */
@NullMarked
package io.isobardb.lsm.schedule;

import org.jspecify.annotations.NullMarked;
