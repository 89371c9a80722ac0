package io.isobardb.bench.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.bench.engine.Engine;
import io.isobardb.bench.engine.Session;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class DriverTest {
  private static final int RECORDS = 1000;

  /** Some writes are slow, so that others read meanwhile what comes next. */
  private static class SlowWrites implements Engine, Session {
    private final Map<ByteBuffer, byte[]> entries = new ConcurrentHashMap<>();

    @Override
    public Session openSession() {
      return this;
    }

    @Override
    public void put(int tree, byte[] key, byte[] value) {
      if (entries.size() >= RECORDS && entries.size() % 16 == 0) {
        LockSupport.parkNanos(1_000_000);
      }
      entries.put(ByteBuffer.wrap(key.clone()), value.clone());
    }

    @Override
    public int get(int tree, byte[] key, byte[] into) {
      byte[] value = entries.get(ByteBuffer.wrap(key));
      if (value == null) {
        return -1;
      }
      System.arraycopy(value, 0, into, 0, value.length);
      return value.length;
    }

    @Override
    public int look(int tree, byte[] key) {
      byte[] value = entries.get(ByteBuffer.wrap(key));
      return value == null ? ABSENT : Session.seen(value.length, value[0]);
    }

    @Override
    public void delete(int tree, byte[] key) {
      entries.remove(ByteBuffer.wrap(key));
    }

    @Override
    public int scan(int tree, byte[] from, int count, Visitor visitor) {
      return 0;
    }

    @Override
    public int scanPrefix(int tree, byte[] prefix, Visitor visitor) {
      return 0;
    }

    @Override
    public List<byte @Nullable []> multiGet(int tree, List<byte[]> keys) {
      return keys.stream().map(key -> entries.get(ByteBuffer.wrap(key))).toList();
    }

    @Override
    public void settle() {}

    @Override
    public long spaceBytes() {
      return 0;
    }

    @Override
    public long memoryBytes() {
      return -1;
    }

    @Override
    public String configuration() {
      return "";
    }

    @Override
    public Map<String, Object> stats() {
      return Map.of();
    }

    @Override
    public void close() {}
  }

  @Test
  void whatIsBeingInsertedIsNotReadBeforeItIsThere() throws InterruptedException {
    try (Driver driver = new Driver(new SlowWrites(), Shape.of(1, RECORDS), 8, 1)) {
      driver.load();
      assertEquals(40_000, driver.run(Workload.ycsb("D"), 40_000, 60).operations());
    }
  }

  @Test
  void aLoadPutsEachRecordOnceAndTimesSomeOfThem() throws InterruptedException {
    SlowWrites engine = new SlowWrites();
    try (Driver driver = new Driver(engine, Shape.of(1, RECORDS), 3, 1)) {
      Driver.Done done = driver.load();
      assertEquals(RECORDS, done.operations());
      assertEquals(RECORDS, done.writes());
      assertEquals(RECORDS, engine.entries.size());
      // Of each thread's 333 or 334 the first, the 17th and so on.
      assertEquals(63, done.latencies().getTotalCount());
    }
  }

  @Test
  void aRunGoesOnForAsLongAsItIsToGoOnAtLeast() throws InterruptedException {
    try (Driver driver = new Driver(new SlowWrites(), Shape.of(1, RECORDS), 2, 1)) {
      driver.load();
      Workload reads = Workload.mixed(0, Keys.UNIFORM);
      Driver.Done done = driver.run(reads, 10, new Driver.Limits(0.05, 60));
      assertTrue(done.seconds() >= 0.05, done.seconds() + " s");
      assertTrue(done.operations() > 10, done.operations() + " operations");
      assertEquals(10, driver.run(reads, 10, new Driver.Limits(0, 60)).operations());
    }
  }

  /** The period is so short that nobody waits for what is due next. */
  @Test
  void whatIsBegunBeforeItIsDueTakesWhatItTakes() throws InterruptedException {
    long busyNanos = 20_000;
    SlowWrites engine =
        new SlowWrites() {
          @Override
          public void put(int tree, byte[] key, byte[] value) {
            long end = System.nanoTime() + busyNanos;
            while (System.nanoTime() - end < 0) {
              Thread.onSpinWait();
            }
          }
        };
    try (Driver driver = new Driver(engine, Shape.of(1, RECORDS), 1, 1)) {
      Workload writes = Workload.mixed(100, Keys.UNIFORM);
      Driver.Done done = driver.pace(writes, 10_000, 1e9 / (2 * busyNanos), 60);
      assertEquals(10_000, done.latencies().getTotalCount());
      long least = done.latencies().getMinValue();
      // To the histogram's three digits.
      assertTrue(least > 0.99 * busyNanos, least + " ns");
    }
  }

  @Test
  void whatIsThereAndShouldNotBeIsTold() throws InterruptedException {
    SlowWrites engine = new SlowWrites();
    try (Driver driver = new Driver(engine, Shape.of(1, RECORDS), 2, 1);
        Driver more = new Driver(engine, Shape.of(1, 2 * RECORDS), 2, 1)) {
      driver.load();
      Workload absent = Workload.mixed(0, Keys.ABSENT);
      assertEquals(500, driver.run(absent, 500, 60).operations());
      more.load();
      String message =
          assertThrows(IllegalStateException.class, () -> driver.run(absent, 500, 60)).getMessage();
      assertTrue(message.contains("was never loaded and is there"), message);
    }
  }

  @Test
  void whatIsNotThereAndShouldBeIsTold() {
    try (Driver driver = new Driver(new SlowWrites(), Shape.of(1, RECORDS), 2, 1)) {
      Workload reads = Workload.mixed(0, Keys.ZIPF);
      driver.draw(100);
      String message =
          assertThrows(IllegalStateException.class, () -> driver.run(reads, 500, 60)).getMessage();
      assertTrue(message.contains("was loaded and is not there"), message);
    }
  }

  @Test
  void keysThatAreDrawnBeforehandAreOthersEachTime() throws InterruptedException {
    List<ByteBuffer> read = new ArrayList<>();
    SlowWrites engine =
        new SlowWrites() {
          @Override
          public int get(int tree, byte[] key, byte[] into) {
            read.add(ByteBuffer.wrap(key.clone()));
            return super.get(tree, key, into);
          }
        };
    try (Driver driver = new Driver(engine, new Shape(1, RECORDS, 16, 100, true), 1, 1)) {
      driver.load();
      List<List<ByteBuffer>> runs = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        driver.draw(100);
        driver.run(Workload.mixed(0, Keys.ZIPF), 100, 60);
        runs.add(List.copyOf(read));
        read.clear();
      }
      assertEquals(100, runs.get(1).size());
      assertNotEquals(runs.get(0), runs.get(1));
    }
  }

  /** Of two sessions, the first one's write fails while the second one is in a write. */
  private static final class Broken extends SlowWrites {
    private final CountDownLatch writing = new CountDownLatch(1);
    private final CountDownLatch left = new CountDownLatch(1);
    private int sessions;
    private volatile boolean closedWithinAWrite;

    @Override
    public Session openSession() {
      boolean fails = sessions++ == 0;
      return new SlowWrites() {
        private final CountDownLatch closed = new CountDownLatch(1);

        @Override
        public void put(int tree, byte[] key, byte[] value) {
          try {
            if (fails) {
              writing.await();
              throw new IllegalStateException("broken");
            }
            writing.countDown();
            closedWithinAWrite |= closed.await(1, TimeUnit.MINUTES);
          } catch (InterruptedException e) {
            // An engine's write goes on nevertheless, and is not done at once.
            LockSupport.parkNanos(100_000_000);
            closedWithinAWrite |= closed.getCount() == 0;
          }
          left.countDown();
        }

        @Override
        public void close() {
          closed.countDown();
        }
      };
    }
  }

  /** Native engines crash if they are closed then, and nobody is told what had failed. */
  @Test
  void sessionsAreClosedOnceNoThreadIsInThem() throws InterruptedException {
    Broken engine = new Broken();
    Driver driver = new Driver(engine, new Shape(1, RECORDS, 16, 100, true), 2, 1);
    try (driver) {
      IllegalStateException failed = assertThrows(IllegalStateException.class, driver::load);
      assertTrue(failed.getMessage().contains("broken"), failed.getMessage());
    }
    engine.left.await();
    assertFalse(engine.closedWithinAWrite);
  }
}
