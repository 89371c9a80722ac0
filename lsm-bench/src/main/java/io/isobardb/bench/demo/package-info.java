/**
 * {@code demo}: what a store can do, shown in less than a minute.
 *
 * <p>Owns the three scenes and their words. What is said of a scene is measured while it is shown.
 * Leaves measurements that mean something elsewhere to {@code compare} and {@code experiment}.
 */
@NullMarked
package io.isobardb.bench.demo;

import org.jspecify.annotations.NullMarked;
