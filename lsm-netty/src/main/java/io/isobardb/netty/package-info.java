/**
 * Keys and values of trees as Netty's buffers.
 *
 * <p>Owns who retains and releases a buffer when. Bytes are copied once: between a buffer and the
 * store's memory.
 */
@NullMarked
package io.isobardb.netty;

import org.jspecify.annotations.NullMarked;
