/**
 * Reading a store that is not open, with its lock held for reading, and checking all of it: every
 * page, record, order and reference. Changes no file.
 */
@NullMarked
package io.isobardb.repair.check;

import org.jspecify.annotations.NullMarked;
