/**
 * {@code isobar phases}: what a tree costs while it is used in one way after another, with the runs
 * that it is given and with those that the store chooses; counted on simulated stores.
 */
@NullMarked
package io.isobardb.bench.phases;

import org.jspecify.annotations.NullMarked;
