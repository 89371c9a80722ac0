package io.isobardb.lsm.schedule;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.Storage;
import java.util.SplittableRandom;

/**
 * The world as a store sees it: real, or simulated so that a seed replays it.
 *
 * @param storage the store's directory; closed by the store
 * @param clock time
 * @param scheduler background work; closed by the store
 * @param random the only source of randomness; used under the store's own locks
 */
public record Environment(
    Storage storage, Clock clock, Scheduler scheduler, SplittableRandom random) {}
