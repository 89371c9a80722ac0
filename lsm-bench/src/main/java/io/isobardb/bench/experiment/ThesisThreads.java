package io.isobardb.bench.experiment;

import static io.isobardb.bench.latency.ScaledLoad.SERVED;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.latency.FullSpeed.Device;
import io.isobardb.bench.latency.FullSpeed.Place;
import io.isobardb.cli.report.Chart;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Threads that merge, and threads that read. */
final class ThesisThreads implements VirtualExperiment {
  private static final String THREADS = "threads at work";
  private static final List<Integer> MERGING = List.of(1, 2, 4, 8);
  private static final List<Integer> READING = List.of(1, 2, 3, 4, 5, 6, 8);
  private static final int PROCESSORS = 8;
  private static final int ENOUGH = 5;
  private static final long KEYS = 400_000;
  private static final long MEMORY = 16L << 20;
  private static final Device DEVICE = new Device(200L << 20, 200L << 20, 0.5);

  @Override
  public About about() {
    return new About(
        "thesis-threads",
        "Threads that merge, and threads that read, at full speed",
        Thesis.SOURCE + "figures 14 and 15",
        "Inserts become faster with 2, 4 and 8 cores that merge. Reads become faster with up to 5"
            + " threads, and not with more.",
        "In virtual time, on a device of 200 MB/s, 16 MB of memory. One client writes random keys of"
            + " 116 bytes to an empty store, with as many background threads as processors. Clients"
            + " look up 400,000 records on 8 processors.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    points.addAll(Point.each(List.of(Point.of(Thesis.KIND, Thesis.WRITES)), THREADS, MERGING));
    points.addAll(Point.each(List.of(Point.of(Thesis.KIND, Thesis.LOOKUPS)), THREADS, READING));
    return points;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    String kind = point.text(Thesis.KIND);
    int threads = point.number(THREADS);
    boolean writes = kind.equals(Thesis.WRITES);
    Place place = new Place(writes ? 1 : threads, writes ? threads : PROCESSORS, MEMORY, DEVICE);
    Map<String, String> options =
        writes ? Map.of("backgroundThreads", Integer.toString(threads)) : Map.of();
    return List.of(
        Bench.row(point, Thesis.run(Thesis.operations(kind, KEYS), place, options, bench)));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(Charts.lines("Threads at work", results, THREADS, Thesis.KIND, SERVED));
  }

  @Override
  public List<Verdict> check(Results results) {
    Results writes = results.where(Thesis.KIND, Thesis.WRITES);
    Results lookups = results.where(Thesis.KIND, Thesis.LOOKUPS);
    List<Integer> several = MERGING.stream().filter(threads -> threads > 1).toList();
    List<Integer> upTo = READING.stream().filter(threads -> threads <= ENOUGH).toList();
    return List.of(
        Claims.rises(
            "writes become faster with 2, 4 and 8 threads that merge",
            writes.means(THREADS, several, SERVED)),
        Claims.rises(
            "lookups become faster with up to 5 threads", lookups.means(THREADS, upTo, SERVED)),
        Claims.notMore(
            "8 threads look up no more than 5",
            lookups.pairs(THREADS, PROCESSORS, ENOUGH, SERVED),
            5));
  }
}
