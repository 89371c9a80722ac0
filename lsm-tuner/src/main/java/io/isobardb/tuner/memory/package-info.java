/**
 * The memory tuner: where the wall between write memory and buffer cache should stand.
 *
 * <p>Pure: {@link io.isobardb.tuner.memory.MemoryTuner} turns the statistics of a tuning cycle and
 * the history so far into a decision and a new history. It reads no clock, file or random number,
 * holds no lock and changes nothing, so that the same statistics give the same decisions, today and
 * when recorded lines are replayed. Collecting statistics, deciding when a cycle ends and moving
 * the wall it leaves to others.
 *
 * <p>The formulas are those of section 5 of <i>Breaking Down Memory Walls: Adaptive Memory
 * Management in LSM-based Storage Systems</i> (Luo and Carey, VLDB 2021), here "the paper".
 */
@NullMarked
package io.isobardb.tuner.memory;

import org.jspecify.annotations.NullMarked;
