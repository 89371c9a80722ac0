/** The command {@code model}: what a write costs, by the models of {@code bench.analytic}. */
@NullMarked
package io.isobardb.bench.model;

import org.jspecify.annotations.NullMarked;
