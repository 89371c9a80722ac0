package io.isobardb.bench.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.Isobar;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Recording;
import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.store.RecordingLayout;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What a store's recording has, and when it is refused. */
@Tag("any-jdk")
class RecordedRunTest {
  private static final RecordingOptions ALL = RecordingOptions.defaults().withOneKeyIn(1);

  @TempDir Path dir;

  private Store store() {
    return Store.open(dir.resolve("store"), StoreOptions.builder().memoryBudget(8 << 20).build());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String name(int kind) {
    return switch (kind) {
      case RecordingLayout.PUT -> "put";
      case RecordingLayout.DELETE -> "delete";
      case RecordingLayout.GET -> "get";
      case RecordingLayout.SCAN -> "scan";
      case RecordingLayout.DELETE_RANGE -> "deleteRange";
      default -> "kind " + kind;
    };
  }

  /** Its operations: kind, key and size. Keys are told from their hashes. */
  private static List<String> told(RecordedRun run, String... keys) {
    Map<Long, String> known = new HashMap<>();
    for (String key : keys) {
      known.put(KeyHash.hash(bytes(key), 0, key.length()), key);
    }
    List<String> told = new ArrayList<>();
    for (int i = 0; i < run.count(); i++) {
      String key = known.getOrDefault(run.hash(i), "?");
      assertEquals(key.equals("?") ? 0 : key.length(), run.keyBytes(i));
      told.add(name(run.kind(i)) + " " + key + " " + run.size(i));
    }
    return told;
  }

  @Test
  void allKindsOfOperationsAreThereInTheirOrder() throws Exception {
    Path file = dir.resolve("recording");
    try (Store store = store()) {
      Tree tree = store.openTree("t");
      tree.put(bytes("before"), bytes("1"));
      try (Recording recording = store.startRecording(file, ALL)) {
        tree.put(bytes("a"), bytes("12345"));
        tree.put(ByteBuffer.wrap(bytes("bb")), ByteBuffer.wrap(bytes("123")));
        tree.get(bytes("before"));
        tree.get(bytes("absent"));
        tree.get(bytes("a"), ByteBuffer.allocate(10));
        tree.contains(bytes("a"));
        tree.read(bytes("bb"), ByteBuffer::remaining);
        tree.multiGet(List.of(bytes("a"), bytes("absent")));
        tree.putIfAbsent(bytes("a"), bytes("7"));
        tree.putIfAbsent(bytes("ccc"), bytes("7"));
        WriteBatch batch = store.newBatch();
        batch.put(tree, bytes("a"), bytes("1")).delete(tree, bytes("bb"));
        store.write(batch);
        tree.delete(bytes("absent"));
        try (Cursor cursor = tree.cursor(CursorOptions.all().from(bytes("a")))) {
          cursor.first();
          cursor.next();
          cursor.seek(bytes("before"));
          cursor.forEach(10, (key, value) -> true);
        }
        try (Cursor cursor = tree.cursor()) {
          cursor.first();
        }
        store.runInTransaction(
            transaction -> {
              transaction.get(tree, bytes("a"));
              transaction.put(tree, bytes("a"), bytes("12"));
              transaction.get(tree, bytes("a"));
            });
        try (Transaction transaction = store.begin()) {
          transaction.put(tree, bytes("a"), bytes("of no use"));
        }
        tree.deleteRange(bytes("before"), bytes("c"));
        assertEquals(21, recording.operations());
        assertFalse(recording.isEnded());
      }
      tree.put(bytes("a"), bytes("later"));
    }
    RecordedRun run = RecordedRun.read("FILE", file);
    assertEquals(
        List.of(
            "put a 5",
            "put bb 3",
            "get before 2",
            "get absent 0",
            "get a 6",
            "get a 6",
            "get bb 4",
            "get a 6",
            "get absent 0",
            "get a 6",
            "get ccc 0",
            "put ccc 1",
            "put a 1",
            "delete bb 0",
            "delete absent 0",
            "scan a 2",
            "scan before 3",
            "scan ? 1",
            "get a 2",
            "put a 2",
            "deleteRange before 0"),
        told(run, "a", "bb", "ccc", "before", "absent"));
    assertEquals(1, run.begin().trees());
    assertEquals(1, run.begin().entries());
    RecordedRun.Totals totals = run.totals();
    assertNotNull(totals);
    assertEquals(2, totals.scans());
  }

  @Test
  void aKeyIsRecordedWithAllThatIsDoneToItOrNotAtAll() throws Exception {
    Path file = dir.resolve("recording");
    try (Store store = store()) {
      Tree tree = store.openTree("t");
      try (Recording recording = store.startRecording(file, ALL.withOneKeyIn(8))) {
        for (int i = 0; i < 8000; i++) {
          tree.put(bytes("key" + i % 4000), new byte[i % 7]);
          tree.get(bytes("key" + i % 4000));
        }
        assertFalse(recording.isEnded());
      }
    }
    RecordedRun run = RecordedRun.read("FILE", file);
    Map<Long, Integer> counts = new HashMap<>();
    long last = 0;
    for (int i = 0; i < run.count(); i++) {
      counts.merge(run.hash(i), 1, Integer::sum);
      assertTrue(run.nanos(i) >= last);
      last = run.nanos(i);
    }
    counts.forEach((hash, count) -> assertEquals(4, count));
    assertTrue(counts.size() > 400 && counts.size() < 600, counts.size() + " keys");
  }

  @Test
  void aFileStaysWithinItsBoundAndTheStoreGoesOn() throws Exception {
    Path file = dir.resolve("recording");
    try (Store store = store()) {
      Tree tree = store.openTree("t");
      Recording recording = store.startRecording(file, ALL.withMaxBytes(64 << 10));
      for (int i = 0; i < 20_000; i++) {
        tree.put(bytes("key" + i), bytes("value"));
      }
      assertTrue(recording.isEnded());
      long operations = recording.operations();
      recording.close();
      recording.close();
      assertTrue(Files.size(file) <= 64 << 10, Files.size(file) + " bytes");
      assertEquals(recording.bytes(), Files.size(file));
      assertEquals(operations, RecordedRun.read("FILE", file).count());
      assertEquals("value", new String(tree.get(bytes("key19999")), UTF_8));
    }
  }

  @Test
  void oneRecordingAtATimeAndTheEndOfTheStoreEndsIt() throws Exception {
    Path file = dir.resolve("recording");
    Recording recording;
    try (Store store = store()) {
      Tree tree = store.openTree("t");
      recording = store.startRecording(file, ALL);
      tree.put(bytes("a"), bytes("b"));
      Path other = dir.resolve("other");
      assertThrows(IllegalStateException.class, () -> store.startRecording(other, ALL));
      assertFalse(Files.exists(other));
    }
    assertTrue(recording.isEnded());
    recording.close();
    assertEquals(List.of("put a 1"), told(RecordedRun.read("FILE", file), "a"));
    try (Store store = store()) {
      assertThrows(java.io.UncheckedIOException.class, () -> store.startRecording(file, ALL));
      store.startRecording(dir.resolve("next"), ALL).close();
      store.startRecording(dir.resolve("third"), ALL).close();
    }
  }

  private byte[] recorded() throws Exception {
    Path file = dir.resolve("whole");
    try (Store store = store()) {
      Tree tree = store.openTree("t");
      try (Recording recording = store.startRecording(file, ALL)) {
        for (int i = 0; i < 5000; i++) {
          tree.put(bytes("key" + i), bytes("value"));
        }
        assertEquals(5000, recording.operations());
      }
    }
    return Files.readAllBytes(file);
  }

  @Test
  void whatIsDamagedIsRefusedAndWhatIsTornIsShort() throws Exception {
    byte[] whole = recorded();
    Path file = dir.resolve("damaged");
    for (int at = RecordingLayout.MAGIC_BYTES; at < whole.length; at += 997) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 4;
      Files.write(file, damaged);
      try {
        // A length that is too large is what a torn file has, too.
        assertNull(RecordedRun.read("FILE", file).totals(), "at " + at);
      } catch (FailedException e) {
        assertTrue(e.getMessage().contains("is damaged at byte"), e.getMessage());
      }
    }
    int place = RecordingLayout.MAGIC_BYTES;
    byte[] shifted = new byte[whole.length + 4];
    System.arraycopy(whole, 0, shifted, 0, place);
    System.arraycopy(whole, place, shifted, place + 4, whole.length - place);
    Files.write(file, shifted);
    assertThrows(FailedException.class, () -> RecordedRun.read("FILE", file));
    Files.write(file, java.util.Arrays.copyOf(whole, whole.length - 1));
    RecordedRun torn = RecordedRun.read("FILE", file);
    assertNull(torn.totals());
    assertEquals(5000, torn.count());
    Files.writeString(file, "10s 20000");
    assertThrows(UsageException.class, () -> RecordedRun.read("FILE", file));
    assertThrows(UsageException.class, () -> RecordedRun.read("FILE", dir.resolve("nowhere")));
  }

