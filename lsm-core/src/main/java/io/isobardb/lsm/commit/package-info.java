/**
 * The order of writes: admit, reserve log space, apply, publish, and what readers may see.
 *
 * <p>Promises that writes become visible in the order of their LSNs and without gaps, and that no
 * writer waits without a flush in hand, for a reason that is counted and timed. Decides how full
 * memory may become ({@link io.isobardb.lsm.commit.Fullness}), and when active SSTables are sealed
 * ({@link io.isobardb.lsm.commit.Sealing}).
 */
@NullMarked
package io.isobardb.lsm.commit;

import org.jspecify.annotations.NullMarked;
