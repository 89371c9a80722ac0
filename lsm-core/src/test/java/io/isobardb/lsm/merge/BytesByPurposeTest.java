package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.schedule.Job;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bytes that a store reads and writes are counted for the job, the client or the file they serve.
 */
@Tag("any-jdk")
class BytesByPurposeTest {
  private static final StoreOptions SMALL =
      ExperimentalOptions.set(
              StoreOptions.builder()
                  .pageSize(4096)
                  .memoryBudget(8 << 20)
                  .writeMemory(512 << 10)
                  .memoryTuner(false)
                  .backgroundThreads(2),
              // So few that merges of L0 have deeper ones to do.
              e -> e.l0MostGroups(12))
          .build();

  private static void writeAndRead(Tree tree) {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 12_000; i++) {
      tree.put(key(random.nextInt(8_000)), new byte[1000]);
    }
    for (int i = 0; i < 8_000; i++) {
      tree.get(key(i));
    }
  }

  private static void checkWritten(StoreStats stats) {
    Map<IoPurpose, Long> written = stats.ioBytesWritten();
    assertEquals(stats.flushBytesWritten(), written.get(IoPurpose.FLUSH));
    long merged = written.get(IoPurpose.MERGE_L0) + written.get(IoPurpose.MERGE_DEEP);
    long voided = stats.mergeBytesVoided();
    assertTrue(
        stats.mergeBytesWritten() <= merged && merged <= stats.mergeBytesWritten() + voided,
        stats::toJson);
    assertEquals(0, written.get(IoPurpose.QUERY));
    assertTrue(written.get(IoPurpose.LOG) >= stats.operations().bytesWritten(), stats::toJson);
  }

  @Test
  void eachByteIsChargedToTheJobThatReadOrWroteIt() {
    VirtualWorld world = new VirtualWorld(1, 20 << 20, 2);
    try (Store store = world.open(SMALL)) {
      writeAndRead(store.openTree("t"));
      store.awaitQuiet();
      StoreStats stats = store.stats();
      checkWritten(stats);
      // The device has counted, too, by job: the log's and the manifest's bytes among the rest.
      assertEquals(all(world.storage::bytesRead), sum(stats.ioBytesRead()));
      assertEquals(all(world.storage::bytesWritten), sum(stats.ioBytesWritten()));
      // Jobs read nothing but SSTables.
      Map<IoPurpose, Long> read = stats.ioBytesRead();
      assertEquals(world.storage.bytesRead(Job.Priority.FLUSH), read.get(IoPurpose.FLUSH));
      assertEquals(
          world.storage.bytesRead(Job.Priority.MERGE_L0)
              + world.storage.bytesRead(Job.Priority.GATHER),
          read.get(IoPurpose.MERGE_L0));
      assertEquals(
          world.storage.bytesRead(Job.Priority.MERGE_DEEP)
              + world.storage.bytesRead(Job.Priority.IDLE),
          read.get(IoPurpose.MERGE_DEEP));
      assertTrue(read.get(IoPurpose.QUERY) > 100_000, stats::toJson);
      for (IoPurpose merge : List.of(IoPurpose.MERGE_L0, IoPurpose.MERGE_DEEP)) {
        assertTrue(stats.ioBytesRead().get(merge) > 100_000, stats::toJson);
        assertTrue(stats.ioBytesWritten().get(merge) > 100_000, stats::toJson);
      }
    }
  }

  @Test
  void loadsAndCopiesArePurposesOfTheirOwn(@TempDir Path directory) throws IOException {
    VirtualWorld world = new VirtualWorld(1, 20 << 20, 2);
    try (Store store = world.open(SMALL)) {
      Tree tree = store.openTree("t");
      long loaded;
      try (BulkLoad load = store.bulkLoad(tree)) {
        for (int i = 0; i < 2_000; i++) {
          load.add(tree, key(i), new byte[1000]);
        }
        load.commit();
        loaded = load.bytesWritten();
      }
      StoreStats before = store.stats();
      assertEquals(loaded, before.ioBytesWritten().get(IoPurpose.LOAD));
      assertEquals(0, before.ioBytesWritten().get(IoPurpose.QUERY));
      assertEquals(0, before.ioBytesRead().get(IoPurpose.COPY));
      store.checkpointTo(directory.resolve("copy"));
      try (Backups backups = Backups.open(directory.resolve("backups"))) {
        backups.create(store);
      }
      StoreStats after = store.stats();
      assertEquals(2 * loaded, after.ioBytesRead().get(IoPurpose.COPY));
      assertEquals(
          before.ioBytesRead().get(IoPurpose.QUERY), after.ioBytesRead().get(IoPurpose.QUERY));
      assertEquals(before.ioBytesWritten(), after.ioBytesWritten());
      assertEquals(all(world.storage::bytesRead), sum(after.ioBytesRead()));
      assertEquals(all(world.storage::bytesWritten), sum(after.ioBytesWritten()));
    }
  }

  private static long all(ToLongFunction<Job.@Nullable Priority> device) {
    long sum = device.applyAsLong(null);
    for (Job.Priority priority : Job.Priority.values()) {
      sum += device.applyAsLong(priority);
    }
    return sum;
  }

  private static long sum(Map<IoPurpose, Long> bytes) {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void threadsCountAsWellAndTheFlightRecorderHears(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("events.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("isobar.Io").with("period", "endChunk");
      recording.start();
      try (Store store = Store.open(directory.resolve("store"), SMALL)) {
        writeAndRead(store.openTree("t"));
        store.awaitQuiet();
        checkWritten(store.stats());
        assertTrue(store.stats().ioBytesRead().get(IoPurpose.QUERY) > 100_000);
        Map<IoPurpose, Long> told = store.metrics().ioBytesWritten();
        assertEquals(
            store.stats().ioBytesWritten().get(IoPurpose.FLUSH), told.get(IoPurpose.FLUSH));
        recording.stop();
      }
      recording.dump(file);
    }
    List<RecordedEvent> flushes =
        RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().equals("isobar.Io"))
            // Stores that other tests left open are told of, too. Once the text of one was missing.
            .filter(event -> directory.resolve("store").toString().equals(event.getString("store")))
            .filter(event -> event.getString("purpose").equals(IoPurpose.FLUSH.name()))
            .toList();
    assertTrue(Files.size(file) > 0 && !flushes.isEmpty(), "no sample");
    assertTrue(flushes.get(flushes.size() - 1).getLong("bytesWritten") > 1_000_000);
  }
}
