/**
 * What can be read of a damaged store, and a new store made of it. The damaged one stays as it is.
 * What is lost is told, with the ranges of keys that it may concern.
 */
@NullMarked
package io.isobardb.repair.salvage;

import org.jspecify.annotations.NullMarked;
