package io.isobardb.lsm.typed;

import java.util.Map;
import java.util.Spliterator;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Streams of entries that a cursor goes through. */
final class Entries {
  private Entries() {}

  /**
   * A stream that closes its cursor when it is closed or has come to its end.
   *
   * @param first moves to the first entry, and says whether there is one
   * @param next moves on
   * @param current the entry the cursor stands on
   */
  static <K, V> Stream<Map.Entry<K, V>> stream(
      BooleanSupplier first,
      BooleanSupplier next,
      Supplier<Map.Entry<K, V>> current,
      AutoCloseable cursor) {
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
    Spliterator<Map.Entry<K, V>> entries =
        new AbstractSpliterator<>(
            Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.DISTINCT | Spliterator.NONNULL) {
          private boolean begun;
          private boolean ended;

          @Override
          public boolean tryAdvance(Consumer<? super Map.Entry<K, V>> action) {
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
