package io.isobardb.bench.drive;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreStats;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code range-deletes}: what range deletes cost, and what reads cost beside them. */
@Command(
    name = "range-deletes",
    description =
        "Measures range deletes: what one of most of a store costs, and reads beside many.")
public final class RangeDeletesCommand implements Callable<Integer> {
  private static final int VALUE_BYTES = 1000;
  private static final int ROUNDS = 7;
  private static final int READS = 100_000;

  /** With few range deletes fewer reads tell as much. */
  private static final int READS_OF_RANGE = 100;

  /** Keys that one of many range deletes covers. */
  private static final int RANGE_KEYS = 10;

  @Spec private CommandSpec spec;

  @Option(
      names = "--megabytes",
      paramLabel = "N",
      description = "Size of the store of which 90 %% is deleted (${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int megabytes;

  @Option(
      names = "--entries",
      paramLabel = "N",
      description = "Entries beside which, and past which, is read (${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private int entries;

  @Option(
      names = "--ranges",
      paramLabel = "N",
      description = "Range deletes of 10 keys each beside which is read (${DEFAULT-VALUE}).",
      defaultValue = "10000")
  private int ranges;

  @Option(names = "--dir", paramLabel = "DIR", description = "Where the stores are made.")
  private @Nullable Path directory;

  @Mixin private JsonOption json = new JsonOption();

  private final Map<String, Object> results = new LinkedHashMap<>();

  @Override
  public Integer call() throws IOException {
    Numbers.check("--megabytes", megabytes, 1, 1_000_000);
    Numbers.checkAtLeast("--entries", entries, 1);
    Numbers.check("--ranges", ranges, 1, 10_000_000);
    if (entries / ranges <= RANGE_KEYS) {
      throw new UsageException(
          "--entries must be more than "
              + RANGE_KEYS
              + " for each of --ranges: what is read lies"
              + " between them");
    }
    Path parent = directory;
    Path work =
        parent == null
            ? Files.createTempDirectory("range-deletes")
            : Files.createTempDirectory(parent, "range-deletes");
    deleteMost(work.resolve("most"));
    readBesideMany(work.resolve("many"));
    firstPastMany(work.resolve("first-false"), false);
    firstPastMany(work.resolve("first-true"), true);
    results.put("directory", work.toString());
    json.print(spec.commandLine().getOut(), results, "the stores stay in " + work);
    return Exit.SUCCESS.code();
  }

  /** Keeps what was measured, and tells people at once. */
  private void tell(String name, Map<String, ? extends Number> figures, String text) {
    results.put(name, figures);
    if (!json.isGiven()) {
      PrintWriter out = spec.commandLine().getOut();
      out.println(text);
      out.flush();
    }
  }

  private static byte[] key(int i) {
    return String.format(Locale.ROOT, "key/%012d", i).getBytes(UTF_8);
  }

  private static void load(Tree tree, int count, int valueBytes) {
    byte[] value = new byte[valueBytes];
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < count; i++) {
      random.nextBytes(value);
      tree.put(key(i), value, Durability.ASYNC);
    }
  }

  private static Store open(Path path) {
    return Store.open(path, StoreOptions.builder().memoryBudget(256 << 20).build());
  }

  private static long diskBytes(Store store) {
    return store.stats().diskBytes();
  }

  private static long readAndWritten(StoreStats stats) {
    return stats.mergeBytesRead() + stats.mergeBytesWritten() + stats.flushBytesWritten();
  }

  private void deleteMost(Path path) {
    try (Store store = open(path)) {
      Tree tree = store.openTree("t");
      int count = (int) (megabytes * 1_000_000L / VALUE_BYTES);
      load(tree, count, VALUE_BYTES);
      store.flush();
      store.awaitQuiet();
      long before = diskBytes(store);
      long moved = readAndWritten(store.stats());
      long begun = System.nanoTime();
      tree.deleteRange(key(count / 20), key(count / 20 * 19), Durability.SYNC);
      long deleted = System.nanoTime();
      store.awaitQuiet();
      long quiet = System.nanoTime();
      long after = diskBytes(store);
      long work = readAndWritten(store.stats()) - moved;
      Map<String, Number> figures = new LinkedHashMap<>();
      figures.put("bytesBefore", before);
      figures.put("bytesAfter", after);
      figures.put("deleteMillis", (deleted - begun) / 1e6);
      figures.put("quietMillis", (quiet - begun) / 1e6);
      figures.put("bytesReadAndWritten", work);
      tell(
          "deletedMost",
          figures,
          String.format(
              Locale.ROOT,
              "90 %% of %,d bytes deleted in %.1f ms, quiet after %.0f ms: %,d bytes are left on disk,"
                  + " %.3f of the rest; %,d bytes were read and written, %.2f %% of what went",
              before,
              (deleted - begun) / 1e6,
              (quiet - begun) / 1e6,
              after,
              after / (before * 0.1),
              work,
              100.0 * work / Math.max(1, before - after)));
    }
  }

  private void readBesideMany(Path path) {
    try (Store plain = open(path.resolve("plain"));
        Store cut = open(path.resolve("cut"))) {
      Tree[] trees = {plain.openTree("t"), cut.openTree("t")};
      for (Tree tree : trees) {
        load(tree, entries, 100);
      }
      plain.flush();
      cut.flush();
      plain.awaitQuiet();
      cut.awaitQuiet();
      int stride = entries / ranges;
      long begun = System.nanoTime();
      for (int i = 0; i < ranges; i++) {
        trees[1].deleteRange(key(i * stride), key(i * stride + RANGE_KEYS), Durability.ASYNC);
      }
      long took = System.nanoTime() - begun;
      double[][] nanos = new double[2][ROUNDS];
      double[] gone = new double[ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        for (int which = 0; which < 2; which++) {
          nanos[which][round] = gets(trees[which], round, stride, false);
        }
        gone[round] = gets(trees[1], round, stride, true);
      }
      Map<String, Number> figures = new LinkedHashMap<>();
      figures.put("ranges", ranges);
      figures.put("deleteMicros", took / 1e3 / ranges);
      figures.put("getWithoutNanos", median(nanos[0]));
      figures.put("getBesideNanos", median(nanos[1]));
      figures.put("getDeletedNanos", median(gone));
      tell(
          "besideMany",
          figures,
          String.format(
              Locale.ROOT,
              "%,d range deletes at %.1f us each; a get takes %.0f ns without and %.0f ns with them,"
                  + " %.2f times; of a deleted key %.0f ns (medians of %d interleaved rounds)",
              ranges,
              took / 1e3 / ranges,
              median(nanos[0]),
              median(nanos[1]),
              median(nanos[1]) / median(nanos[0]),
              median(gone),
              ROUNDS));
    }
  }

  private double gets(Tree tree, int round, int stride, boolean deleted) {
    SplittableRandom random = new SplittableRandom(round);
    int reads = (int) Math.min(READS, (long) READS_OF_RANGE * ranges);
    byte[][] keys = new byte[reads][];
    for (int i = 0; i < reads; i++) {
      int within =
          deleted ? random.nextInt(RANGE_KEYS) : RANGE_KEYS + random.nextInt(stride - RANGE_KEYS);
      keys[i] = key(random.nextInt(ranges) * stride + within);
    }
    ByteBuffer target = ByteBuffer.allocate(200);
    long begun = System.nanoTime();
    for (byte[] key : keys) {
      target.clear();
      if ((tree.get(key, target) == Tree.NOT_FOUND) != deleted) {
        throw new IllegalStateException("a read found what it should not");
      }
    }
    return (System.nanoTime() - begun) / (double) reads;
  }

  private void firstPastMany(Path path, boolean flushed) {
    try (Store store = open(path)) {
      Tree tree = store.openTree("t");
      load(tree, entries + 1000, 100);
      if (flushed) {
        store.flush();
        store.awaitQuiet();
      }
      double before = firsts(tree, 0);
      tree.deleteRange(null, key(entries), Durability.ASYNC);
      double after = firsts(tree, entries);
      tell(
          flushed ? "firstPastManyFlushed" : "firstPastMany",
          Map.of("beforeMicros", before / 1e3, "pastMicros", after / 1e3, "removed", entries),
          String.format(
              Locale.ROOT,
              "first() of a new cursor, %s: %.1f us before, %.1f us past %,d removed entries,"
                  + " %.2f times",
              flushed ? "flushed" : "as written",
              before / 1e3,
              after / 1e3,
              entries,
              after / before));
    }
  }

  private static double firsts(Tree tree, int expected) {
    double[] nanos = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long begun = System.nanoTime();
      for (int i = 0; i < 1000; i++) {
        try (Cursor cursor = tree.cursor()) {
          if (!cursor.first() || !Arrays.equals(cursor.key(), key(expected))) {
            throw new IllegalStateException("first() is wrong");
          }
        }
      }
      nanos[round] = (System.nanoTime() - begun) / 1000.0;
    }
    return median(nanos);
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
