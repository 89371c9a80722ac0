/**
 * Crash tests: power loss at every moment of simulated stores ({@code crash-test --simulated}), and
 * real processes killed at random ones ({@code crash-test --cycles}). Both hold what is left
 * against a model of what was written and acknowledged. The project's own tests run the same code
 * with few seeds and cycles.
 */
@NullMarked
package io.isobardb.bench.crash;

import org.jspecify.annotations.NullMarked;