  /** An older release wrote {@code recording-1}. */
  @Test
  void aRecordingOfEachVersionCanBeRead() throws Exception {
    URL old = RecordedRunTest.class.getResource("recording-1");
    assertNotNull(old);
    RecordedRun run = RecordedRun.read("FILE", Path.of(old.toURI()));
    assertEquals(145, run.count());
    assertEquals(-1, run.begin().debtBytes());
    RecordedRun.Totals totals = run.totals();
    assertNotNull(totals);
    assertEquals(-1, totals.debtBytes());
    recorded();
    RecordedRun now = RecordedRun.read("FILE", dir.resolve("whole"));
    assertEquals(0, now.begin().debtBytes());
    byte[] next = Files.readAllBytes(dir.resolve("whole"));
    next[RecordingLayout.MAGIC_BYTES + RecordingLayout.HEAD_BYTES] = RecordingLayout.VERSION + 1;
    Path newer = dir.resolve("newer");
    Files.write(newer, sealed(next));
    UsageException refused =
        assertThrows(UsageException.class, () -> RecordedRun.read("FILE", newer));
    assertTrue(refused.getMessage().contains("version"), refused.getMessage());
  }

  /** With a right checksum of its first frame. */
  private static byte[] sealed(byte[] file) {
    int from = RecordingLayout.MAGIC_BYTES;
    int length = RecordingLayout.HEAD_BYTES + (int) Frame.number(file, from + 1, Integer.BYTES);
    long sum = RecordingLayout.checksum(file, from, length, from);
    for (int i = 0; i < RecordingLayout.CHECKSUM_BYTES; i++) {
      file[from + length + i] = (byte) (sum >>> 8 * i);
    }
    return file;
  }

