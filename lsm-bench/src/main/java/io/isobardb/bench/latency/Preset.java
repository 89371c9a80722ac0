package io.isobardb.bench.latency;

import io.isobardb.bench.latency.Requests.Sizes;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.setting.Suggestion;
import java.util.List;

/**
 * A load by name: what options say otherwise comes before it.
 *
 * @param name on the command line
 * @param about one line for people
 * @param shape how many requests arrive when
 * @param rate requests per second at its peaks; 0 if they come as fast as the engine can
 * @param smallRate the same with a {@link Ratio} of 4; larger ones have less
 * @param mix what they do
 * @param sizes of values
 * @param batch records in a synced write; 0 for single puts
 * @param memoryBytes the engine's budget
 * @param records in the store
 * @param seconds how long it runs
 */
record Preset(
    String name,
    String about,
    Shape shape,
    double rate,
    double smallRate,
    Mix mix,
    Sizes sizes,
    int batch,
    long memoryBytes,
    long records,
    double seconds) {
  private static final long MEGABYTE = 1 << 20;
  private static final Sizes KILOBYTE = Sizes.of(1000);
  private static final Mix HALF = new Mix(50, 50, 0, 0);

  /** With which a ratio of 100 has 0.95 of what {@code --find-rate} finds for this mix there. */
  private static final double FOUND = 3_400;

  /** A trace by its rate; as long as is needed. */
  interface Shape {
    Trace of(double rate, double seconds, long seed);
  }

  /** All of them; the first is the default. */
  static final List<Preset> ALL =
      List.of(
          new Preset(
              "production",
              "peaks and valleys of random lengths as in SILK's production workload",
              Trace::production,
              20_000,
              3_500,
              new Mix(57, 41, 2, 0),
              new Sizes(250, 400, 1024),
              0,
              64 * MEGABYTE,
              300_000,
              120),
          steady("steady", "a constant rate, half of it reads", 16_000, FOUND, HALF),
          new Preset(
              "peaks",
              "8 s at the rate, then 12 s at a thirtieth of it",
              (rate, seconds, seed) -> Trace.peaks(8, rate, 12, rate / 30),
              60_000,
              6_000,
              HALF,
              Sizes.of(400),
              0,
              128 * MEGABYTE,
              500_000,
              60),
          new Preset(
              "writes",
              "a constant rate of writes",
              (rate, seconds, seed) -> Trace.steady(rate),
              40_000,
              4_000,
              new Mix(100, 0, 0, 0),
              Sizes.of(400),
              0,
              256 * MEGABYTE,
              500_000,
              60),
          new Preset(
              "bursts",
              "10 s of synced batches as fast as the engine can, then 20 s of rest",
              (rate, seconds, seed) -> Trace.bursts(1),
              0,
              0,
              new Mix(100, 0, 0, 0),
              Sizes.of(100),
              100,
              16 * MEGABYTE,
              1_000_000,
              120),
          silk("silk-peaks-10", "peaks of 10 s, valleys of 10 s at a quarter", 0, 10),
          silk("silk-peaks-50", "peaks of 50 s, valleys of 10 s at a quarter", 0, 50),
          silk("silk-peaks-100", "peaks of 100 s, valleys of 10 s at a quarter", 0, 100),
          silk("silk-long", "20 s at a quarter of the rate, then one long peak", 20, 1e6),
          silk(
              "silk-long-writes",
              "the same with nine writes of ten",
              20,
              1e6,
              4_000,
              new Mix(90, 10, 0, 0)),
          steady("ycsb-a", "half reads, half writes", 10_000, FOUND, HALF),
          steady("ycsb-b", "19 reads of 20", 10_000, 1_000, new Mix(5, 95, 0, 0)),
          steady("ycsb-c", "reads alone", 10_000, 1_000, new Mix(0, 100, 0, 0)),
          steady("ycsb-e", "19 scans of 20", 2_000, 200, new Mix(5, 0, 95, 0)),
          steady(
              "ycsb-f",
              "half reads, half reads with a write",
              10_000,
              1_000,
              new Mix(0, 50, 0, 50)));

  private static Preset steady(String name, String about, double rate, double smallRate, Mix mix) {
    return new Preset(
        name,
        about,
        (given, seconds, seed) -> Trace.steady(given),
        rate,
        smallRate,
        mix,
        KILOBYTE,
        0,
        128 * MEGABYTE,
        200_000,
        60);
  }

  private static Preset silk(String name, String about, double first, double peak) {
    return silk(name, about, first, peak, FOUND, HALF);
  }

  /** Peaks at 40,000 requests a second and valleys at a quarter of it. */
  private static Preset silk(
      String name, String about, double first, double peak, double smallRate, Mix mix) {
    Shape shape =
        (rate, seconds, seed) ->
            first > 0
                ? new Trace(List.of(Span.of(first, rate / 4), Span.of(peak, rate)))
                : Trace.peaks(peak, rate, 10, rate / 4);
    return new Preset(
        name, about, shape, 40_000, smallRate, mix, KILOBYTE, 0, 128 * MEGABYTE, 200_000, 120);
  }

  /**
   * That of a name.
   *
   * @throws UsageException if there is none, naming the nearest
   */
  static Preset of(String name) {
    for (Preset preset : ALL) {
      if (preset.name().equals(name)) {
        return preset;
      }
    }
    List<String> names = ALL.stream().map(Preset::name).toList();
    throw new UsageException("there is no load '" + name + "'" + Suggestion.among(name, names));
  }
}
