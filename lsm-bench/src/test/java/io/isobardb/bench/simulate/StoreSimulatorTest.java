package io.isobardb.bench.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.simulate.StoreShape.Room;
import io.isobardb.bench.simulate.StoreSimulator.Result;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreSimulatorTest {
  private static final Room ROOM = new Room(1000, 1000, 2 << 20, 5 << 20);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noKeyIsLost(boolean whole) {
    int keys = 30_000;
    SimulatedTree tree = new SimulatedTree(keys, StoreShape.of(ROOM));
    SplittableRandom random = new SplittableRandom(5);
    boolean[] isPut = new boolean[keys];
    for (int i = 0; i < 5 * keys; i++) {
      int key = random.nextInt(keys);
      isPut[key] = true;
      tree.put(key, i, tree.memoryBytes());
      if (tree.memoryBytes() > ROOM.memoryTriggerBytes()) {
        if (whole) {
          tree.flushAll(tree.memoryBytes());
        } else {
          if (!tree.hasSealed()) {
            tree.seal();
          }
          tree.flushSlice(tree.memoryBytes());
        }
      }
    }
    assertTrue(tree.version().levelCount() > 1, tree.version().toString());
    for (int key = 0; key < keys; key++) {
      if (isPut[key]) {
        tree.pagesOfRead(key);
      } else {
        int absent = key;
        assertThrows(IllegalStateException.class, () -> tree.pagesOfRead(absent));
      }
    }
  }

  @Test
  void aSeedReplaysItsRun() {
    StoreShape shape = StoreShape.of(ROOM);
    Result first = new StoreSimulator(shape, 3, 10_000, 0.99, 7).run(2);
    assertEquals(first, new StoreSimulator(shape, 3, 10_000, 0.99, 7).run(2));
    assertNotEquals(first, new StoreSimulator(shape, 3, 10_000, 0.99, 8).run(2));
  }

  @Test
  void memoryAndLogStayNearTheirLimits() {
    StoreSimulator simulator = new StoreSimulator(StoreShape.of(ROOM), 4, 10_000, 0.99, 3);
    simulator.run(2);
    assertTrue(simulator.mostUsedBytes() <= ROOM.memoryTriggerBytes() + 1000);
    assertTrue(simulator.mostLogBytes() <= ROOM.logTriggerBytes() + 1000);
    // Both were reached: with skewed keys and a short log, either calls for flushes.
    assertTrue(simulator.mostUsedBytes() > ROOM.memoryTriggerBytes() * 9 / 10);
    assertTrue(simulator.mostLogBytes() > ROOM.logTriggerBytes() * 9 / 10);
  }

  @Test
  void whatIsNoStoreIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new Room(0, 1000, 2 << 20, 5 << 20));
    assertThrows(IllegalArgumentException.class, () -> new Room(1000, 999, 2 << 20, 5 << 20));
    assertThrows(IllegalArgumentException.class, () -> new Room(1000, 1000, 1 << 19, 5 << 20));
    assertThrows(IllegalArgumentException.class, () -> new Room(1000, 1000, 2 << 20, 1 << 20));
    assertThrows(
        IllegalArgumentException.class,
        () -> new StoreSimulator(StoreShape.of(ROOM), 0, 10_000, 0, 1));
  }
}
