package io.isobardb.bench.experiment;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.WriteMemoryAllocation;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.flush.FlushPolicy;
import java.util.Arrays;

/** The schemes of managing write memory that the paper compares, by its names. */
enum Scheme {
  PARTITIONED("partitioned", MemoryComponent.PARTITIONED, FlushPolicy.OPTIMAL),
  PARTITIONED_OPT("partitioned-OPT", MemoryComponent.PARTITIONED, FlushPolicy.OPTIMAL),
  PARTITIONED_LSN("partitioned-LSN", MemoryComponent.PARTITIONED, FlushPolicy.MIN_LSN),
  PARTITIONED_MEM("partitioned-MEM", MemoryComponent.PARTITIONED, FlushPolicy.MAX_MEMORY),
  DYNAMIC("B+-dynamic", MemoryComponent.MONOLITHIC, FlushPolicy.OPTIMAL),
  DYNAMIC_OPT("B+-dynamic-OPT", MemoryComponent.MONOLITHIC, FlushPolicy.OPTIMAL),
  DYNAMIC_LSN("B+-dynamic-LSN", MemoryComponent.MONOLITHIC, FlushPolicy.MIN_LSN),
  DYNAMIC_MEM("B+-dynamic-MEM", MemoryComponent.MONOLITHIC, FlushPolicy.MAX_MEMORY),
  STATIC("B+-static", MemoryComponent.MONOLITHIC, FlushPolicy.OPTIMAL),
  STATIC_TUNED("B+-static-tuned", MemoryComponent.MONOLITHIC, FlushPolicy.OPTIMAL),
  ACCORDION_DATA("Accordion-data", MemoryComponent.ACCORDION_DATA, FlushPolicy.OPTIMAL);

  /** How many trees AsterixDB has memory for by default. */
  private static final int ACTIVE_TREES = 8;

  private final String label;
  private final MemoryComponent component;
  private final FlushPolicy policy;

  Scheme(String label, MemoryComponent component, FlushPolicy policy) {
    this.label = label;
    this.component = component;
    this.policy = policy;
  }

  /** As reports show it. */
  @Override
  public String toString() {
    return label;
  }

  static Scheme of(String label) {
    return Arrays.stream(values())
        .filter(scheme -> scheme.label.equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no scheme is called '" + label + "'"));
  }

  /** Sets the scheme for a store of so many trees. */
  StoreOptions.Builder set(StoreOptions.Builder options, int trees) {
    options.memoryComponent(component).flushPolicy(policy);
    if (this == STATIC || this == STATIC_TUNED) {
      options
          .writeMemoryAllocation(WriteMemoryAllocation.STATIC)
          .staticTrees(this == STATIC ? ACTIVE_TREES : trees);
    }
    return options;
  }
}
