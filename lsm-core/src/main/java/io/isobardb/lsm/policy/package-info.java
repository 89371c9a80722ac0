/**
 * Policies to compare with, which options for experiments choose among: enums without code.
 *
 * <p>It is not exported: users of a store don't choose them. What a choice means stands in the part
 * of the engine that decides by it.
 */
@NullMarked
package io.isobardb.lsm.policy;

import org.jspecify.annotations.NullMarked;
