/**
 * The API: {@link io.isobardb.repair.StoreInspector} checks and lists the files of a store that is
 * not open, {@link io.isobardb.repair.StoreRepair} makes a new store of a damaged one. What they
 * tell is in {@code lsm.inspect}.
 */
@NullMarked
package io.isobardb.repair;

import org.jspecify.annotations.NullMarked;
