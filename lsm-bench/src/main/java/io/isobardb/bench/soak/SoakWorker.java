package io.isobardb.bench.soak;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One writer with keys of its own in all trees: it alone changes them, and so knows what each read
 * must find.
 *
 * <p>Thread rule: one thread at a time.
 */
final class SoakWorker {
  /** Keys that all workers count up in transactions. */
  static final int COUNTERS = 4;

  static final String COUNTER_TREE = "counters";

  private static final int MAX_HELD = 3;
  private static final int SCAN = 200;

  /**
   * A snapshot, what it must show of one tree, and a cursor that goes through it little by little.
   */
  private record Held(Snapshot snapshot, int tree, long[] versions, Cursor cursor, long until) {}

  private final SoakModel model;
  private final SplittableRandom random;
  private final int trees;
  private final List<Held> held = new ArrayList<>();
  private final long[] counted = new long[COUNTERS];
  private long version;
  private long operations;

  SoakWorker(int number, int trees, int keys, long seed) {
    this.model = new SoakModel(number, trees, keys, seed);
    this.random = new SplittableRandom(seed * 31 + number);
    this.trees = trees;
  }

  static String treeName(int tree) {
    return "tree" + tree;
  }

  long operations() {
    return operations;
  }

  /** How often this worker has counted a counter up. */
  long counted(int counter) {
    return counted[counter];
  }

  private static byte[] counter(int number) {
    return ("counter" + number).getBytes(US_ASCII);
  }

  private static Tree tree(Store store, int tree) {
    return store.tree(treeName(tree));
  }

  /** One operation; throws {@link AssertionError} if something is wrong. */
  void step(Store store) {
    operations++;
    int tree = random.nextInt(trees);
    int key = random.nextInt(model.keys());
    int what = random.nextInt(100);
    if (what < 32) {
      write(store, tree, key);
    } else if (what < 62) {
      verify(tree, key, model.version(tree, key), tree(store, tree).get(model.key(key)));
    } else if (what < 68) {
      batch(store);
    } else if (what < 78) {
      transaction(store);
    } else if (what < 84) {
      scan(store, tree, key);
    } else if (what < 88) {
      scanBack(store, tree, key);
    } else if (what < 92) {
      multiGet(store, tree);
    } else if (what < 93) {
      hold(store, tree);
    } else {
      lookAtHeld();
    }
  }

  private void verify(int tree, int key, long expected, byte @Nullable [] found) {
    String wrong = model.check(tree, key, expected, found);
    if (wrong != null) {
      throw new AssertionError(wrong);
    }
  }

  private void write(Store store, int tree, int key) {
    long next = ++version;
    byte[] value = model.value(tree, key, next);
    Durability durability = random.nextInt(200) == 0 ? Durability.SYNC : Durability.ASYNC;
    if (value == null) {
      tree(store, tree).delete(model.key(key), durability);
    } else {
      tree(store, tree).put(model.key(key), value, durability);
    }
    model.set(tree, key, next);
  }

  private void batch(Store store) {
    WriteBatch batch = store.newBatch();
    int[] touched = new int[1 + random.nextInt(20)];
    long next = ++version;
    for (int i = 0; i < touched.length; i++) {
      touched[i] = random.nextInt(trees) * model.keys() + random.nextInt(model.keys());
      int tree = touched[i] / model.keys();
      int key = touched[i] % model.keys();
      byte[] value = model.value(tree, key, next);
      if (value == null) {
        batch.delete(tree(store, tree), model.key(key));
      } else {
        batch.put(tree(store, tree), model.key(key), value);
      }
    }
    store.write(batch);
    for (int touch : touched) {
      model.set(touch / model.keys(), touch % model.keys(), next);
    }
  }

  private void transaction(Store store) {
    TransactionOptions options =
        TransactionOptions.builder()
            .isolation(Isolation.values()[random.nextInt(3)])
            .locking(Locking.values()[random.nextInt(2)])
            .lockTimeout(Duration.ofSeconds(20))
            .maxAttempts(100_000)
            .retryTimeout(Duration.ofHours(1))
            .build();
    int number = random.nextInt(COUNTERS);
    int[] touched = new int[1 + random.nextInt(4)];
    for (int i = 0; i < touched.length; i++) {
      touched[i] = random.nextInt(trees) * model.keys() + random.nextInt(model.keys());
    }
    boolean giveUp = random.nextInt(10) == 0;
    long next = ++version;
    boolean done =
        store.inTransaction(options, tx -> change(store, tx, number, touched, next, giveUp));
    if (done) {
      counted[number]++;
      for (int touch : touched) {
        model.set(touch / model.keys(), touch % model.keys(), next);
      }
    }
  }

