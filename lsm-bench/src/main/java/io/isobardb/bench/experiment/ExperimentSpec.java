package io.isobardb.bench.experiment;

import java.nio.file.Path;
import java.util.List;

/**
 * What a child process is to measure.
 *
 * @param experiment its name
 * @param scale by which points are made
 * @param seed of all choices
 * @param threads that do operations
 * @param dir for stores; it is removed
 * @param points indexes of the points to measure, in order
 */
record ExperimentSpec(
    String experiment, Scale scale, long seed, int threads, Path dir, List<Integer> points) {
  ExperimentSpec {
    points = List.copyOf(points);
  }
}
