/**
 * Popularities of keys that are given, not learnt: uniform, Zipf's law, groups that were observed.
 * Tests decide by them, and measurements estimate with them. The engine learns what it needs.
 */
@NullMarked
package io.isobardb.popularity;

import org.jspecify.annotations.NullMarked;