  private boolean change(
      Store store, Transaction tx, int number, int[] touched, long next, boolean giveUp) {
    Tree counters = store.tree(COUNTER_TREE);
    byte[] before = tx.getForUpdate(counters, counter(number));
    long count = before == null ? 0 : ByteBuffer.wrap(before).getLong();
    tx.put(counters, counter(number), ByteBuffer.allocate(8).putLong(count + 1).array());
    for (int touch : touched) {
      int tree = touch / model.keys();
      int key = touch % model.keys();
      byte[] seen = tx.get(tree(store, tree), model.key(key));
      byte[] value = model.value(tree, key, next);
      if (!Arrays.equals(seen, value)) {
        verify(tree, key, model.version(tree, key), seen);
      }
      if (value == null) {
        tx.delete(tree(store, tree), model.key(key));
      } else {
        tx.put(tree(store, tree), model.key(key), value);
      }
    }
    if (giveUp) {
      tx.rollback();
    }
    return !giveUp;
  }

  private void scan(Store store, int tree, int from) {
    CursorOptions options = CursorOptions.all().from(model.key(from)).to(model.end());
    int to = Math.min(model.keys(), from + SCAN);
    try (Cursor cursor = tree(store, tree).cursor(options)) {
      boolean more = cursor.first();
      for (int key = from; key < to; key++) {
        if (more && Arrays.equals(cursor.key(), model.key(key))) {
          verify(tree, key, model.version(tree, key), cursor.value());
          more = cursor.next();
        } else {
          verify(tree, key, model.version(tree, key), null);
        }
      }
    }
  }

  private void scanBack(Store store, int tree, int from) {
    CursorOptions options = CursorOptions.all().from(model.key(0)).to(model.end());
    try (Cursor cursor = tree(store, tree).cursor(options)) {
      boolean more = cursor.seekBefore(model.key(from));
      for (int key = from - 1; key >= Math.max(0, from - SCAN); key--) {
        if (more && Arrays.equals(cursor.key(), model.key(key))) {
          verify(tree, key, model.version(tree, key), cursor.value());
          more = cursor.previous();
        } else {
          verify(tree, key, model.version(tree, key), null);
        }
      }
    }
  }

  private void multiGet(Store store, int tree) {
    List<Integer> numbers = random.ints(30, 0, model.keys()).boxed().toList();
    List<byte @Nullable []> values =
        tree(store, tree).multiGet(numbers.stream().map(model::key).toList());
    for (int i = 0; i < numbers.size(); i++) {
      int key = numbers.get(i);
      verify(tree, key, model.version(tree, key), values.get(i));
    }
  }

  private void hold(Store store, int tree) {
    if (held.size() < MAX_HELD) {
      Snapshot snapshot = store.snapshot();
      CursorOptions options =
          CursorOptions.all().from(model.key(0)).to(model.end()).snapshot(snapshot);
      Cursor cursor = tree(store, tree).cursor(options);
      cursor.first();
      long until = operations + random.nextInt(20_000);
      held.add(new Held(snapshot, tree, model.copy(tree), cursor, until));
    }
  }

  private void lookAtHeld() {
    if (held.isEmpty()) {
      return;
    }
    Held one = held.get(random.nextInt(held.size()));
    for (int i = 0; i < 20 && one.cursor.isValid(); i++) {
      int key = Integer.parseInt(new String(one.cursor.key(), US_ASCII).substring(5));
      verify(one.tree, key, one.versions[key], one.cursor.value());
      one.cursor.next();
    }
    if (operations > one.until) {
      one.cursor.close();
      one.snapshot.close();
      held.remove(one);
    }
  }

  /** Gives up what it holds of an open store. */
  void release() {
    for (Held one : held) {
      one.cursor.close();
      one.snapshot.close();
    }
    held.clear();
  }

  /** Looks at all its keys, by cursor and one by one. */
  void verifyAll(Store store) {
    for (int tree = 0; tree < trees; tree++) {
      for (int from = 0; from < model.keys(); from += SCAN) {
        scan(store, tree, from);
      }
      for (int key = 0; key < model.keys(); key += 7) {
        verify(tree, key, model.version(tree, key), tree(store, tree).get(model.key(key)));
      }
    }
  }

  /** What a counter holds. */
  static long read(Store store, int number) {
    byte[] value = store.tree(COUNTER_TREE).get(counter(number));
    return value == null ? 0 : ByteBuffer.wrap(value).getLong();
  }
}
