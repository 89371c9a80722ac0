package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.COST;
import static io.isobardb.bench.experiment.Meter.THROUGHPUT;
import static io.isobardb.bench.experiment.Meter.WRITTEN;
import static io.isobardb.bench.experiment.SingleTree.SCHEME;
import static io.isobardb.bench.experiment.SingleTree.SIXTEENTHS;

import io.isobardb.bench.drive.Dataset;
import io.isobardb.bench.drive.Driver;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.dataset.DatasetOptions;
import io.isobardb.lsm.dataset.Index;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** A primary tree and ten secondary ones. */
final class SecondaryIndexes implements Experiment {
  private static final String FIELDS = "updated fields";
  private static final String SKEW = "hot share-hot fields [%]";
  private static final int INDEXES = 10;

  /** The primary tree, its indexes, and the tree of their definitions. */
  private static final int TREES = INDEXES + 2;

  private static final int FIELD_BYTES = Shape.VALUE_BYTES / INDEXES;

  /** The bytes of a field that its index has. */
  private static final int INDEXED_BYTES = 64;

  private static final long RECORDS = 50_000_000;
  private static final double SECONDS = 5;

  /** Those whose memory suffices for all trees, without one that shows nothing new. */
  private static final List<Scheme> SCHEMES =
      Scheme.OF_TREES.stream()
          .filter(scheme -> scheme != Scheme.DYNAMIC_LSN && scheme != Scheme.STATIC)
          .toList();

