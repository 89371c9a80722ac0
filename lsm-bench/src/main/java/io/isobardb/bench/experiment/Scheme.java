package io.isobardb.bench.experiment;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import java.util.Arrays;
import java.util.List;

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
  ACCORDION_INDEX("Accordion-index", MemoryComponent.ACCORDION_INDEX, FlushPolicy.OPTIMAL),
  ACCORDION_DATA("Accordion-data", MemoryComponent.ACCORDION_DATA, FlushPolicy.OPTIMAL),
  LEVELED("leveled", MemoryComponent.LEVELED, FlushPolicy.OPTIMAL),
  LEVELED_SMALL("leveled-32MB", MemoryComponent.LEVELED, FlushPolicy.OPTIMAL);

  /** Those that several trees are measured with. */
  static final List<Scheme> OF_TREES =
      List.of(
          PARTITIONED_OPT,
          PARTITIONED_LSN,
          PARTITIONED_MEM,
          DYNAMIC_OPT,
          DYNAMIC_LSN,
          DYNAMIC_MEM,
          STATIC_TUNED,
          STATIC);

  /** How many trees AsterixDB has memory for by default. */
  private static final int ACTIVE_TREES = 8;

  /** A tree's share is eight pages at least. */
  private static final long LEAST_SHARE = 8 * 8192;

  /** The size at which the paper's active SSTables are sealed, for the paper's budget. */
  private static final long ACTIVE_BYTES = 32 << 20;

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
        .orElseThrow(() -> new UsageException("no scheme is called '" + label + "'"));
  }

  /** The points whose scheme can be with the write memory they have: a static share has a least. */
  static List<Point> possible(List<Point> points, Scale scale, int trees) {
    long sixteenth = scale.budget(Bench.BUDGET_GIGABYTES) / 16;
    return points.stream()
        .filter(
            point ->
                of(point.text(SingleTree.SCHEME))
                    .fits(sixteenth * point.number(SingleTree.SIXTEENTHS), trees))
        .toList();
  }

  private boolean fits(long writeMemory, int trees) {
    return staticTrees(trees) * LEAST_SHARE <= writeMemory;
  }

  /** Among how many trees memory is split; 0 if they share it. */
  private int staticTrees(int trees) {
    return this == STATIC ? ACTIVE_TREES : this == STATIC_TUNED ? trees : 0;
  }

  /** The options of a point, with its scheme and its write memory, for so many trees. */
  static StoreOptions options(Point point, Bench bench, int trees) {
    Scheme scheme = of(point.text(SingleTree.SCHEME));
    StoreOptions.Builder options = scheme.set(bench.options(point), trees);
    if (scheme == LEVELED_SMALL) {
      long most = options.build().writeMemory() / 4;
      long wanted = Math.max(LEAST_SHARE, bench.scale().count(ACTIVE_BYTES));
      ExperimentalOptions.set(options, e -> e.activeTableSize((int) Math.min(most, wanted)));
    }
    return options.build();
  }

  /** Sets the scheme for a store of so many trees. */
  StoreOptions.Builder set(StoreOptions.Builder options, int trees) {
    ExperimentalOptions.set(options, e -> e.memoryComponent(component).flushPolicy(policy));
    if (staticTrees(trees) > 0) {
      ExperimentalOptions.set(
          options,
          e ->
              e.writeMemoryAllocation(WriteMemoryAllocation.STATIC)
                  .staticTrees(staticTrees(trees)));
    }
    return options;
  }
}
