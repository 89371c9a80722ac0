package io.isobardb.lsm.typed;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.dataset.IndexCursor;
import java.util.Spliterator;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Streams of what a cursor goes through. */
final class Entries {
  private Entries() {}

  /** What a cursor over a range stands on, in the range's order; {@code current} makes it. */
  static <E> Stream<E> of(Cursor cursor, KeyRange<?> range, Supplier<E> current) {
    return range.isDescending()
        ? stream(cursor::last, cursor::previous, current, cursor)
        : stream(cursor::first, cursor::next, current, cursor);
  }

  /** As {@link #of(Cursor, KeyRange, Supplier)}, for a cursor over an index. */
  static <E> Stream<E> of(IndexCursor cursor, KeyRange<?> range, Supplier<E> current) {
    return range.isDescending()
        ? stream(cursor::last, cursor::previous, current, cursor)
        : stream(cursor::first, cursor::next, current, cursor);
  }

  /**
   * A stream that closes its cursor when it is closed or has come to its end.
   *
   * @param first moves to the first entry, and says whether there is one
   * @param next moves on
   * @param current makes what the stream has of the entry that the cursor stands on
   */
  private static <E> Stream<E> stream(
      BooleanSupplier first, BooleanSupplier next, Supplier<E> current, AutoCloseable cursor) {
    Runnable close =
        () -> {
          try {
            cursor.close();
          } catch (RuntimeException e) {
            throw e;
          } catch (Exception e) {
            throw new IllegalStateException("closing a cursor throws nothing that is checked", e);
          }
        };
    Spliterator<E> entries =
        new AbstractSpliterator<>(
            Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.DISTINCT | Spliterator.NONNULL) {
          private boolean begun;
          private boolean ended;

          @Override
          public boolean tryAdvance(Consumer<? super E> action) {
            if (ended || !(begun ? next : first).getAsBoolean()) {
              end();
              return false;
            }
            begun = true;
            action.accept(current.get());
            return true;
          }

          private void end() {
            if (!ended) {
              ended = true;
              close.run();
            }
          }
        };
    return StreamSupport.stream(entries, false).onClose(close);
  }
}
