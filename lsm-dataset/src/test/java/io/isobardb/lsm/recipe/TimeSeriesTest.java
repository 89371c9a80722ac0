package io.isobardb.lsm.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.typed.Codec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TimeSeriesTest {
  private static final StoreOptions SMALL = StoreOptions.builder().memoryBudget(8 << 20).build();
  private static final StoreOptions SYNCED =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .durability(Durability.SYNC)
          .build();
  private static final Duration BUCKET = Duration.ofSeconds(100);
  private static final List<String> NAMES = List.of("", "a", "a\0", "ab", "b");

  @TempDir Path directory;

  private static TimeSeries<Integer> open(Store store) {
    return TimeSeries.open(store, "t", BUCKET, Codec.int32());
  }

  private static List<Map.Entry<Instant, Integer>> points(
      TimeSeries<Integer> series, String name, Instant from, Instant to) {
    try (var points = series.entries(name, from, to)) {
      return points.toList();
    }
  }

  /** Points on both sides of 1970, beside a sorted map for each series; crashes in between. */
  @Test
  void seriesHoldWhatAModelHolds() {
    for (long seed = 1; seed <= 6; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SimulatedWorld world = new SimulatedWorld(seed);
      Store store = world.open(SYNCED);
      TimeSeries<Integer> series = open(store);
      Map<String, TreeMap<Instant, Integer>> model = new TreeMap<>();
      NAMES.forEach(name -> model.put(name, new TreeMap<>()));
      for (int i = 0; i < 400; i++) {
        String name = NAMES.get(random.nextInt(NAMES.size()));
        TreeMap<Instant, Integer> expected = model.get(name);
        Instant time = time(random);
        switch (random.nextInt(40)) {
          case 0 -> {
            Instant first = series.deleteBefore(time);
            assertTrue(!first.isAfter(time) && first.plus(BUCKET).isAfter(time));
            model.values().forEach(points -> points.headMap(first).clear());
          }
          case 1 -> {
            CrashMode mode = CrashMode.values()[random.nextInt(4)];
            SimulatedWorld next =
                new SimulatedWorld(world.storage().crash(random.split(), mode), seed);
            store.close();
            world = next;
            store = world.open(SYNCED);
            series = open(store);
          }
          case 2 -> {
            WriteBatch batch = store.newBatch();
            for (int n = 0; n < 5; n++) {
              Instant one = time(random);
              series.put(batch, name, one, n);
              expected.put(one, n);
            }
            store.write(batch);
          }
          case 3, 4, 5, 6, 7, 8, 9, 10 -> {
            Instant other = time(random);
            Instant from = time.isBefore(other) ? time : other;
            Instant to = time.isBefore(other) ? other : time;
            assertEquals(
                List.copyOf(expected.subMap(from, to).entrySet()), points(series, name, from, to));
            assertEquals(
                List.copyOf(expected.entrySet()), points(series, name, Instant.MIN, Instant.MAX));
            assertEquals(List.of(), points(series, name, other, other));
            assertEquals(
                List.copyOf(expected.subMap(from, true, to, false).descendingMap().entrySet()),
                newest(series, name, from, to));
            assertEquals(
                List.copyOf(expected.descendingMap().entrySet()),
                newest(series, name, Instant.MIN, Instant.MAX));
          }
          default -> {
            series.put(name, time, i);
            expected.put(time, i);
            assertEquals(i, series.get(name, time));
          }
        }
      }
      store.close();
    }
  }

  private static List<Map.Entry<Instant, Integer>> newest(
      TimeSeries<Integer> series, String name, Instant from, Instant to) {
    try (var points = series.newestFirst(name, from, to)) {
      return points.toList();
    }
  }

  @Test
  void aSeriesIsReadAsOfASnapshotBothWays() {
    try (Store store = Store.open(directory, SMALL)) {
      TimeSeries<Integer> series = open(store);
      Instant first = Instant.ofEpochSecond(5);
      series.put("a", first, 1);
      series.put("b", first.plus(BUCKET.multipliedBy(3)), 2);
      try (Snapshot before = store.snapshot()) {
        series.put("a", first, 3);
        series.put("a", first.plusSeconds(1), 4);
        try (var points = series.entries("a", Instant.MIN, Instant.MAX, before);
            var newest = series.newestFirst("a", Instant.MIN, Instant.MAX, before)) {
          assertEquals(List.of(Map.entry(first, 1)), points.toList());
          assertEquals(List.of(Map.entry(first, 1)), newest.toList());
        }
      }
      // Far behind it, beyond a bucket that only another series has.
      try (var asOf = series.newestFirst("a", first, first.plus(BUCKET.multipliedBy(9)))) {
        assertEquals(4, asOf.findFirst().orElseThrow().getValue());
      }
      assertEquals(List.of(), newest(series, "c", Instant.MIN, Instant.MAX));
    }
  }

  private static Instant time(SplittableRandom random) {
    return Instant.ofEpochSecond(random.nextInt(-1000, 1000), random.nextInt(3) * 499_999_999L);
  }

  @Test
  void writersAndReadersMayComeTogetherWithRetention() throws Exception {
    try (Store store = Store.open(directory, SMALL)) {
      TimeSeries<Integer> series = open(store);
      ExecutorService pool = Executors.newFixedThreadPool(4);
      List<Future<?>> done = new ArrayList<>();
      for (String name : List.of("a", "b", "c")) {
        done.add(
            pool.submit(
                () -> {
                  for (int second = 0; second < 2000; second++) {
                    series.put(name, Instant.ofEpochSecond(second), second);
                    if (second % 200 == 0) {
                      Instant now = Instant.ofEpochSecond(second);
                      List<Map.Entry<Instant, Integer>> points =
                          points(series, name, now.minusSeconds(100), now.plusSeconds(1));
                      assertEquals(second == 0 ? 1 : 101, points.size());
                    }
                  }
                }));
      }
      done.add(
          pool.submit(
              () -> {
                for (int second = -1000; second <= 500; second += 50) {
                  series.deleteBefore(Instant.ofEpochSecond(Math.min(0, second)));
                }
              }));
      for (Future<?> thread : done) {
        thread.get();
      }
      pool.shutdown();
      series.deleteBefore(Instant.ofEpochSecond(1000));
      assertEquals(1000, points(series, "b", Instant.MIN, Instant.MAX).size());
    }
  }

  @Test
  void bucketsAreStoredAndMustBeWholeSeconds() {
    try (Store store = Store.open(directory, SMALL)) {
      open(store).put("a", Instant.EPOCH, 1);
      assertNull(open(store).get("a", Instant.MAX));
      open(store).deleteBefore(Instant.MAX);
      String message =
          assertThrows(
                  IllegalArgumentException.class,
                  () -> TimeSeries.open(store, "t", Duration.ofDays(1), Codec.int32()))
              .getMessage();
      assertEquals("the series 't' have buckets of PT1M40S, not PT24H", message);
      for (Duration wrong : List.of(Duration.ZERO, Duration.ofMillis(1500), BUCKET.negated())) {
        assertThrows(
            IllegalArgumentException.class,
            () -> TimeSeries.open(store, "other", wrong, Codec.int32()));
      }
    }
  }
}
