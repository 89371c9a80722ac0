package io.isobardb.bench.experiment;

import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import java.util.List;

/**
 * One experiment: a claim, points to measure, and what the numbers say of the claim. Stateless; any
 * thread.
 */
interface Experiment {
  /** What all need but for what a simulated disk holds. */
  long HEAP_BYTES = 768L << 20;

  /**
   * What it is about, in words.
   *
   * @param name on the command line: lower case, words joined by hyphens
   * @param title one line for a list
   * @param source where it comes from: figure and section
   * @param claim what is claimed there
   * @param method what is done here, and where that differs from there
   */
  record About(String name, String title, String source, String claim, String method) {}

  /** What it is about. */
  About about();

  /** Its name on the command line. */
  default String name() {
    return about().name();
  }

  /** The points, in the order of measuring, with what is compared next to each other. */
  List<Point> points(Scale scale);

  /** Measures one point on a fresh store; the rows have its parameters, and may have more. */
  List<Row> measure(Point point, Bench bench) throws Exception;

  /** The picture; of what was not measured nothing is shown. */
  List<Chart> charts(Results results);

  /** What becomes of the claims; a pure function. */
  List<Verdict> check(Results results);

  /**
   * What a point does; the first of each kind is rehearsed, since other code has to be compiled.
   */
  default String kind(Point point) {
    return "";
  }

  /** The engines measured, none of which syncs each write. */
  default List<EngineKind> engines() {
    return List.of(EngineKind.ISOBAR);
  }

  /** Whether the first point of a kind is run twice, since its time is measured. */
  default boolean rehearses() {
    return true;
  }

  /** The Java heap of a process that measures points. */
  default long heapBytes(Scale scale) {
    return HEAP_BYTES;
  }

  /** Whether each point needs a process of its own, because its memory is measured. */
  default boolean ownProcesses() {
    return false;
  }
}
