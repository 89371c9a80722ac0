package io.isobardb.lsm;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Small stores on simulated disks. */
public final class SimulatedStores {
  public static final StoreOptions SMALL =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();

  private SimulatedStores() {}

  public static Store open(SimulatedStorage storage, SimulatedClock clock, long seed) {
    return open(storage, clock, new SimulatedScheduler(clock, seed), seed);
  }

  public static Store open(
      SimulatedStorage storage, SimulatedClock clock, SimulatedScheduler scheduler, long seed) {
    return Inside.open(
        new Environment(storage, clock, scheduler, new SplittableRandom(seed)), SMALL);
  }

  public static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  public static byte[] key(int i) {
    return bytes(String.format("key%06d", i));
  }

  public static byte[] value(int i, int length) {
    byte[] value = new byte[length];
    Arrays.fill(value, (byte) i);
    return value;
  }

  public static Map<String, String> contents(Tree tree) {
    Map<String, String> contents = new TreeMap<>();
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        contents.put(new String(cursor.key(), UTF_8), new String(cursor.value(), UTF_8));
      }
    }
    return contents;
  }
}
