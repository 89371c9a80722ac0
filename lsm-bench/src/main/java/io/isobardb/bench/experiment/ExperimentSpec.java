package io.isobardb.bench.experiment;

import java.nio.file.Path;
import java.util.List;

/**
 * What a child process is to measure.
 *
 * @param experiment its name
 * @param scale by which points are made
 * @param seeds of all choices, of which each point has one
 * @param threads that do operations
 * @param dir for stores; it is removed
 * @param points indexes of the points to measure, in order
 */
record ExperimentSpec(
    String experiment, Scale scale, List<Long> seeds, int threads, Path dir, List<Integer> points) {
  ExperimentSpec {
    seeds = List.copyOf(seeds);
    points = List.copyOf(points);
  }
}
