/**
 * What experiments have measured, as tables, pictures and pages.
 *
 * <p>Owns rows and their CSV form, which charts and tables they become, and how a claim is held
 * against numbers. Leaves how pages and pictures look to {@code cli.report}. All of it is values
 * and pure functions; what the numbers mean is left to the experiments.
 */
@NullMarked
package io.isobardb.bench.experiment.report;

import org.jspecify.annotations.NullMarked;
