/**
 * The page pool: all memory that grows with data or load, under one limit.
 *
 * <p>Owns the slabs that pages are cut from, the limit, the purposes and the ledger that says who
 * holds what, and the epochs that keep a page alive until its last reader has left. It promises
 * that the allocated bytes never exceed the limit and that the ledger adds up to them. What pages
 * contain, and who is to give some back when they run out, it leaves to others.
 */
@NullMarked
package io.isobardb.memory.pool;

import org.jspecify.annotations.NullMarked;
