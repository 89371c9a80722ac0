package io.isobardb.memory.pool;

import io.isobardb.memory.system.ProcessMemory;
import io.isobardb.memory.system.SystemMemory;
import java.util.concurrent.atomic.AtomicInteger;

/** Pools whose budget is more than the system has. */
public final class ShortSystem {
  private ShortSystem() {}

  /** A pool for which the system has so many slabs or blocks, and no more. */
  public static PagePool pool(long limitBytes, int pageSize, int slabs) {
    AtomicInteger left = new AtomicInteger(slabs);
    SystemMemory system =
        bytes -> {
          if (left.getAndDecrement() <= 0) {
            throw new OutOfMemoryError("planned");
          }
          return ProcessMemory.slabs().take(bytes);
        };
    return new PagePool(limitBytes, pageSize, true, AllocationFaults.NONE, system, system);
  }
}
