package io.isobardb.bench.experiment;

import static io.isobardb.bench.latency.ScaledLoad.PUT;

import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.latency.FullSpeed;
import io.isobardb.bench.latency.FullSpeed.Device;
import io.isobardb.bench.latency.FullSpeed.Operations;
import io.isobardb.bench.latency.FullSpeed.Place;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What options do to writes to random keys of an empty store as fast as one client can, in virtual
 * time (LevelDB's <i>fillrandom</i>): the settings of "Towards a Burst-Aware LevelDB". What is not
 * turned is as in LevelDB: 4 MB of write memory, SSTables of 2 MB. Stateless.
 */
abstract class Fill implements VirtualExperiment {
  static final String SOURCE = "Towards a Burst-Aware LevelDB, ";
  static final String MEMORY = "write memory [MB]";
  static final String TABLES = "SSTables [KB]";
  static final int USUAL_MEMORY = 4;
  static final int USUAL_TABLES = 2048;

  private static final long KEYS = 1_000_000;
  private static final long MEGABYTE = 1 << 20;
  private static final long LEAST_BUDGET = 24 * MEGABYTE;
  private static final double SMALL_SECONDS = 3;
  private static final double MOST_SECONDS = 10;
  private static final int LOG_BYTES = 64 << 20;
  private static final int PAGE_BYTES = 4096;

  /** The options that a point sets besides the sizes. */
  abstract Map<String, String> options(Point point);

  /** Records of a synced write; 0 for single puts. */
  int batch(Point point) {
    return 0;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    long memory = (long) (number(point, MEMORY, USUAL_MEMORY) * MEGABYTE);
    Map<String, String> all = new LinkedHashMap<>();
    all.put("writeMemory", Long.toString(memory));
    all.put("memoryTuner", "off");
    all.put("pageSize", Integer.toString(PAGE_BYTES));
    all.put("logLimit", Long.toString(Math.max(LOG_BYTES, 2 * memory)));
    long tables = (long) (number(point, TABLES, USUAL_TABLES) * 1024);
    all.put("experiment.diskTableSize", Long.toString(tables));
    all.putAll(options(point));
    double seconds = Math.min(MOST_SECONDS, bench.scale().seconds(SMALL_SECONDS));
    FullSpeed load =
        new FullSpeed(
            new Operations(100, 0, KEYS, false, batch(point)),
            new Place(1, 2, Math.max(LEAST_BUDGET, memory * 3 / 2), Device.OF_BURSTS),
            bench.options(all),
            seconds);
    return List.of(Bench.row(point, load.run(bench.seed(), bench::progress)));
  }

  private static double number(Point point, String name, int usual) {
    return point.parameters().containsKey(name) ? point.real(name) : usual;
  }

  /** What clients wrote at each value of a parameter, in this order. */
  static double[] put(Results results, String parameter, List<Integer> values) {
    return results.means(parameter, values, PUT);
  }
}
