package io.isobardb.bench.model;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code model --runs} and {@code model --advise} are told, and what they make of it. */
final class RunsEstimate {
  /** The most that a filter may have, as a store's option says. */
  private static final int MOST_FILTER_BITS = 24;

  /** What a store may take by default, by what distinct keys take. */
  private static final double USUAL_SPACE = 1.25;

  private static final int[] ADVISED_RUNS = {2, 4, 8};

  @Option(
      names = "--runs",
      paramLabel = "RUNS",
      description = {
        "isobar: what a tree costs with so many sorted runs in its levels: LEVELED, LAZY(K),",
        "TIERED(K), or a list from the top down, such as 4,4,1."
      })
  private @Nullable String runs;

  @Option(
      names = "--advise",
      description = {
        "isobar: all policies of runs beside each other under a mix of operations, the best first.",
        "Takes the options below, --max-space, and what --design isobar takes."
      })
  private boolean advise;

  @Option(
      names = "--writes",
      paramLabel = "PERCENT",
      description = "--advise: operations that are writes. Default: ${DEFAULT-VALUE}.")
  private double writes = 50;

  @Option(
      names = "--gets",
      paramLabel = "PERCENT",
      description = "--advise: lookups of keys that are there. Default: ${DEFAULT-VALUE}.")
  private double gets = 30;

  @Option(
      names = "--absent",
      paramLabel = "PERCENT",
      description = "--advise: lookups of keys that are not there. Default: ${DEFAULT-VALUE}.")
  private double absent = 10;

  @Option(
      names = "--scans",
      paramLabel = "PERCENT",
      description = "--advise: scans. Default: ${DEFAULT-VALUE}.")
  private double scans = 10;

  @Option(
      names = "--scan-length",
      paramLabel = "N",
      description = "--advise: entries of a scan. Default: ${DEFAULT-VALUE}.")
  private double scanLength = 50;

  @Option(
      names = "--write-weight",
      paramLabel = "X",
      description = {
        "--advise: what a page of 4 KB written by a flush or merge costs, by one that is read.",
        "Default: ${DEFAULT-VALUE}."
      })
  private double writeWeight = 1;

  @Option(
      names = "--page",
      paramLabel = "SIZE",
      description = "--runs, --advise: a data page of the store. Default: ${DEFAULT-VALUE}.")
  private ByteSize page = new ByteSize(8192);

  @Option(
      names = "--filter-bits",
      paramLabel = "N",
      description =
          "--runs, --advise: bits of filter per key in the mean, 0 to 24. Default: ${DEFAULT-VALUE}.")
  private int filterBits = 10;

  @Option(
      names = "--filters-alike",
      description = "--runs, --advise: small runs have no larger filters than large ones.")
  private boolean filtersAlike;

  /** Which of the two was asked for; null if neither was. */
  @Nullable String asked() {
    return advise ? "--advise" : runs != null ? "--runs" : null;
  }

  /** The options that only {@code --advise} takes. */
  static final String[] OF_ADVISE = {
    "--writes", "--gets", "--absent", "--scans", "--scan-length", "--write-weight"
  };

  /** The options that both take. */
  static final String[] OF_BOTH = {"--page", "--filter-bits", "--filters-alike"};

  /**
   * What the policies cost.
   *
   * @param popularity of the keys of one tree
   * @param maxSpace infinite for a store's default
   */
  RunsReport report(
      String workload, ByteSize item, EngineShape shape, Popularity popularity, double maxSpace) {
    Numbers.check("--filter-bits", filterBits, 0, MOST_FILTER_BITS);
    if (item.bytes() > page.bytes()) {
      throw new UsageException("an --item of " + item + " does not fit into a --page of " + page);
    }
    OperationMix mix =
        advise ? new OperationMix(writes, gets, absent, scans, scanLength, writeWeight) : null;
    RunsReport report = new RunsReport(workload, item.bytes(), page.bytes(), mix);
    double pageEntries = (double) page.bytes() / item.bytes();
    RunsModel.Reads reads = new RunsModel.Reads(pageEntries, filterBits, !filtersAlike);
    double space = maxSpace == Double.POSITIVE_INFINITY ? USUAL_SPACE : maxSpace;
    for (RunPolicy policy : policies()) {
      RunsModel model = new RunsModel(shape, policy, reads, space);
      report.add(policy, model.cost(popularity), model.costs(popularity));
    }
    return report;
  }

  private List<RunPolicy> policies() {
    List<RunPolicy> policies = new ArrayList<>();
    String given = runs;
    if (given != null) {
      policies.add(RunPolicy.parse(given));
    }
    if (advise) {
      policies.add(RunPolicy.leveled());
      for (int each : ADVISED_RUNS) {
        policies.add(RunPolicy.lazy(each));
      }
      for (int each : ADVISED_RUNS) {
        policies.add(RunPolicy.tiered(each));
      }
    }
    return policies;
  }
}
