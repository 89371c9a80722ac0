package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.function.BiConsumer;

/**
 * Measurements over time, in a tree per day.
 *
 * <p>Shows why trees are cheap to have: a day is dropped as a whole, without reading or deleting
 * its entries, and days that are only read hold no write memory.
 *
 * <p>Thread rule: all methods may be called by any thread; a day that is dropped while it is
 * written to may come back.
 */
public final class TimeSeries {
  private static final String PREFIX = "points-";
  private static final TreeOptions OPTIONS =
      TreeOptions.builder().compression(Compression.LZ4).build();

  private final Store store;

  /** Measurements in {@code store}. */
  public TimeSeries(Store store) {
    this.store = store;
  }

  /** Adds a measurement; one of the same series and millisecond is replaced. */
  public void add(String series, Instant time, double value) {
    byte[] bytes = ByteBuffer.allocate(8).putDouble(value).array();
    store.openTree(tree(day(time)), OPTIONS).put(key(series, time), bytes);
  }

  /** Shows what a series has from one time to before another, in the order of time. */
  public void range(String series, Instant from, Instant to, BiConsumer<Instant, Double> visitor) {
    CursorOptions bounds = CursorOptions.all().from(key(series, from)).to(key(series, to));
    String first = tree(day(from));
    String last = tree(day(to));
    // Sorted by name, which is by day.
    for (String name : store.treeNames()) {
      if (!name.startsWith(PREFIX) || name.compareTo(first) < 0 || name.compareTo(last) > 0) {
        continue;
      }
      try (Cursor cursor = store.tree(name).cursor(bounds)) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          ByteBuffer key = ByteBuffer.wrap(cursor.key());
          long millis = key.getLong(key.limit() - 8);
          visitor.accept(Instant.ofEpochMilli(millis), ByteBuffer.wrap(cursor.value()).getDouble());
        }
      }
    }
  }

  /** Drops all days before one. */
  public void dropBefore(LocalDate day) {
    for (String name : store.treeNames()) {
      if (name.startsWith(PREFIX) && name.compareTo(tree(day)) < 0) {
        store.dropTree(name);
      }
    }
  }

  private static LocalDate day(Instant time) {
    return LocalDate.ofInstant(time, ZoneOffset.UTC);
  }

  private static String tree(LocalDate day) {
    return PREFIX + day;
  }

  /**
   * The series, a zero that ends it, and the time: all of a series lies together, in the order of
   * time. A series' name must not contain a zero.
   */
  private static byte[] key(String series, Instant time) {
    byte[] name = series.getBytes(UTF_8);
    return ByteBuffer.allocate(name.length + 9)
        .put(name)
        .put((byte) 0)
        .putLong(time.toEpochMilli())
        .array();
  }

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
    try (Store store = Store.open(Path.of(args[0]), options)) {
      TimeSeries series = new TimeSeries(store);
      Instant start = Instant.parse("2026-11-20T00:00:00Z");
      for (int hour = 0; hour < 72; hour++) {
        series.add("temperature", start.plusSeconds(3600L * hour), hour % 24);
        series.add("pressure", start.plusSeconds(3600L * hour), 1013);
      }
      System.out.println("days: " + store.treeNames());
      Instant from = Instant.parse("2026-11-20T22:00:00Z");
      Instant to = Instant.parse("2026-11-21T02:00:00Z");
      series.range(
          "temperature", from, to, (time, value) -> System.out.println(time + " " + value));
      series.dropBefore(LocalDate.parse("2026-11-22"));
      System.out.println("days: " + store.treeNames());
    }
  }
}
