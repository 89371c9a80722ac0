package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;
import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.StoreOptions;
import java.util.List;

/**
 * What experiments on one option of the store share: a single tree that is only written to, with
 * four sizes of write memory.
 */
final class WriteOnly {
  private WriteOnly() {}

  /** Each size of write memory with each value of the option. */
  static List<Point> points(String option, List<?> values) {
    List<Point> sizes = List.of(1, 2, 4, 8).stream().map(n -> Point.of(SIXTEENTHS, n)).toList();
    return Point.each(sizes, option, values);
  }

  static List<Row> measure(Point point, Bench bench, StoreOptions options) throws Exception {
    long records = bench.scale().count(Bench.RECORDS);
    long operations = bench.scale().count(Bench.OPERATIONS);
    Workload workload = Workload.mixed(100, Keys.ZIPF);
    return bench.pacedPoint(point, options, Shape.of(1, records), workload, operations);
  }

  static List<Chart> charts(String option, Results results) {
    return List.of(
        Charts.lines("Bytes written", results, WRITE_MEMORY, option, WRITTEN),
        Charts.lines("Throughput", results, WRITE_MEMORY, option, THROUGHPUT));
  }
}