  @Override
  public About about() {
    return new About(
        "secondary-indexes",
        "A dataset with ten secondary indexes",
        "Breaking Down Memory Walls, extended version (6.2.3)",
        "As with several primary trees, partitioned is better than B+-dynamic, and both are better"
            + " than B+-static; but the flush policies differ less, since the primary tree gets a record"
            + " with each write, and the secondary ones little.",
        "A dataset of 50 M records of 1 KB with ten fields, each indexed by 64 bytes, 20 GB of"
            + " memory, 10 GB of log, times the scale; write-only: the record is read, some fields are"
            + " changed, and the dataset removes the old index entries. The updated fields are drawn"
            + " with a skew, each once; records are drawn evenly, where the paper draws them by Zipf."
            + " B+-static is the tuned one, with places for all trees. Small trees are flushed whole, as in"
            + " multi-trees. One client thread; half as many operations are measured as there are"
            + " records, after a quarter as many.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> settings = new ArrayList<>();
    settings.add(Point.of(SIXTEENTHS, 1).with(FIELDS, 1).with(SKEW, "80-20"));
    settings.add(Point.of(SIXTEENTHS, 4).with(FIELDS, 1).with(SKEW, "80-20"));
    settings.add(Point.of(SIXTEENTHS, 1).with(FIELDS, 5).with(SKEW, "80-20"));
    settings.add(Point.of(SIXTEENTHS, 1).with(FIELDS, 1).with(SKEW, "50-50"));
    if (scale.fine()) {
      settings.add(Point.of(SIXTEENTHS, 8).with(FIELDS, 1).with(SKEW, "80-20"));
      settings.add(Point.of(SIXTEENTHS, 1).with(FIELDS, 3).with(SKEW, "80-20"));
      settings.add(Point.of(SIXTEENTHS, 1).with(FIELDS, 1).with(SKEW, "90-10"));
    }
    return Scheme.possible(Point.each(settings, SCHEME, SCHEMES), scale, TREES);
  }

  @Override
  public List<Row> measure(Point point, Bench bench) throws Exception {
    StoreOptions options = Scheme.options(point, bench, TREES);
    long records = bench.scale().count(RECORDS);
    Path copy = bench.empty("dataset");
    Bench.copy(loaded(bench, records), copy);
    try (Store store = Store.open(copy, options)) {
      Writer writer = new Writer(open(store), records, bench.seed());
      writer.update(point, records / 4, bench.seconds(SECONDS));
      store.awaitQuiet();
      Meter meter = new Meter(store, 1);
      Driver.Done done = writer.update(point, records / 2, bench.seconds(SECONDS));
      store.awaitQuiet();
      return List.of(Bench.row(point, meter.figures(done, records / 2)));
    } finally {
      Directories.delete(copy);
    }
  }

  private static Path loaded(Bench bench, long records) throws Exception {
    return bench.loaded(
        "dataset-" + records,
        loading -> {
          Files.createDirectories(loading);
          try (Store store = Store.open(loading, bench.options().build())) {
            new Writer(open(store), records, bench.seed()).load();
            store.flush();
            store.awaitQuiet();
          }
        });
  }

  private static io.isobardb.lsm.dataset.Dataset open(Store store) {
    DatasetOptions.Builder options = DatasetOptions.builder();
    for (int i = 0; i < INDEXES; i++) {
      int from = i * FIELD_BYTES;
      options.index(
          Index.builder("field" + i)
              .key((key, value) -> List.of(Arrays.copyOfRange(value, from, from + INDEXED_BYTES)))
              .build());
    }
    return io.isobardb.lsm.dataset.Dataset.open(store, "records", options.build());
  }

  /** Writes records and changes fields of them. Used by one thread. */
  private static final class Writer {
    private final io.isobardb.lsm.dataset.Dataset dataset;
    private final Dataset data = new Dataset(Shape.KEY_BYTES, Shape.VALUE_BYTES);
    private final SplittableRandom random;
    private final long records;
    private final byte[] key = new byte[Shape.KEY_BYTES];

    Writer(io.isobardb.lsm.dataset.Dataset dataset, long records, long seed) {
      this.dataset = dataset;
      this.records = records;
      random = new SplittableRandom(seed);
    }

    void load() {
      byte[] value = new byte[Shape.VALUE_BYTES];
      for (long record = 0; record < records; record++) {
        data.key(record, key);
        data.value(record, 0, value);
        dataset.put(key, value);
      }
    }

    Driver.Done update(Point point, long operations, double maxSeconds) {
      int fields = point.number(FIELDS);
      Skew skew = Skew.of(point.text(SKEW));
      int hot = skew.hotOf(INDEXES);
      long start = System.nanoTime();
      long done = 0;
      while (done < operations && (System.nanoTime() - start) / 1e9 < maxSeconds) {
        long record = random.nextLong(records);
        data.key(record, key);
        byte[] value = dataset.get(key);
        if (value == null) {
          throw new IllegalStateException("record " + record + " was loaded and is not there");
        }
        for (int field : drawn(fields, skew, hot)) {
          byte[] changed = new byte[INDEXED_BYTES];
          random.nextBytes(changed);
          System.arraycopy(changed, 0, value, field * FIELD_BYTES, INDEXED_BYTES);
        }
        dataset.put(key, value);
        done++;
      }
      return new Driver.Done(done, done, (System.nanoTime() - start) / 1e9);
    }

    /** A number of fields, each once. */
    private Set<Integer> drawn(int fields, Skew skew, int hot) {
      Set<Integer> drawn = new LinkedHashSet<>();
      while (drawn.size() < fields) {
        drawn.add(
            random.nextInt(100) < skew.hotPercent()
                ? random.nextInt(hot)
                : hot + random.nextInt(INDEXES - hot));
      }
      return drawn;
    }
  }

  @Override
  public List<Chart> charts(Results results) {
    List<Row> labelled = new ArrayList<>();
    for (Row row : results.rows()) {
      Point point = new Point(row.parameters());
      labelled.add(
          new Row(
              point
                  .with(
                      "setting",
                      row.parameter(SIXTEENTHS)
                          + "/16, "
                          + row.parameter(FIELDS)
                          + " fields, "
                          + row.parameter(SKEW))
                  .parameters(),
              row.figures()));
    }
    Results rows = new Results(labelled);
    return List.of(
        Charts.bars("Bytes written", rows, "setting", SCHEME, WRITTEN),
        Charts.bars("Cost", rows, "setting", SCHEME, COST),
        Charts.bars("Throughput", rows, "setting", SCHEME, THROUGHPUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.less(
            "Partitioned writes less than B+-dynamic (OPT)",
            results.pairs(SCHEME, "partitioned-OPT", "B+-dynamic-OPT", WRITTEN)),
        Claims.less(
            "B+-dynamic-OPT writes less than B+-static-tuned",
            results.pairs(SCHEME, "B+-dynamic-OPT", "B+-static-tuned", WRITTEN)),
        Claims.same(
            "The flush policies differ little (partitioned, OPT and MEM)",
            results.pairs(SCHEME, "partitioned-OPT", "partitioned-MEM", WRITTEN),
            15),
        Claims.same(
            "The flush policies differ little (partitioned, OPT and LSN)",
            results.pairs(SCHEME, "partitioned-OPT", "partitioned-LSN", WRITTEN),
            15));
  }
}
