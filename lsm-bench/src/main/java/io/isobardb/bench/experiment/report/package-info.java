/**
 * What experiments have measured, as tables, pictures and pages.
 *
 * <p>Owns rows and their CSV form, charts as plain SVG, a page of HTML around both, and how a claim
 * is held against numbers. All of it is values and pure functions; what the numbers mean is left to
 * the experiments.
 */
@NullMarked
package io.isobardb.bench.experiment.report;

import org.jspecify.annotations.NullMarked;
