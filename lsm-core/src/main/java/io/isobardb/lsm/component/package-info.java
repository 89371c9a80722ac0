/**
 * Memory components: what a tree holds in write memory.
 *
 * <p>Owns the active SSTable, its node format, its filter and its reclamation, and the index over
 * several that were sealed. Promises that readers and writers never wait for each other longer than
 * a page is edited, and that all memory comes from the page pool. The order of writes, when a
 * component is sealed, and which components a tree has, are left to others.
 */
@NullMarked
package io.isobardb.lsm.component;

import org.jspecify.annotations.NullMarked;
