package io.isobardb.bench.search;

import java.util.Map;
import java.util.Set;

/** A workload, as a search sees it: run these options, give these metrics. */
interface Load {
  /** All that says which workload it is: equal texts, comparable figures. */
  String description();

  /** The metrics that it has. */
  Set<Metric> metrics();

  /** Why it lacks a metric, for the message. */
  String lack(Metric metric);

  /** In words, what its cost is. */
  String costs();

  /**
   * Looks whether a store takes options together.
   *
   * @throws IllegalArgumentException with the reason, if it does not
   */
  void check(Map<String, String> options);

  /** The value that an option has if nothing is set. */
  String defaultOf(String option);

  /**
   * Runs with these options, and with defaults for all others. An interrupt ends it.
   *
   * @throws Exception with what went wrong
   */
  Map<Metric, Double> run(Map<String, String> options, long seed) throws Exception;
}
