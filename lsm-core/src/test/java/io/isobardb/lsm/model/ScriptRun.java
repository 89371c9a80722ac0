package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.Watchdog;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One run of a {@link StoreScript}, on a simulated disk, beside a model of what must be there. */
final class ScriptRun {
  /** A value by its recipe. */
  private record Value(int length, int stamp) {
    byte[] bytes() {
      byte[] bytes = new byte[length];
      Arrays.fill(bytes, (byte) stamp);
      return bytes;
    }
  }

  /** A change of one key; {@code value} null for a delete. */
  private record Change(String tree, int key, @Nullable Value value) {}

  private final SimulatedClock clock = new SimulatedClock();
  private final UnaryOperator<Storage> disks;
  private final IntFunction<StoreOptions> options;
  private SimulatedStorage disk = new SimulatedStorage(clock);
  private SimulatedScheduler scheduler = new SimulatedScheduler(clock, 0);
  private @Nullable Store store;
  private @Nullable Snapshot snapshot;
  private Map<String, TreeMap<Integer, Value>> model = new TreeMap<>();
  private Map<String, TreeMap<Integer, Value>> old = new TreeMap<>();

  /** What a crash must leave, and the writes since then, of which it may leave the first ones. */
  private Map<String, TreeMap<Integer, Value>> durable = new TreeMap<>();

  private final List<List<Change>> since = new ArrayList<>();

  /**
   * @param disks wraps each disk that a store is opened on, to plant bugs
   * @param options for each opening, by the number that the script has for it
   */
  private ScriptRun(UnaryOperator<Storage> disks, IntFunction<StoreOptions> options) {
    this.disks = disks;
    this.options = options;
    for (int i = 0; i < StoreScript.TREES; i++) {
      model.put("t" + i, new TreeMap<>());
    }
    durable = copy(model);
  }

  /** As below, with the options that the script's numbers stand for. */
  static void run(List<String> script, UnaryOperator<Storage> disks) {
    run(script, disks, ScriptOptions::drawn);
  }

  /** Runs a script; what is wrong is thrown, with the line. */
  static void run(
      List<String> script, UnaryOperator<Storage> disks, IntFunction<StoreOptions> options) {
    ScriptRun run = new ScriptRun(disks, options);
    String doing = "opening";
    try {
      run.open(0);
      for (int i = 0; i < script.size(); i++) {
        doing = "line " + (i + 1) + ", " + script.get(i);
        Watchdog.mark(doing);
        run.line(script.get(i).split(" "));
      }
      doing = "closing";
      Watchdog.mark(doing);
      run.reopen(0);
      run.close();
    } catch (RuntimeException | Error e) {
      AssertionError told = new AssertionError(doing + ": " + e, e);
      run.abandon(told);
      throw told;
    }
  }

  /** Gives the memory back, for those who run many scripts that fail. */
  private void abandon(AssertionError why) {
    try {
      if (store != null) {
        store.close();
      }
    } catch (RuntimeException | Error e) {
      why.addSuppressed(e);
    }
  }

  private static Map<String, TreeMap<Integer, Value>> copy(
      Map<String, TreeMap<Integer, Value>> of) {
    Map<String, TreeMap<Integer, Value>> copy = new TreeMap<>();
    of.forEach((tree, keys) -> copy.put(tree, new TreeMap<>(keys)));
    return copy;
  }

  private Store store() {
    return java.util.Objects.requireNonNull(store);
  }

  private static byte[] key(int number) {
    return SimulatedStores.key(number);
  }

  private void open(int number) {
    SplittableRandom random = new SplittableRandom(number);
    scheduler = new SimulatedScheduler(clock, random.nextLong());
    Environment environment =
        new Environment(
            disks.apply(disk), clock, scheduler, new SplittableRandom(random.nextLong()));
    store = Inside.open(environment, options.apply(number));
    for (String tree : model.keySet()) {
      TreeOptions kind =
          TreeOptions.builder()
              .compression(
                  tree.equals("t1") ? Compression.LZ4.last(DeflateCodec.NAME) : Compression.NONE)
              .build();
      store().openTree(tree, kind);
    }
  }

  private void close() {
    Store open = store();
    snapshot = null;
    store = null;
    open.close();
    assertEquals(0, disk.openFiles(), "files left open");
    settled();
  }

  private void settled() {
    durable = copy(model);
    since.clear();
  }

  private void reopen(int number) {
    close();
    open(number);
    assertEquals(texts(model), texts(contents()), "after opening again");
  }

  private void crash(CrashMode mode, int number) {
    // The dead store is left as it is; its memory goes with the simulation.
    SimulatedStorage survivor = disk.crash(new SplittableRandom(number), mode);
    Store dead = store();
    snapshot = null;
    store = null;
    dead.close();
    disk = survivor;
    open(number);
    Map<String, TreeMap<Integer, Value>> expected = durable;
    Map<String, TreeMap<Integer, Value>> found = contents();
    for (List<Change> write : since) {
      if (expected.equals(found)) {
        break;
      }
      apply(expected, write);
    }
    assertEquals(texts(expected), texts(found), "after the crash");
    model = copy(expected);
    settled();
  }

