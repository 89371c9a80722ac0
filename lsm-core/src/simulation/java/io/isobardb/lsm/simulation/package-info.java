/**
 * A simulated disk, clock and scheduler. A seed decides what happens, and replays it.
 *
 * <p>They stand in for {@code lsm.io} and {@code lsm.schedule}. The disk forgets what was not
 * synced when a crash asks for that, and fails where a {@link FaultPlan} says so. {@link
 * SimulatedScheduler} runs all background work on the caller's thread, in an order drawn from a
 * seed. {@link VirtualScheduler} runs it beside clients in virtual time, for latencies.
 *
 * <p>No part of what users get: the crash tests of {@code lsm-bench} take it from this module's
 * test jar.
 */
@NullMarked
package io.isobardb.lsm.simulation;

import org.jspecify.annotations.NullMarked;
