/**
 * What transactions are made of: record locks, what one has read and is going to write, and the
 * validation of a commit.
 */
@NullMarked
package io.isobardb.lsm.transaction;

import org.jspecify.annotations.NullMarked;
