package io.isobardb.examples;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.recipe.TimeSeries;
import io.isobardb.lsm.typed.Codec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/** Measurements over time: written in batches, read by series, dropped by the day. */
public final class Measurements {
  private Measurements() {}

  /** The argument is the directory of the store. */
  public static void main(String[] args) {
    Instant start = Instant.parse("2026-11-20T00:00:00Z");
    // begin
    try (Store store = Store.open(Path.of(args[0]))) {
      TimeSeries<Double> weather =
          TimeSeries.open(store, "weather", Duration.ofDays(1), Codec.float64());
      WriteBatch batch = store.newBatch();
      for (int hour = 0; hour < 72; hour++) {
        weather.put(batch, "temperature", start.plusSeconds(3600L * hour), hour % 24.0);
        weather.put(batch, "pressure", start.plusSeconds(3600L * hour), 1013.0);
      }
      store.write(batch);
      Instant noon = start.plusSeconds(86_400 + 12 * 3600);
      System.out.println("from " + weather.deleteBefore(noon));
      try (var points = weather.entries("temperature", start, noon)) {
        points.forEach(System.out::println);
      }
    }
    // end
  }
}
