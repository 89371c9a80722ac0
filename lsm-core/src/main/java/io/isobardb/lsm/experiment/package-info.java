/**
 * Options that are there for experiments: other policies to compare with, and the parameters of the
 * papers.
 *
 * <p>It is not exported: measurements and tests set these options, users of a store don't. It uses
 * the API alone, which knows the options by their names.
 */
@NullMarked
package io.isobardb.lsm.experiment;

import org.jspecify.annotations.NullMarked;
