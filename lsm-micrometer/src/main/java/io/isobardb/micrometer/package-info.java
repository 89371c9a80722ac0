/**
 * Metrics of stores for Micrometer, which brings them to Prometheus and other systems.
 *
 * <p>Nothing is pushed: a store is asked when the registry is read. {@link
 * io.isobardb.lsm.observe.Figure} describes the metrics.
 */
@NullMarked
package io.isobardb.micrometer;

import org.jspecify.annotations.NullMarked;
