/**
 * Where the wall between write memory and buffer cache stands, and who moves it.
 *
 * <p>Collects what the memory tuner of {@code lsm-tuner} wants to know of a running store, asks it
 * once a cycle, moves the wall little by little to where it says, and keeps its decisions in a file
 * of the store, so that it goes on from there when the store is opened again. Decides when a cycle
 * ends and where the wall may stand. How large the write memory should be is left to {@code
 * lsm-tuner}; how to flush and to evict, to others.
 */
@NullMarked
package io.isobardb.lsm.tuning;

import org.jspecify.annotations.NullMarked;
