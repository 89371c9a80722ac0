package io.isobardb.bench.latency;

import io.isobardb.cli.console.Numbers;
import java.util.Map;

/**
 * How many times the write memory the data of a load is. The load is made so small that it runs in
 * virtual time: data, memory, pages, device and rates shrink together. Immutable.
 *
 * <p>Data grows with the cube root of the ratio, from 20 MB at a ratio of 4. The device does 20 MB
 * a second. Each load has a rate of its own for that, with fewer requests at larger ratios: merges
 * cost more there, and what a device can sustain is less.
 *
 * @param times from 4 to 400
 */
record Ratio(int times) {
  /** Of data to write memory in the loads as they are. */
  static final int LEAST = 4;

  static final int MOST = 400;

  /** What the device reads and writes in a second. */
  static final long DEVICE_BYTES = 20L << 20;

  private static final double LEAST_DATA_BYTES = 20 << 20;
  private static final long LEAST_MEMORY_BYTES = 8L << 20;
  private static final double PART = 0.1;
  private static final double RATE_EXPONENT = -0.2;
  private static final int PAGE_BYTES = 4096;

  Ratio {
    Numbers.check("--ratio", times, LEAST, MOST);
  }

  private double growth() {
    return (double) times / LEAST;
  }

  private double dataBytes() {
    return LEAST_DATA_BYTES * Math.cbrt(growth());
  }

  /** The load at this ratio. */
  Preset of(Preset load) {
    double record = Client.KEY_BYTES + load.sizes().mean();
    boolean bursts = load.rate() == 0;
    double peak = load.smallRate() * Math.pow(growth(), RATE_EXPONENT);
    return new Preset(
        load.name(),
        load.about(),
        bursts ? (rate, seconds, seed) -> Trace.bursts(PART) : load.shape(),
        peak,
        peak,
        load.mix(),
        load.sizes(),
        load.batch(),
        Math.max(LEAST_MEMORY_BYTES, (long) (load.memoryBytes() * PART)),
        (long) (dataBytes() / record),
        bursts ? load.seconds() * PART : load.seconds());
  }

  /** Options of the store. */
  Map<String, String> options() {
    return Map.of(
        "writeMemory", Long.toString((long) (dataBytes() / times)),
        "memoryTuner", "off",
        "pageSize", Integer.toString(PAGE_BYTES));
  }
}