  private static void apply(Map<String, TreeMap<Integer, Value>> to, List<Change> write) {
    for (Change change : write) {
      TreeMap<Integer, Value> keys = to.get(change.tree);
      if (change.value == null) {
        keys.remove(change.key);
      } else {
        keys.put(change.key, change.value);
      }
    }
  }

  private void written(List<Change> write) {
    apply(model, write);
    since.add(write);
  }

  /** What the store holds. */
  private Map<String, TreeMap<Integer, Value>> contents() {
    Map<String, TreeMap<Integer, Value>> contents = new TreeMap<>();
    for (String tree : model.keySet()) {
      contents.put(tree, scan(tree, true));
    }
    return contents;
  }

  private TreeMap<Integer, Value> scan(String tree, boolean forward) {
    TreeMap<Integer, Value> found = new TreeMap<>();
    try (Cursor cursor = store().tree(tree).cursor()) {
      boolean more = forward ? cursor.first() : cursor.last();
      while (more) {
        byte[] value = cursor.value();
        Value seen = new Value(value.length, value.length == 0 ? 0 : value[0] & 0xff);
        assertArrayEquals(seen.bytes(), value, "a mixture of values");
        int key = Integer.parseInt(new String(cursor.key()).substring(3));
        assertEquals(null, found.put(key, seen), "twice in a scan: key " + key);
        more = forward ? cursor.next() : cursor.previous();
      }
    }
    return found;
  }

  /** For messages: short, and without what is the same everywhere. */
  private static String texts(Map<String, TreeMap<Integer, Value>> contents) {
    StringBuilder text = new StringBuilder();
    contents.forEach((tree, keys) -> text.append(tree).append(": ").append(keys).append("; "));
    return text.toString();
  }

  private static Value value(int length, int stamp) {
    return new Value(length, length == 0 ? 0 : stamp & 0xff);
  }

  private void put(String tree, int key, Value value, Durability durability) {
    store().tree(tree).put(key(key), value.bytes(), durability);
    written(List.of(new Change(tree, key, value)));
  }

  private void get(String tree, int key, Map<String, TreeMap<Integer, Value>> from, boolean now) {
    Value expected = from.get(tree).get(key);
    byte[] found =
        now ? store().tree(tree).get(key(key)) : store().tree(tree).get(key(key), snapshot);
    assertArrayEquals(
        expected == null ? null : expected.bytes(), found, "key " + key + " of " + tree);
  }

  private static int number(String word) {
    return Integer.parseInt(word);
  }

  private void line(String[] word) {
    switch (word[0]) {
      case "options" -> reopen(number(word[1]));
      case "crash" -> crash(CrashMode.valueOf(word[1]), number(word[2]));
      case "put", "durable" -> {
        boolean sync = word[0].equals("durable");
        Value value = value(number(word[3]), number(word[4]));
        put(word[1], number(word[2]), value, sync ? Durability.SYNC : Durability.ASYNC);
        if (sync) {
          settled();
        }
      }
      case "delete" -> {
        store().tree(word[1]).delete(key(number(word[2])));
        written(List.of(new Change(word[1], number(word[2]), null)));
      }
      case "burst" -> {
        for (int i = 0; i < number(word[3]); i++) {
          put(word[1], number(word[2]) + i, value(number(word[4]), i), Durability.ASYNC);
        }
      }
      case "batch" -> batch(number(word[1]), number(word[2]), number(word[3]));
      case "get" -> get(word[1], number(word[2]), model, true);
      case "scan" -> assertEquals(model.get(word[1]), scan(word[1], word[2].equals("forward")));
      case "snapshot" -> {
        if (snapshot != null) {
          snapshot.close();
        }
        snapshot = store().snapshot();
        old = copy(model);
      }
      case "old" -> {
        if (snapshot != null) {
          get(word[1], number(word[2]), old, false);
        }
      }
      case "flush" -> store().flush();
      case "quiet" -> store().awaitQuiet();
      case "sync" -> {
        store().sync();
        settled();
      }
      case "checkpoint" -> {
        store().checkpoint();
        settled();
      }
      case "background" -> {
        for (int i = 0; i < number(word[1]) && scheduler.runOne(); i++) {}
      }
      default -> throw new IllegalArgumentException("no such operation: " + word[0]);
    }
  }

  private void batch(int from, int count, int length) {
    WriteBatch batch = store().newBatch();
    List<Change> changes = new ArrayList<>();
    for (String tree : model.keySet()) {
      for (int i = 0; i < count; i++) {
        boolean delete = (from + i) % 5 == 0;
        Value value = delete ? null : value(length, from + i);
        if (value == null) {
          batch.delete(store().tree(tree), key(from + i));
        } else {
          batch.put(store().tree(tree), key(from + i), value.bytes());
        }
        changes.add(new Change(tree, from + i, value));
      }
    }
    store().write(batch);
    written(changes);
  }
}
