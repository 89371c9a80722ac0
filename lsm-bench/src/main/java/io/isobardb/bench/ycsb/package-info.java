/**
 * Runs of the stock YCSB client.
 *
 * <p>Owns the child process it runs in, the reading of what it prints (its exit code says nothing)
 * and the verdict, and the binding of the peers. Leaves the encoding of records to the adapter.
 */
@NullMarked
package io.isobardb.bench.ycsb;

import org.jspecify.annotations.NullMarked;
