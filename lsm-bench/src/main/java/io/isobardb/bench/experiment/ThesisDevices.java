package io.isobardb.bench.experiment;

import static io.isobardb.bench.latency.ScaledLoad.SERVED;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.latency.FullSpeed.Device;
import io.isobardb.bench.latency.FullSpeed.Operations;
import io.isobardb.bench.latency.FullSpeed.Place;
import io.isobardb.cli.report.Chart;
import java.util.List;
import java.util.Map;

/** A slow and a fast device, and how operations slow down as the store grows. */
final class ThesisDevices implements VirtualExperiment {
  private static final String DEVICE = "device";
  private static final String SLOW = "slow";
  private static final String FAST = "fast";
  private static final String RECORDS = "records [1000]";
  private static final List<Integer> SIZES = List.of(25, 50, 100, 200, 400);
  private static final List<String> KINDS = List.of(Thesis.WRITES, Thesis.LOOKUPS);
  private static final long MEMORY = 8L << 20;
  private static final int CLIENTS = 2;
  private static final int PROCESSORS = 2;
  private static final Device SLOW_DEVICE = new Device(10L << 20, 10L << 20, 8);
  private static final Device FAST_DEVICE = new Device(400L << 20, 400L << 20, 0.1);

  @Override
  public About about() {
    return new About(
        "thesis-devices",
        "Writes and lookups at full speed on a slow and a fast device",
        Thesis.SOURCE + "figures 16 to 20",
        "On a hard disk, inserts and reads slow down with their number; on an SSD they hardly do."
            + " With more records an SSD's inserts and updates slow down in proportion, and its reads"
            + " more than that.",
        "In virtual time, 8 MB of memory. The slow device does 10 MB/s, with 8 ms for a sync; the"
            + " fast one 400 MB/s, with 0.1 ms. Two clients update or look up records of 116 bytes"
            + " that are there. What a hard disk's arm takes is not simulated, so that the slow"
            + " device is one without it. Inserts are not measured apart: to the store an update is"
            + " the same write.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> kinds = Point.each(List.of(new Point(Map.of())), Thesis.KIND, KINDS);
    return Point.each(Point.each(kinds, DEVICE, List.of(SLOW, FAST)), RECORDS, SIZES);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    int writes = point.text(Thesis.KIND).equals(Thesis.WRITES) ? 100 : 0;
    Operations operations = new Operations(writes, 0, 1000L * point.number(RECORDS), true, 0);
    Device device = point.text(DEVICE).equals(SLOW) ? SLOW_DEVICE : FAST_DEVICE;
    Place place = new Place(CLIENTS, PROCESSORS, MEMORY, device);
    return List.of(Bench.row(point, Thesis.run(operations, place, Map.of(), bench)));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("Writes", results.where(Thesis.KIND, Thesis.WRITES), RECORDS, DEVICE, SERVED),
        Charts.lines(
            "Lookups", results.where(Thesis.KIND, Thesis.LOOKUPS), RECORDS, DEVICE, SERVED));
  }

  @Override
  public List<Verdict> check(Results results) {
    int least = SIZES.get(0);
    int most = SIZES.get(SIZES.size() - 1);
    return List.of(
        Claims.falls("slow device: writes slow down with records", served(results, SLOW, true)),
        Claims.falls("slow device: lookups slow down", served(results, SLOW, false)),
        Claims.falls("fast device: writes slow down", served(results, FAST, true)),
        Claims.falls("fast device: lookups slow down", served(results, FAST, false)),
        Claims.less(
            "fast device: from 25,000 to 400,000 records lookups slow down more than writes",
            List.of(
                new Pair(
                    "",
                    slowdown(results, Thesis.LOOKUPS, least, most),
                    slowdown(results, Thesis.WRITES, least, most)))),
        Claims.less(
            "lookups of 400,000 records: the slow device serves less than the fast one",
            results
                .where(Thesis.KIND, Thesis.LOOKUPS)
                .where(RECORDS, "" + most)
                .pairs(DEVICE, SLOW, FAST, SERVED)));
  }

  private static double[] served(Results results, String device, boolean writes) {
    Results of = results.where(Thesis.KIND, writes ? Thesis.WRITES : Thesis.LOOKUPS);
    return of.where(DEVICE, device).means(RECORDS, SIZES, SERVED);
  }

  /** What is served with the most records, by what is with the fewest. */
  private static double slowdown(Results results, String kind, int least, int most) {
    Results of = results.where(Thesis.KIND, kind).where(DEVICE, FAST);
    double[] ends = of.means(RECORDS, List.of(least, most), SERVED);
    return ends[1] / ends[0];
  }
}
