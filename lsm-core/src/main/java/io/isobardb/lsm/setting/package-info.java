/**
 * Options as data: what an option is called, takes, is by default and is for, in one place.
 *
 * <p>Promises that whatever is read from text, checked, or printed of an option follows from that
 * place. What an option means to the engine is known elsewhere.
 */
@NullMarked
package io.isobardb.lsm.setting;

import org.jspecify.annotations.NullMarked;
