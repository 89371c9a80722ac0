package io.isobardb.bench.experiment;

import java.nio.file.Path;
import java.util.List;

/**
 * What a child process is to measure.
 *
 * @param experiment its name
 * @param settings what all points have in common
 * @param dir for stores; it is removed
 * @param points indexes of the points to measure, in order
 */
record ExperimentSpec(String experiment, RunSettings settings, Path dir, List<Integer> points) {
  ExperimentSpec {
    points = List.copyOf(points);
  }
}
