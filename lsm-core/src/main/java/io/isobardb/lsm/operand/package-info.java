/**
 * Operands of merge operators: how they are stored, what they and the versions below them make
 * together, and when they are folded.
 *
 * <p>Owns the format of an entry's operands ({@link io.isobardb.lsm.operand.Operands}) and the
 * thresholds ({@link io.isobardb.lsm.operand.FoldRules}). Who finds the versions of a key, and puts
 * what was folded in their place, is told elsewhere.
 */
@NullMarked
package io.isobardb.lsm.operand;

import org.jspecify.annotations.NullMarked;
