/**
 * Raw off-heap memory: fixed-size regions with typed access, comparison and copy.
 *
 * <p>{@link io.isobardb.memory.page.Memory} is the only class of the engine that reads or writes
 * raw memory, so that race detectors see every access and one place decides how it is done. It
 * knows neither pages' contents nor who owns them; that is left to the pool and to the page
 * formats.
 */
@NullMarked
package io.isobardb.memory.page;

import org.jspecify.annotations.NullMarked;
