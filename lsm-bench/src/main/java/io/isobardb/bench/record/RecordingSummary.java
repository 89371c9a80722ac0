package io.isobardb.bench.record;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.TextTable;
import io.isobardb.lsm.store.RecordingLayout;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a recording has, for people and for programs. Immutable. */
final class RecordingSummary {
  private static final double[] HOT = {0.001, 0.01, 0.1};

  /**
   * What was recorded of a kind of operations.
   *
   * @param size what its size is
   * @param mean of the sizes
   * @param median of the sizes
   * @param most of the sizes
   */
  record OfKind(
      String name,
      long count,
      double share,
      String size,
      double mean,
      double median,
      double most) {}

  private final RecordedRun run;
  private final List<OfKind> kinds = new ArrayList<>();
  private final long[] counts;

  RecordingSummary(RecordedRun run) {
    this.run = run;
    add("gets that found", RecordingLayout.GET, true, "value [B]");
    add("gets of what is not there", RecordingLayout.GET, false, "");
    add("puts", RecordingLayout.PUT, true, "value [B]");
    add("deletes", RecordingLayout.DELETE, false, "");
    add("merges", RecordingLayout.MERGE, true, "operand [B]");
    add("scans", RecordingLayout.SCAN, true, "entries");
    add("scans of nothing", RecordingLayout.SCAN, false, "");
    add("deletes of ranges", RecordingLayout.DELETE_RANGE, false, "");
    long[] keys = new long[run.count()];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = run.hash(i) + 31L * run.tree(i);
    }
    counts = countsOf(keys);
  }

  /** How often each key comes, the rarest first; sorts the keys. */
  private static long[] countsOf(long[] keys) {
    Arrays.sort(keys);
    long[] counts = new long[keys.length];
    int found = 0;
    for (int from = 0, to; from < keys.length; from = to) {
      to = from + 1;
      while (to < keys.length && keys[to] == keys[from]) {
        to++;
      }
      counts[found++] = to - from;
    }
    Arrays.sort(counts, 0, found);
    return Arrays.copyOf(counts, found);
  }

  /** Adds a kind, those with a size above 0 or those without one. */
  private void add(String name, int kind, boolean sized, String what) {
    boolean splits = kind == RecordingLayout.GET || kind == RecordingLayout.SCAN;
    int[] sizes = new int[run.count()];
    int count = 0;
    double sum = 0;
    for (int i = 0; i < run.count(); i++) {
      if (run.kind(i) == kind && (!splits || sized == run.size(i) > 0)) {
        int size = run.size(i) - (kind == RecordingLayout.GET && sized ? 1 : 0);
        sizes[count++] = size;
        sum += size;
      }
    }
    if (count > 0) {
      Arrays.sort(sizes, 0, count);
      double share = count / (double) run.count();
      kinds.add(
          new OfKind(name, count, share, what, sum / count, sizes[count / 2], sizes[count - 1]));
    }
  }

  /** The part of all operations that the most popular part of the keys has. */
  private double hot(double part) {
    long all = 0;
    long most = 0;
    int from = counts.length - (int) Math.ceil(part * counts.length);
    for (int i = 0; i < counts.length; i++) {
      all += counts[i];
      most += i >= from ? counts[i] : 0;
    }
    return most / (double) all;
  }

  String text() {
    RecordedRun.Begin begin = run.begin();
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            "from %s on, for %.1f s; one key in %d; %s\n",
            Instant.ofEpochMilli(begin.beginMillis()),
            run.seconds(),
            begin.oneKeyIn(),
            Numbers.count(run.count(), "operation")));
    out.append(
        String.format(
            Locale.ROOT,
            "store: %s of memory, %s of it for writes; %s with about %s, %s on disk%s\n",
            ByteSize.format(begin.memoryBytes()),
            ByteSize.format(begin.writeMemoryBytes()),
            Numbers.count(begin.trees(), "tree"),
            Numbers.count(begin.entries(), "record"),
            ByteSize.format(begin.diskBytes()),
            RecordedRun.debtText(begin.debtBytes())));
    RecordedRun.Totals totals = run.totals();
    out.append(
        totals == null
            ? "the recording was not closed: what came last is missing\n"
            : String.format(
                Locale.ROOT,
                "all keys: %s; %s\n",
                Numbers.count(totals.operations(), "operation"),
                RecordedRun.costText(
                    totals.bytesPerOperation(), totals.hitRate(), totals.debtBytes())));
    if (run.count() == 0) {
      return out.toString();
    }
    TextTable table =
        new TextTable("operation", "count", "share", "size", "mean", "median", "most");
    for (OfKind kind : kinds) {
      boolean sized = !kind.size().isEmpty();
      table.row(
          kind.name(),
          String.format(Locale.ROOT, "%,d", kind.count()),
          String.format(Locale.ROOT, "%.1f %%", 100 * kind.share()),
          kind.size(),
          sized ? Numbers.significant(kind.mean()) : "",
          sized ? String.format(Locale.ROOT, "%,.0f", kind.median()) : "",
          sized ? String.format(Locale.ROOT, "%,.0f", kind.most()) : "");
    }
    out.append('\n').append(table).append('\n');
    out.append(String.format(Locale.ROOT, "%s;", Numbers.count(counts.length, "key")));
    for (double part : HOT) {
      out.append(
          String.format(
              Locale.ROOT, " the hottest %s %% have %.1f %%", share(part), 100 * hot(part)));
      out.append(part == HOT[HOT.length - 1] ? " of the operations\n" : ",");
    }
    return out.toString();
  }

  private static String share(double part) {
    return part < 0.01 ? Double.toString(100 * part) : Integer.toString((int) (100 * part));
  }

  Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("begin", run.begin());
    map.put("seconds", run.seconds());
    map.put("operations", run.count());
    RecordedRun.Totals totals = run.totals();
    map.put("isClosed", totals != null);
    if (totals != null) {
      map.put("totals", totals);
    }
    map.put("kinds", kinds);
    map.put("keys", counts.length);
    Map<String, Object> hot = new LinkedHashMap<>();
    for (double part : counts.length == 0 ? new double[0] : HOT) {
      hot.put(Double.toString(part), hot(part));
    }
    map.put("operationsOfHottest", hot);
    return map;
  }
}
