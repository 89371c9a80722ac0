package io.isobardb.lsm.read;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.SimulatedStores;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.OwnWrites;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A cursor whose sources fail now and then, at any of their moves: it tells what is there all the
 * same, once it is moved again.
 */
class FailedMovesTest {
  private static final Set<String> MOVES =
      Set.of(
          "first",
          "last",
          "seek",
          "seekBefore",
          "next",
          "nextKey",
          "previous",
          "approach",
          "passForward",
          "passBackward");

  private static final int KEYS = 60;
  private static final int STEPS = 1000;

  private final FailingSources sources = new FailingSources(MOVES);

  private static String key(int i) {
    return String.format("k%03d", i);
  }

  private static void write(Store store, Tree tree, boolean merges, SplittableRandom random) {
    for (int i = 0; i < 600; i++) {
      byte[] key = bytes(key(random.nextInt(KEYS)));
      byte[] value = bytes("/" + i);
      int what = random.nextInt(100);
      if (what < 20) {
        tree.delete(key);
      } else if (what < 22) {
        int from = random.nextInt(KEYS);
        tree.deleteRange(bytes(key(from)), bytes(key(from + random.nextInt(1, 12))));
      } else if (what < 24) {
        store.flush();
      } else if (merges && what < 80) {
        tree.merge(key, value);
      } else {
        tree.put(key, value);
      }
    }
  }

  /** What a transaction is about to write; about every third run has none. */
  private static @Nullable OwnWrites own(boolean merges, SplittableRandom random) {
    if (random.nextInt(3) == 0) {
      return null;
    }
    OwnWrites own = new OwnWrites(KeyOrder.BYTES);
    for (int i = 0; i < KEYS / 3; i++) {
      byte[] value = bytes("+" + i);
      int what = random.nextInt(3);
      OwnWrites.Write write = OwnWrites.Write.DELETE;
      if (what == 1) {
        write = new OwnWrites.Write(Kind.PUT, value, Expiry.NEVER);
      } else if (what == 2 && merges) {
        write = new OwnWrites.Write(Kind.MERGE, Operands.of(value), Expiry.NEVER);
      }
      own.put(bytes(key(random.nextInt(KEYS))), write);
    }
    return own;
  }

  private static String key(TreeCursor cursor) {
    return new String(cursor.key(), 0, cursor.keyLength());
  }

  private static String value(TreeCursor cursor) {
    byte[] value = new byte[cursor.valueLength()];
    cursor.copyValue(value);
    return new String(value);
  }

  @ParameterizedTest
  @CsvSource({"1,true", "2,true", "3,true", "4,true", "5,false", "6,false", "7,false"})
  void itTellsWhatIsThere(long seed, boolean merges) {
    SplittableRandom random = new SplittableRandom(seed);
    Store store = new SimulatedWorld(seed).open(SimulatedStores.SMALL);
    TreeOptions.Builder options = TreeOptions.builder();
    Tree tree =
        store.openTree(
            "t", (merges ? options.mergeOperator(MergeOperator.APPEND) : options).build());
    write(store, tree, merges, random);
    Engine engine = Inside.of(store).engine();
    TreeHandle handle = engine.catalog().trees().iterator().next();
    long lsn = engine.snapshots().register();
    OwnWrites own = own(merges, random);
    TreeMap<String, String> expected = new TreeMap<>();
    try (TreeCursor all = sources.cursor(engine, handle, lsn, own)) {
      for (boolean more = all.first(); more; more = all.next()) {
        expected.put(key(all), value(all));
      }
    }
    write(store, tree, merges, random);
    int failures = 0;
    try (TreeCursor cursor = sources.cursor(engine, handle, lsn, own)) {
      String at = null;
      for (int step = 0; step < STEPS; step++) {
        int what = random.nextInt(at == null ? 4 : 14);
        String key = key(random.nextInt(KEYS));
        String to =
            switch (what) {
              case 0 -> expected.firstKey();
              case 1 -> expected.lastKey();
              case 2 -> expected.ceilingKey(key);
              case 3 -> expected.lowerKey(key);
              default -> what % 2 == 0 ? expected.higherKey(at) : expected.lowerKey(at);
            };
        if (random.nextInt(8) == 0) {
          cursor.letGo(true);
        }
        if (random.nextInt(200) == 0) {
          write(store, tree, merges, random);
        }
        boolean waits = random.nextBoolean();
        sources.failure =
            () ->
                waits
                    ? new OutOfBudgetException("no page")
                    : new UncheckedIOException(new IOException("a page that can't be read"));
        sources.left = random.nextInt(4) == 0 ? random.nextInt(12) : -1;
        try {
          boolean on =
              switch (what) {
                case 0 -> cursor.first();
                case 1 -> cursor.last();
                case 2 -> cursor.seek(bytes(key), 0, key.length());
                case 3 -> cursor.seekBefore(bytes(key), 0, key.length());
                default -> what % 2 == 0 ? cursor.next() : cursor.previous();
              };
          at = on ? key(cursor) : null;
          assertEquals(to, at, "step " + step);
          if (on) {
            assertEquals(expected.get(at), value(cursor), "step " + step);
          }
        } catch (UncheckedIOException e) {
          failures++;
          at = cursor.valid() ? at : null;
        }
        sources.left = -1;
        cursor.endTurn();
      }
    } finally {
      engine.snapshots().release(lsn);
    }
    assertTrue(failures > 20, "only " + failures + " failures");
    store.close();
  }
}
