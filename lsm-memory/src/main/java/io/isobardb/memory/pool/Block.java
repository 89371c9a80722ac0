package io.isobardb.memory.pool;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.memory.system.Region;

/**
 * One contiguous, page-aligned piece of memory larger than a page, held for one purpose until it is
 * given back, once, with {@link PagePool#release(Block)} or {@link PagePool#retire(Block)}.
 *
 * @param region the memory, for the pool alone to free
 * @param purpose what it is charged to
 * @param chargedBytes its size with what a region costs besides
 */
public record Block(Region region, Purpose purpose, long chargedBytes) {
  /** The block's bytes; starts at an address aligned to {@link PagePool#ALIGNMENT}. */
  public Memory memory() {
    return region.memory();
  }
}
