/**
 * State stores of Kafka Streams. All that a process opens lie in one {@link io.isobardb.lsm.Store},
 * and share its memory budget. {@link io.isobardb.kafka.IsobarDslStoreSuppliers} is what a
 * configuration names; {@link io.isobardb.kafka.IsobarStores} has the suppliers one by one.
 */
@NullMarked
package io.isobardb.kafka;

import org.jspecify.annotations.NullMarked;
