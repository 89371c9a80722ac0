package io.isobardb.lsm;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Closing a store goes on after an error at any step of closing, and the directory is unlocked
 * then.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseErrorsTest {
  private static final List<Class<?>> SEAMS =
      List.of(Storage.class, DataFile.class, Scheduler.class, Signal.class, Service.Handle.class);

  private static final List<Supplier<Throwable>> ERRORS =
      List.of(
          () -> new StackOverflowError("planted"),
          () -> new OutOfMemoryError("planted"),
          () -> new IllegalStateException("planted"),
          () -> new AssertionError("planted"));

  private static final int MOST_CALLS = 3;

  @TempDir Path temp;

  /** Throws at one of the calls to disk and scheduler that one thread makes. */
  private static final class Planted {
    private final Thread thread = Thread.currentThread();
    private final Throwable error;
    private long left = Long.MAX_VALUE;

    Planted(Throwable error) {
      this.error = error;
    }

    void call(Method method) throws Throwable {
      if (Thread.currentThread() == thread && --left == 0) {
        throw error;
      }
    }

    Object wrap(Class<?> seam, Object target) {
      return Proxy.newProxyInstance(
          seam.getClassLoader(),
          new Class<?>[] {seam},
          (proxy, method, arguments) -> pass(method, target, arguments));
    }

    private @Nullable Object pass(Method method, Object target, Object @Nullable [] arguments)
        throws Throwable {
      call(method);
      Object result;
      try {
        result = method.invoke(target, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
      Class<?> type = method.getReturnType();
      return result != null && SEAMS.contains(type) ? wrap(type, result) : result;
    }

    boolean happened() {
      return left <= 0;
    }
  }

  @Test
  void closeGoesOnAfterAnErrorAtAnyCall() throws IOException {
    boolean happened = true;
    for (int call = 1; happened; call++) {
      Planted planted = new Planted(ERRORS.get(call % ERRORS.size()).get());
      Path directory = temp.resolve("store-" + call);
      Environment environment =
          new Environment(
              (Storage) planted.wrap(Storage.class, DirectoryStorage.open(directory, true)),
              Clock.SYSTEM,
              (Scheduler) planted.wrap(Scheduler.class, new ThreadScheduler("planted", 1)),
              new SplittableRandom(call));
      Store store = Inside.open(environment, SimulatedStores.SMALL);
      Tree tree = store.openTree("logged");
      Tree unlogged = store.openTree("unlogged", TreeOptions.builder().logged(false).build());
      tree.put(key(1), value(1, 10));
      unlogged.put(key(2), value(2, 10));
      Cursor cursor = tree.cursor();
      assertTrue(cursor.first());
      planted.left = call;
      boolean toldOfLoss = closeUntilDone(store);
      happened = planted.happened();
      try (Store again = Store.open(directory, SimulatedStores.SMALL)) {
        assertArrayEquals(value(1, 10), again.tree("logged").get(key(1)), "call " + call);
        // A failed write or sync of log or manifest is final, and the last checkpoint needs both.
        if (!toldOfLoss) {
          assertArrayEquals(value(2, 10), again.tree("unlogged").get(key(2)), "call " + call);
        }
      }
    }
  }

  /** Whether a call told that unlogged trees were not saved. */
  private static boolean closeUntilDone(Store store) {
    Throwable last = null;
    boolean toldOfLoss = false;
    for (int calls = 0; calls < MOST_CALLS; calls++) {
      last = null;
      try {
        store.close();
        break;
      } catch (RuntimeException | Error e) {
        last = e;
        toldOfLoss |= String.valueOf(e.getMessage()).contains("without a last checkpoint");
      }
    }
    assertNull(last, "close() throws again and again");
    return toldOfLoss;
  }

  @Test
  void closeGoesOnAfterTheStackHasOverflowed() throws Exception {
    // A class whose initializer meets the end of the stack can't be used any more, be it the JDK's.
    try (Store first = Store.open(temp.resolve("first"), SimulatedStores.SMALL)) {
      first.openTree("t").put(key(1), value(1, 10));
    }
    Path directory = temp.resolve("deep");
    Store store = Store.open(directory, SimulatedStores.SMALL);
    store.openTree("t").put(key(1), value(1, 10));
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread thread = new Thread(null, () -> failure.set(closeAtTheEndOf(store)), "deep", 256 << 10);
    thread.start();
    thread.join();
    closeUntilDone(store);
    try (Store again = Store.open(directory, SimulatedStores.SMALL)) {
      assertArrayEquals(value(1, 10), again.tree("t").get(key(1)));
    }
    assertNotNull(failure.get());
  }

  /** Calls itself until the stack overflows, and closes the store on the way back. */
  private static @Nullable Throwable closeAtTheEndOf(Store store) {
    Throwable failure;
    try {
      failure = closeAtTheEndOf(store);
    } catch (StackOverflowError e) {
      failure = e;
    }
    try {
      store.close();
      return failure;
    } catch (RuntimeException | StackOverflowError e) {
      return e;
    }
  }
}
