package io.isobardb.memory.cache;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.util.concurrent.atomic.LongAdder;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuarantee;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * What the model checker takes for one step. Lincheck does not see into direct buffers, so each
 * access to {@link Memory} is a step, before which another thread may run. Calls of the pool and of
 * the epochs are steps as well: they have tests of their own. Everything else, the caches' locks,
 * fields and retries, is looked at in full.
 */
final class Steps {
  /** More iterations of a loop, as of one over the slots of a table, than any has that ends. */
  private static final int LONGEST_LOOP = 1000;

  /** Iterations after which another thread runs, since this one may be waiting for it. */
  private static final int LONG_LOOP = 32;

  private Steps() {}

  static ModelCheckingOptions options() {
    return new ModelCheckingOptions()
        .actorsBefore(0)
        .actorsAfter(0)
        .loopBound(LONGEST_LOOP)
        .loopIterationsBeforeThreadSwitch(LONG_LOOP)
        .addGuarantee(none(PagePool.class, "memory", "base", "pageSize", "epochs", "leaving"))
        .addGuarantee(none(LongAdder.class, "add", "increment", "sum"))
        .addGuarantee(forClasses(Memory.class.getName()).allMethods().treatAsAtomic())
        .addGuarantee(forClasses(PagePool.class.getName()).allMethods().treatAsAtomic())
        .addGuarantee(forClasses(Epochs.class.getName()).allMethods().treatAsAtomic());
  }

  /** Methods before which nothing happens that others would notice. */
  static ManagedStrategyGuarantee none(Class<?> type, String... methods) {
    return forClasses(type.getName()).methods(methods).ignore();
  }

  /** Methods before which others may run, but not while they run. */
  static ManagedStrategyGuarantee one(Class<?> type, String... methods) {
    return forClasses(type.getName()).methods(methods).treatAsAtomic();
  }
}
