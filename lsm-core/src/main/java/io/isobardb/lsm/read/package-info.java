/**
 * Point lookups and cursors over a tree's state.
 *
 * <p>Promises that a read sees, for its LSN, the newest version of each key, and never waits for a
 * writer. One class, {@code Lookup}, goes through the runs for a key; readers differ in what they
 * do with what is found, and when memory does not have it. Where entries lie is decided by {@code
 * lsm.state}.
 */
@NullMarked
package io.isobardb.lsm.read;

import org.jspecify.annotations.NullMarked;
