package io.isobardb.kafka;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Stores whose cursors count their moves: that is what a search costs. */
final class CountedCursors implements SharedStore.Surroundings {
  private static final List<Class<?>> HANDLES =
      List.of(Store.class, Tree.class, WriteBatch.class, Cursor.class);
  private static final Set<String> MOVES =
      Set.of("first", "last", "seek", "seekBefore", "next", "previous");

  private final AtomicInteger moves = new AtomicInteger();

  @Override
  public Store open(Path directory, StoreOptions options) {
    return (Store) counted(Store.open(directory, options));
  }

  /** How often cursors were moved since this was asked last. */
  int moves() {
    return moves.getAndSet(0);
  }

  /** A handle for one of the store's; others are left as they are. */
  private @Nullable Object counted(@Nullable Object handle) {
    for (Class<?> kind : HANDLES) {
      if (kind.isInstance(handle)) {
        return Proxy.newProxyInstance(
            kind.getClassLoader(), new Class<?>[] {kind}, new Counted(handle));
      }
    }
    return handle;
  }

  private final class Counted implements InvocationHandler {
    private final Object handle;

    Counted(Object handle) {
      this.handle = handle;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
        throws Throwable {
      if (handle instanceof Cursor && MOVES.contains(method.getName())) {
        moves.incrementAndGet();
      }
      Object[] given = arguments == null ? new Object[0] : arguments.clone();
      for (int i = 0; i < given.length; i++) {
        // The store takes its own handles only.
        if (given[i] instanceof Proxy of && Proxy.getInvocationHandler(of) instanceof Counted its) {
          given[i] = its.handle;
        }
      }
      try {
        return counted(method.invoke(handle, given));
      } catch (InvocationTargetException e) {
        throw e.getTargetException();
      }
    }
  }
}
