package io.isobardb.lsm.read;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sources of cursors, of which one move fails. */
final class FailingSources {
  private final Set<String> moves;

  /** How many moves do not fail before one does; fewer than 0 once it has, or if none is to. */
  int left = -1;

  Supplier<RuntimeException> failure = () -> new OutOfBudgetException("no page");

  /**
   * @param moves the methods that count
   */
  FailingSources(Set<String> moves) {
    this.moves = moves;
  }

  /** A cursor over a tree that has such sources. */
  TreeCursor cursor(Engine engine, TreeHandle tree, long lsn) {
    return cursor(engine, tree, lsn, null);
  }

  /**
   * The same of a transaction.
   *
   * @param overlay what goes before the tree's own entries, or null
   */
  TreeCursor cursor(Engine engine, TreeHandle tree, long lsn, @Nullable Overlay overlay) {
    return new TreeCursor(
        tree,
        table -> failing(engine.queryCursor(table)),
        new ReentrantLock(),
        overlay,
        engine.snapshots().moment(lsn),
        new Bounds(null, null));
  }

  private EntryCursor failing(EntryCursor cursor) {
    return (EntryCursor)
        Proxy.newProxyInstance(
            EntryCursor.class.getClassLoader(),
            new Class<?>[] {EntryCursor.class},
            (proxy, method, arguments) -> {
              if (moves.contains(method.getName()) && left >= 0 && left-- == 0) {
                throw failure.get();
              }
              try {
                return method.invoke(cursor, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
