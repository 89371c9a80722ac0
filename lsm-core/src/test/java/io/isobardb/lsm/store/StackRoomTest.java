package io.isobardb.lsm.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.option.MergeOperator;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Calls made where the stack is nearly used up do all they should, or nothing. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StackRoomTest {
  private static final int KEYS = 500;

  /** How often a call is made where there is room again. */
  private static final int DONE = 10;

  private static final int STACK_BYTES = 400_000;

  @TempDir Path directory;

  private Store store;
  private Tree tree;
  private Tree sums;

  private final Random random = new Random(8);
  private final Map<String, String> expected = new TreeMap<>();

  /** What calls that failed would have written, by key. */
  private final Map<String, Set<String>> unsure = new TreeMap<>();

  private long sum;
  private long unsureSum;
  private int number;
  private int refused;

  /** A call of a user; it changes what is expected only if it returns. */
  private interface Call {
    void run();
  }

  @BeforeEach
  void open() {
    store = Store.open(directory, StoreOptions.builder().memoryBudget(8 << 20).build());
    tree = store.openTree("tree");
    sums =
        store.openTree("sums", TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build());
    for (int i = 0; i < KEYS; i++) {
      put();
    }
  }

  @AfterEach
  void close() {
    store.close(); // which fails if a page is missing
  }

  @Test
  void anyCallAtTheEndOfTheStackIsDoneOrDoesNothing() throws InterruptedException {
    // A class that is loaded there for the first time can't be used any more, whatever it is.
    calls().forEach(Call::run);
    for (Call call : calls()) {
      for (int round = 0; round < 2; round++) {
        refused = 0;
        atTheEndOfTheStack(call);
        assertTrue(refused > 0, "no call was refused");
        verify();
      }
    }
    store.close();
    store = Store.open(directory);
    tree = store.tree("tree");
    sums = store.tree("sums");
    verify();
  }

  @Test
  void interpretedAndCompiledCodeLookForRoom() throws InterruptedException {
    for (int warm : new int[] {0, 100_000}) {
      for (int i = 0; i < warm; i++) {
        StackRoom.check();
      }
      refused = 0;
      atTheEndOfTheStack(StackRoom::check);
      // No frame of this test takes more than a few hundred bytes.
      assertTrue(refused > StackRoom.BYTES / 1000, refused + " frames without room");
    }
  }

  @Test
  void whatIsOpenedNearTheEndCanBeClosedThere() throws InterruptedException {
    store.begin().close();
    atTheEndOfTheStack(
        () -> {
          try (Cursor cursor = tree.cursor();
              Snapshot snapshot = store.snapshot();
              Transaction transaction = store.begin()) {
            transaction.getForUpdate(tree, key(random.nextInt(KEYS)));
            tree.get(key(1), snapshot);
            cursor.first();
          }
        });
    assertEquals(List.of(), ((OpenStore) store).openHandles());
    verify();
  }

  private List<Call> calls() {
    List<Call> calls = new ArrayList<>();
    calls.add(this::put);
    calls.add(() -> write(value -> tree.put(value.key(), value.bytes(), Durability.SYNC), 10));
    calls.add(() -> write(value -> tree.put(value.key(), value.bytes()), 20_000));
    calls.add(() -> write(value -> tree.putIfAbsent(value.key(), value.bytes()), 0));
    calls.add(
        () ->
            write(
                value -> {
                  WriteBatch batch = store.newBatch();
                  store.write(
                      batch.delete(tree, value.key()).put(tree, value.key(), value.bytes()));
                },
                100));
    calls.add(
        () ->
            write(
                value -> {
                  try (Transaction transaction = store.begin()) {
                    transaction.getForUpdate(tree, value.key());
                    transaction.put(tree, value.key(), value.bytes());
                    transaction.commit();
                  }
                },
                100));
    calls.add(
        () ->
            write(
                value -> {
                  try (BulkLoad load = store.bulkLoad(tree)) {
                    load.add(tree, value.key(), value.bytes());
                    load.commit();
                  }
                },
                100));
    calls.add(this::add);
    calls.add(() -> assertTrue(tree.contains(key(random.nextInt(KEYS)))));
    calls.add(() -> tree.multiGet(List.of(key(1), key(random.nextInt(KEYS)))));
    calls.add(this::scan);
    calls.add(
        () -> {
          Tree other = store.openTree("other" + random.nextInt(3));
          other.put(key(0), key(1));
          other.deleteRange(null, null);
          store.dropTree(other.name());
        });
    calls.add(store::flush);
    calls.add(store::checkpoint);
    return calls;
  }

  private record Value(String name, String value) {
    byte[] key() {
      return name.getBytes(UTF_8);
    }

    byte[] bytes() {
      return value.getBytes(UTF_8);
    }
  }

  private interface Writing {
    void write(Value value);
  }

  private void put() {
    write(value -> tree.put(value.key(), value.bytes()), 100);
  }

  /**
   * Writes a key.
   *
   * @param length of its value; 0 if nothing changes, since the key is there
   */
  private void write(Writing writing, int length) {
    String key = expected.size() < KEYS ? name(expected.size()) : name(random.nextInt(KEYS));
    String value = "value " + number++ + " " + "x".repeat(random.nextInt(length + 1));
    if (length > 0) {
      unsure.computeIfAbsent(key, of -> new HashSet<>()).add(value);
    }
    writing.write(new Value(key, value));
    if (length > 0) {
      expected.put(key, value);
      unsure.remove(key);
    }
  }

  private void add() {
    unsureSum++;
    sums.merge(key(0), ByteBuffer.allocate(Long.BYTES).putLong(1).array());
    unsureSum--;
    sum++;
  }

  private void scan() {
    try (Snapshot snapshot = store.snapshot();
        Cursor cursor = tree.cursor()) {
      tree.get(key(2), snapshot);
      cursor.seek(key(random.nextInt(KEYS)));
      cursor.forEach(20, (key, value) -> true);
      cursor.seek(key(random.nextInt(KEYS - 20)));
      for (int i = 0; i < 20; i++) {
        cursor.next();
      }
      cursor.last();
      cursor.previous();
    }
  }

  /**
   * Runs a call at each of the last frames that a thread's stack has room for, up to where there is
   * room for the call, too.
   */
  private void atTheEndOfTheStack(Call call) throws InterruptedException {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              int[] left = new int[1];
              try {
                descend(call, left, failure);
              } catch (StackOverflowError e) {
                // The first frames, where a call is refused, are the last ones to come back to.
                refused++;
              }
            },
            "deep",
            STACK_BYTES + random.nextInt(1000) * 16);
    thread.start();
    thread.join();
    Throwable failed = failure.get();
    if (failed != null) {
      throw new AssertionError("a call failed", failed);
    }
  }

  private void descend(Call call, int[] left, AtomicReference<@Nullable Throwable> failure) {
    try {
      descend(call, left, failure);
    } catch (StackOverflowError e) {
      left[0] = DONE;
    }
    if (left[0] > 0) {
      try {
        call.run();
        left[0]--;
      } catch (StackOverflowError e) {
        refused++;
      } catch (StoreFailedException | IllegalStateException | IllegalArgumentException e) {
        failure.compareAndSet(null, e);
        left[0] = 0;
      }
    }
  }

  /** Another thread finds all that was written, and can write. */
  private void verify() {
    put();
    Map<String, String> found = new TreeMap<>();
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        found.put(new String(cursor.key(), UTF_8), new String(cursor.value(), UTF_8));
      }
    }
    assertEquals(expected.keySet(), found.keySet());
    found.forEach(
        (key, value) -> {
          byte[] got = tree.get(key.getBytes(UTF_8));
          assertEquals(value, got == null ? null : new String(got, UTF_8), key);
          if (!unsure.getOrDefault(key, Set.of()).contains(value)) {
            assertEquals(expected.get(key), value, key);
          }
          expected.put(key, value);
        });
    unsure.clear();
    byte[] total = sums.get(key(0));
    long there = total == null ? 0 : ByteBuffer.wrap(total).getLong();
    assertTrue(there >= sum && there <= sum + unsureSum, there + " of " + sum);
    sum = there;
    unsureSum = 0;
  }

  private static String name(int number) {
    return String.format("key%03d", number);
  }

  private static byte[] key(int number) {
    return name(number).getBytes(UTF_8);
  }
}
