package io.isobardb.lsm.schedule;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * User code that calls {@code System.exit}: the thread stands there until the process ends. Here it
 * stands for ever, and the store is told that the JVM ends.
 */
@Tag("any-jdk")
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExitInUserCodeTest {
  private static final int PUTS = 50;

  @TempDir Path temp;

  /** Once a place is chosen, the first threads that come by there never go on. */
  private static final class Trap {
    private final AtomicReference<@Nullable Thread> caught = new AtomicReference<>();
    private final Set<Thread> all = ConcurrentHashMap.newKeySet();
    private final AtomicInteger room = new AtomicInteger(1);
    private volatile String where = "";

    void pass(String here) {
      if (here.equals(where) && room.getAndDecrement() > 0) {
        all.add(Thread.currentThread());
        caught.compareAndSet(null, Thread.currentThread());
        while (true) {
          LockSupport.park(this);
        }
      }
    }

    boolean holds(Thread thread) {
      return all.contains(thread);
    }

    /** Has {@code action} run by a thread, and waits for the thread that is caught by it. */
    Thread caught(String place, Runnable action) {
      where = place;
      Thread thread = new Thread(action, "test-caught");
      thread.setDaemon(true);
      thread.start();
      Thread found = caught.get();
      while (found == null) {
        Thread.onSpinWait();
        found = caught.get();
      }
      return found;
    }
  }

  /** A store whose user code is a trap. */
  private static final class Site {
    final Trap trap = new Trap();
    final Path directory;
    final Store store;
    final Tree logged;
    final Tree plain;
    final Tree merged;
    final Tree ordered;

    private final MergeOperator operator =
        new MergeOperator() {
          @Override
          public String name() {
            return "trap";
          }

          @Override
          public byte[] merge(byte[] key, byte @Nullable [] base, List<byte[]> operands) {
            trap.pass("operator");
            return MergeOperator.APPEND.merge(key, base, operands);
          }

          @Override
          public byte @Nullable [] combine(byte[] older, byte[] newer) {
            trap.pass("operator");
            return MergeOperator.APPEND.combine(older, newer);
          }
        };

    private final KeyOrder order =
        new KeyOrder() {
          @Override
          public String name() {
            return "trap";
          }

          @Override
          public int compare(byte[] a, int aFrom, int aLength, byte[] b, int bFrom, int bLength) {
            // A key is compared with itself before its write begins.
            if (a != b) {
              trap.pass("order");
            }
            return KeyOrder.BYTES.compare(a, aFrom, aLength, b, bFrom, bLength);
          }
        };

    Site(Path directory) {
      this.directory = directory;
      store = open(directory);
      logged = store.openTree("logged");
      plain = store.openTree("plain", TreeOptions.builder().logged(false).build());
      merged =
          store.openTree(
              "merged", TreeOptions.builder().logged(false).mergeOperator(operator).build());
      ordered = store.openTree("ordered", TreeOptions.builder().keyOrder(order).build());
      for (int i = 0; i < PUTS; i++) {
        plain.put(key(i), bytes("value"));
        // A single one, which nobody folds before it is read or flushed.
        merged.merge(key(i), bytes("ab"));
        ordered.put(key(i), bytes("value"));
      }
    }

    private Store open(Path where) {
      return Store.open(
          where,
          StoreOptions.builder()
              .memoryBudget(8 << 20)
              .backgroundThreads(1)
              .keyOrder(order)
              .mergeOperator(operator)
              .build());
    }

    void endJvm() {
      ExitHook.Closer closer = closer();
      try {
        closer.goOnWithout(trap::holds);
        closer.closeAtExit();
      } finally {
        // The end of the tests has nothing to close any more.
        ExitHook.ofJvm().remove(closer);
      }
    }

    /** Syncs by the thread that is to be caught. */
    private void trapSyncs() {
      store.addListener(
          new StoreListener() {
            @Override
            public void onSynced(Sync sync) {
              if (Thread.currentThread().getName().equals("test-caught")) {
                trap.pass("listener");
              }
            }
          });
    }

    private ExitHook.Closer closer() {
      return ExitHook.ofJvm().closers().stream()
          .filter(closer -> closer.name().equals(directory.toString()))
          .findFirst()
          .orElseThrow();
    }

    /** What a process finds that opens the store after this one has ended. */
    void checkSaved() {
      Path copy = directory.resolveSibling(directory.getFileName() + "-copy");
      try (Stream<Path> files = Files.list(directory)) {
        Files.createDirectory(copy);
        for (Path file : files.toList()) {
          if (!file.endsWith("LOCK")) {
            Files.copy(file, copy.resolve(file.getFileName()));
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      checkAll(copy);
    }

    void checkAll(Path where) {
      try (Store found = open(where)) {
        for (int i = 0; i < PUTS; i++) {
          assertArrayEquals(bytes("value"), found.tree("plain").get(key(i)));
          assertArrayEquals(bytes("ab"), found.tree("merged").get(key(i)));
          assertArrayEquals(bytes("value"), found.tree("ordered").get(key(i)));
        }
      }
    }
  }

  /** Work of the store's threads, or of a user outside of the store's calls. */
  private enum Apart {
    FLUSH_LISTENER("listener"),
    OPERATOR_IN_A_FLUSH("operator"),
    LOG_LISTENER("listener"),
    BODY("body"),
    CLOSE("listener"),
    ORDER_IN_A_FLUSH("order");

    final String place;

    Apart(String place) {
      this.place = place;
    }

    Runnable work(Site site) {
      return switch (this) {
        case FLUSH_LISTENER -> {
          site.store.addListener(
              new StoreListener() {
                @Override
                public void onFlushed(Flush flush) {
                  site.trap.pass("listener");
                }
              });
          yield site.store::flush;
        }
        case OPERATOR_IN_A_FLUSH, ORDER_IN_A_FLUSH -> site.store::flush;
        case CLOSE -> {
          site.trapSyncs();
          yield () -> {
            site.logged.put(key(1), bytes("value"));
            site.store.close();
          };
        }
        case LOG_LISTENER -> {
          site.store.addListener(
              new StoreListener() {
                @Override
                public void onSynced(Sync sync) {
                  if (Thread.currentThread().getName().endsWith("-log")) {
                    site.trap.pass("listener");
                  }
                }
              });
          yield () -> {};
        }
        case BODY ->
            () ->
                site.store.runInTransaction(
                    transaction -> {
                      transaction.put(site.ordered, key(PUTS), bytes("never"));
                      site.trap.pass("body");
                    });
      };
    }
  }

  @ParameterizedTest
  @EnumSource(Apart.class)
  void aThreadThatCallsExitDoesNotKeepTheStoreOpen(Apart where) {
    Site site = new Site(temp.resolve("store"));
    site.trap.caught(where.place, where.work(site));
    site.endJvm();
    site.checkAll(site.directory);
  }

  /** Calls of a user that never end. */
  private enum Inside {
    READ("operator"),
    CURSOR("operator"),
    SYNC_LISTENER("listener"),
    CHECKPOINT("listener");

    final String place;

    Inside(String place) {
      this.place = place;
    }

    Runnable work(Site site) {
      return switch (this) {
        case READ -> () -> site.merged.get(key(1));
        case CURSOR ->
            () -> {
              Cursor cursor = site.merged.cursor();
              cursor.first();
            };
        case SYNC_LISTENER -> {
          site.trapSyncs();
          yield () -> site.logged.put(key(1), bytes("value"), Durability.SYNC);
        }
        case CHECKPOINT -> {
          site.trapSyncs();
          yield () -> {
            site.logged.put(key(1), bytes("value"));
            site.store.checkpoint();
          };
        }
      };
    }
  }

  @Test
  void unloggedTreesAreSavedBesideACallThatNeverEnds() {
    atOnce(
        where -> {
          Site site = new Site(temp.resolve(where.name()));
          site.trap.caught(where.place, where.work(site));
          site.endJvm();
          site.checkSaved();
        });
  }

  /** All at once, since each waits for the call for a while. */
  private static void atOnce(Consumer<Inside> check) {
    Stream.of(Inside.values())
        .map(
            where ->
                CompletableFuture.runAsync(
                    () -> check.accept(where), task -> new Thread(task).start()))
        .toList()
        .forEach(CompletableFuture::join);
  }

  /** Each thread that takes the place of one that is gone exits, too. */
  @Test
  void anyNumberOfThreadsMayExit() {
    Site site = new Site(temp.resolve("store"));
    site.store.addListener(
        new StoreListener() {
          @Override
          public void onFlushed(Flush flush) {
            site.trap.pass("listener");
          }
        });
    site.trap.room.set(3);
    Thread first = site.trap.caught("listener", site.store::flush);
    ExitHook hook = new ExitHook(TimeUnit.HOURS.toNanos(1), site.trap::holds);
    ExitHook.Closer closer = site.closer();
    hook.add(closer);
    try {
      hook.closeAll(first);
    } finally {
      hook.remove(closer);
      ExitHook.ofJvm().remove(closer);
    }
    assertEquals(3, site.trap.all.size());
    site.checkAll(site.directory);
  }

  @Test
  void unloggedTreesAreSavedWhileCloseWaitsForACallThatNeverEnds() {
    Site site = new Site(temp.resolve("store"));
    site.trap.caught("operator", () -> site.merged.get(key(1)));
    Thread closing = new Thread(site.store::close, "test-closing");
    closing.setDaemon(true);
    closing.start();
    while (closing.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    site.endJvm();
    site.checkSaved();
  }

  @Test
  void aWriteThatNeverEndsKeepsUnloggedTreesFromBeingSavedWhichIsTold() {
    Site site = new Site(temp.resolve("store"));
    site.trap.caught("order", () -> site.ordered.put(key(1), bytes("other")));
    IsobarException told = assertThrows(IsobarException.class, site::endJvm);
    assertTrue(told.getMessage().contains("[plain, merged]"), told.getMessage());
  }
}