  private static int run(StringWriter out, String... args) {
    CommandLine line = Isobar.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(out));
    return line.execute(args);
  }

  @Test
  void theCommandShowsWhatThereIs() throws Exception {
    recorded();
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, "record", dir.resolve("whole").toString()), out::toString);
    String text = out.toString();
    assertTrue(text.contains("one key in 1; 5,000 operations"), text);
    assertTrue(text.contains("puts"), text);
    assertTrue(text.contains("100.0 %"), text);
    assertTrue(text.contains("5,000 keys; the hottest 0.1 % have 0.1 %"), text);
    StringWriter json = new StringWriter();
    assertEquals(0, run(json, "record", "--json", dir.resolve("whole").toString()));
    assertTrue(json.toString().contains("\"operations\":5000"), json::toString);
    StringWriter none = new StringWriter();
    assertEquals(2, run(none, "record", dir.resolve("none").toString()));
    assertTrue(none.toString().contains("is not there"), none::toString);
  }

  @Test
  void aRunOfYcsbIsRecordedWithoutItsLoad() throws Exception {
    Path file = dir.resolve("ycsb");
    String[] args = {
      "ycsb",
      "--workload=a",
      "--records=1000",
      "--operations=2000",
      "--memory=8MB",
      "--record=" + file,
      "--record-keys=1",
      "--json"
    };
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, args), out::toString);
    RecordedRun run = RecordedRun.read("FILE", file);
    assertEquals(1000, run.begin().entries());
    assertTrue(run.count() >= 2000 && run.count() < 4000, run.count() + " operations");
    StringWriter again = new StringWriter();
    assertEquals(2, run(again, args), again::toString);
    assertTrue(again.toString().contains("is there already"), again::toString);
    StringWriter other = new StringWriter();
    args[5] = "--record=" + dir.resolve("other");
    args[7] = "--engine=mvstore";
    assertEquals(2, run(other, args), other::toString);
    assertTrue(other.toString().contains("--record is for a workload on isobar"), other::toString);
  }
}
