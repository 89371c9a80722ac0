/**
 * What looking at a store that is not open gives, and what repairing one does: plain values.
 *
 * <p>Part of the API: {@code StoreInspector} and {@code StoreRepair} give them.
 */
@NullMarked
package io.isobardb.lsm.inspect;

import org.jspecify.annotations.NullMarked;
