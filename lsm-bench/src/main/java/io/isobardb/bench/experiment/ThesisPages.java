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
import java.util.List;
import java.util.Map;

/** The size of pages, for writes and for reads. */
final class ThesisPages implements VirtualExperiment {
  private static final String PAGES = "pages [KB]";
  private static final List<Integer> SIZES = List.of(4, 8, 16, 32, 64);
  private static final List<String> KINDS = List.of(Thesis.WRITES, Thesis.LOOKUPS, Thesis.SCANS);
  private static final long KEYS = 400_000;
  private static final Place PLACE =
      new Place(4, 4, 16L << 20, new Device(200L << 20, 200L << 20, 0.5));

  @Override
  public About about() {
    return new About(
        "thesis-pages",
        "The size of pages for writes and reads at full speed",
        Thesis.SOURCE + "figures 11 and 26",
        "Nodes of 20 entries of 50 bytes are best for inserts. Blocks of LevelDB of some 100 KB are"
            + " best for random reads.",
        "In virtual time, four clients on a device of 200 MB/s, 16 MB of memory. Writes of random"
            + " keys begin with an empty store. Lookups and scans of 50 entries find 400,000 records"
            + " of 116 bytes. A page has 4 to 64 KB, so the thesis's nodes are smaller than any of"
            + " these, and its blocks larger.");
  }

  @Override
  public List<Point> points(Scale scale) {
    return Point.each(Point.each(List.of(new Point(Map.of())), Thesis.KIND, KINDS), PAGES, SIZES);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    long page = 1024L * point.number(PAGES);
    Map<String, String> options = Map.of("pageSize", Long.toString(page));
    return List.of(
        Bench.row(
            point,
            Thesis.run(Thesis.operations(point.text(Thesis.KIND), KEYS), PLACE, options, bench)));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(Charts.bars("Size of pages", results, PAGES, Thesis.KIND, SERVED));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.falls("writes become slower with pages above 4 KB", served(results, Thesis.WRITES)),
        Claims.rises(
            "lookups become faster with pages up to 64 KB", served(results, Thesis.LOOKUPS)),
        Claims.rises("scans become faster with pages up to 64 KB", served(results, Thesis.SCANS)));
  }

  private static double[] served(Results results, String kind) {
    return results.where(Thesis.KIND, kind).means(PAGES, SIZES, SERVED);
  }
}
