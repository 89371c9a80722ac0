/** The load in a process that is killed, and what must be there afterwards. */
@NullMarked
package io.isobardb.tpcc.kill;

import org.jspecify.annotations.NullMarked;
