/**
 * The YCSB binding.
 *
 * <p>Owns how a YCSB record becomes a key and a value, which tree it goes to, and the life of the
 * store that all client threads share. Promises that bindings to other engines, built on {@link
 * io.isobardb.ycsb.RecordClient}, do the same work per operation.
 */
@NullMarked
package io.isobardb.ycsb;

import org.jspecify.annotations.NullMarked;
