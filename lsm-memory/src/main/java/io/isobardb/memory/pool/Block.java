package io.isobardb.memory.pool;

import io.isobardb.memory.page.Memory;

/**
 * One contiguous, page-aligned piece of memory larger than a page, held for one purpose until it is
 * given back, once, with {@link PagePool#release(Block)} or {@link PagePool#retire(Block)}.
 *
 * @param memory the region; starts at an address aligned to {@link PagePool#ALIGNMENT}
 * @param purpose what it is charged to
 * @param chargedBytes its size with the bytes lost to alignment
 * @param owner the allocator's handle, for the pool alone
 */
public record Block(Memory memory, Purpose purpose, long chargedBytes, Object owner) {}
