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
import io.isobardb.lsm.experiment.ExperimentalOptions;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * An experiment on one option of the store: a single tree that is only written to, with four sizes
 * of write memory and each value of the option. Stateless.
 */
abstract class WriteOnly<E extends Enum<E>> implements Experiment {
  private final String option;
  private final List<E> values;
  private final BiConsumer<ExperimentalOptions.Builder, E> setting;

  /**
   * An experiment.
   *
   * @param option its name in reports
   * @param values in the order of measuring
   * @param setting how a store gets one of them
   */
  WriteOnly(String option, List<E> values, BiConsumer<ExperimentalOptions.Builder, E> setting) {
    this.option = option;
    this.values = List.copyOf(values);
    this.setting = setting;
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> sizes = List.of(1, 2, 4, 8).stream().map(n -> Point.of(SIXTEENTHS, n)).toList();
    return Point.each(sizes, option, values);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    E value = Enum.valueOf(values.get(0).getDeclaringClass(), point.text(option));
    StoreOptions options =
        ExperimentalOptions.set(bench.options(point), e -> setting.accept(e, value)).build();
    Shape shape = Shape.of(1, bench.scale().count(Bench.RECORDS));
    long operations = bench.scale().count(Bench.OPERATIONS);
    return bench.pacedPoint(point, options, shape, Workload.mixed(100, Keys.ZIPF), operations);
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("Bytes written", results, WRITE_MEMORY, option, WRITTEN),
        Charts.lines("Throughput", results, WRITE_MEMORY, option, THROUGHPUT));
  }
}
