package io.isobardb.lsm.recipe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.typed.Codec;
import io.isobardb.lsm.typed.KeyCodec;
import io.isobardb.lsm.typed.KeyRange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExpiringMapTest {
  private static final StoreOptions SYNCED =
      StoreOptions.builder()
          .memoryBudget(4 << 20)
          .pageSize(4096)
          .logLimit(1 << 20)
          .durability(Durability.SYNC)
          .build();
  private static final Duration LIFETIME = Duration.ofSeconds(60);

  @TempDir Path directory;

  private static ExpiringMap<String, String> map(Store store) {
    return ExpiringMap.open(store, "m", LIFETIME, KeyCodec.ofString(), Codec.string());
  }

  @Test
  void entriesExpireUnlessTheyAreTouched() {
    SimulatedWorld world = new SimulatedWorld(1);
    try (Store store = world.open(SYNCED)) {
      ExpiringMap<String, String> map = map(store);
      map.put("a", "1");
      map.put("b", "2");
      map.put("c", "3", world.now().plusSeconds(10));
      assertEquals("1", map.putIfAbsent("a", "x"));
      world.clock().jumpWall(40_000);
      assertNull(map.touch("c"));
      assertNull(map.get("c"));
      assertEquals("1", map.touch("a"));
      assertEquals("2", map.get("b"), "reading is not touching");
      world.clock().jumpWall(40_000);
      assertTrue(map.contains("a"));
      assertFalse(map.contains("b"));
      assertNull(map.putIfAbsent("b", "new"));
      try (var entries = map.entries(KeyRange.all())) {
        assertEquals(List.of(Map.entry("a", "1"), Map.entry("b", "new")), entries.toList());
      }
      assertEquals("1", map.remove("a"));
      assertNull(map.touch("a"));
      assertNull(map.remove("a"));
      world.clock().jumpWall(60_000);
      assertTrue(map.entries(KeyRange.all()).findAny().isEmpty());
    }
  }

  @Test
  void theTimeOfAnEntryOutlivesACrash() {
    SplittableRandom random = new SplittableRandom(2);
    for (CrashMode mode : CrashMode.values()) {
      SimulatedWorld world = new SimulatedWorld(2);
      Store store = world.open(SYNCED);
      ExpiringMap<String, String> map = map(store);
      map.put("a", "1");
      map.put("b", "2");
      world.clock().jumpWall(30_000);
      map.touch("a");
      SimulatedWorld after = new SimulatedWorld(world.storage().crash(random.split(), mode), 3);
      store.close();
      try (Store reopened = after.open(SYNCED)) {
        ExpiringMap<String, String> again = map(reopened);
        assertEquals("1", again.get("a"));
        assertEquals("2", again.get("b"));
        after.clock().jumpWall(40_000);
        assertEquals("1", again.get("a"));
        assertNull(again.get("b"));
      }
    }
  }

  @Test
  void aTouchNeverBringsBackWhatWasRemoved() throws Exception {
    try (Store store =
        Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      ExpiringMap<String, String> map = map(store);
      ExecutorService pool = Executors.newFixedThreadPool(3);
      for (int round = 0; round < 50; round++) {
        map.put("s", "1");
        List<Future<String>> touches = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
          touches.add(pool.submit(() -> map.touch("s")));
        }
        assertEquals("1", pool.submit(() -> map.remove("s")).get());
        for (Future<String> touch : touches) {
          touch.get();
        }
        assertNull(map.get("s"));
      }
      pool.shutdown();
    }
  }

  @Test
  void entriesMustLiveForSomeTimeAndNotForEver() {
    try (Store store =
        Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build())) {
      Duration most = Duration.ofSeconds(Long.MAX_VALUE);
      for (Duration none :
          List.of(
              Duration.ZERO,
              Duration.ofNanos(999_999),
              LIFETIME.negated(),
              most,
              most.negated(),
              Duration.ofDays(36_501))) {
        assertThrows(
            IllegalArgumentException.class,
            () -> ExpiringMap.open(store, "m", none, KeyCodec.ofString(), Codec.string()));
      }
      assertFalse(store.treeNames().contains("m"));
    }
  }
}
