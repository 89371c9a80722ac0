package io.isobardb.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.process.ChildJvm;
import io.isobardb.tpcc.store.Loss;
import io.isobardb.tpcc.store.Survival;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@link EngineKind#survival} says of {@code kill -9} is true. */
class SurvivalTest {
  private static final int MANY = 20_000;
  private static final int FEW = 5;
  private static final int SYNCED = 100;
  private static final int CYCLES = 10;

  /** Longer than any background sync takes, and than a busy machine keeps one waiting. */
  private static final int QUIET_MILLIS = 3_000;

  @TempDir Path dir;

  /**
   * What a process left behind.
   *
   * @param acknowledged how many records it has said to have put
   * @param kept how many of the first are there without a gap
   * @param found how many of them are there
   */
  private record Remains(int acknowledged, int kept, int found) {}

  @ParameterizedTest
  @EnumSource
  void aKillTakesNoMoreThanTheTableSays(EngineKind kind) throws Exception {
    boolean mayLose = kind.survival(false).processEnd() != Loss.NOTHING;
    boolean lost = false;
    for (int cycle = 0; cycle < CYCLES && (mayLose ? !lost : cycle < 2); cycle++) {
      Remains remains = killed(kind, false, cycle % 2 == 0 ? FEW : MANY, 0);
      assertEquals(remains.kept(), remains.found(), "what is lost is the end: " + remains);
      lost |= remains.kept() < remains.acknowledged();
    }
    // A table that claims less than an engine does is wrong, too.
    assertEquals(mayLose, lost, "whether acknowledged writes were lost");
  }

  static List<EngineKind> enginesThatMayLose() {
    return Arrays.stream(EngineKind.values())
        .filter(kind -> kind.survival(false).processEnd() != Loss.NOTHING)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("enginesThatMayLose")
  void aKillTakesNothingThatIsOlderThanTheInterval(EngineKind kind) throws Exception {
    Remains remains = killed(kind, false, FEW, QUIET_MILLIS);
    assertEquals(FEW, remains.kept(), remains.toString());
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ROCKSDB_SYNC100MS", "ROCKSDB_BUFFERED"})
  void aKillTakesNoSyncedWrite(EngineKind kind) throws Exception {
    Remains remains = killed(kind, true, SYNCED, 0);
    assertEquals(remains.acknowledged(), remains.kept(), remains.toString());
  }

  @Test
  void theDocumentSaysTheSame() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("..", "docs", "performance.md"));
    for (EngineKind kind : EngineKind.values()) {
      Survival survival = kind.survival(false);
      String start = "| " + kind.label() + " |";
      String end =
          " | " + survival.processEnd().words() + " | " + survival.machineFailure().words() + " |";
      assertTrue(
          kind == EngineKind.ROCKSDB_STALL
              || lines.stream().anyMatch(line -> line.startsWith(start) && line.endsWith(end)),
          start + end);
    }
  }

  /** Kills a process some time after it has acknowledged {@code records}. */
  private Remains killed(EngineKind kind, boolean sync, int records, int millis)
      throws IOException, InterruptedException {
    Path data = Files.createTempDirectory(dir, kind.label());
    ChildJvm child =
        new ChildJvm(SurvivalVictim.class)
            .heapBytes(256 << 20)
            .directBytes(128 << 20)
            .argument(kind.name())
            .argument(data.toString())
            .argument(String.valueOf(sync))
            .argument(String.valueOf(millis > 0 ? records : Integer.MAX_VALUE));
    kind.jvmFlags().forEach(child::flag);
    Process process = child.start();
    int acknowledged = 0;
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        acknowledged++;
        if (acknowledged == records) {
          process.waitFor(millis, TimeUnit.MILLISECONDS);
          // Not Process.destroyForcibly, which closes the pipe with what is still in it.
          process.toHandle().destroyForcibly();
        }
      }
    } finally {
      process.toHandle().destroyForcibly();
      process.waitFor();
    }
    assertTrue(acknowledged >= records, "the process ended by itself");
    EngineOptions options = new EngineOptions(data, SurvivalVictim.MEMORY_BYTES, false, sync, 1);
    int kept = 0;
    int found = 0;
    try (Engine engine = kind.open(options);
        Session session = engine.openSession()) {
      byte[] into = new byte[8];
      for (int n = 0; n < acknowledged; n++) {
        if (session.get(0, SurvivalVictim.key(n), into) != Session.ABSENT) {
          found++;
          kept += kept == n ? 1 : 0;
        }
      }
    }
    return new Remains(acknowledged, kept, found);
  }
}
