package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.error.IsobarException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which transactions are writing to a dataset, and which indexes each of them maintains: those that
 * there were with its first write, until it ends.
 *
 * <p>Why {@link #awaitOthers} misses nobody: a transaction is noted before it reads the layout, and
 * the layout is published before the notes are read.
 *
 * <p>Thread rule: all methods may be called by any thread; a transaction's by its own.
 */
final class Writers {
  private static final class Writer {
    final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
    volatile @Nullable Layout layout;
  }

  private final Map<Transaction, Writer> writing = new ConcurrentHashMap<>();
  private volatile Layout current = new Layout(java.util.List.of());

  /** What new writers maintain. */
  Layout current() {
    return current;
  }

  void publish(Layout layout) {
    current = layout;
  }

  /**
   * What a transaction that writes has to maintain. No other thread may use it meanwhile: of two
   * that note it, only one would be waited for.
   *
   * @throws IllegalStateException if it has ended
   */
  Layout layoutOf(Transaction transaction) {
    Writer known = writing.get(transaction);
    Layout pinned = known == null ? null : known.layout;
    if (pinned != null) {
      return pinned;
    }
    Writer writer = new Writer();
    transaction.onEnd(
        () -> {
          writing.remove(transaction);
          writer.end.complete(null);
        });
    writing.put(transaction, writer);
    Layout layout = current;
    writer.layout = layout;
    return layout;
  }

  /**
   * Waits until all transactions have ended that may maintain something else than what is current.
   *
   * @param what is waited for, for messages
   * @throws IllegalStateException if they are still open after {@code timeout}
   */
  void awaitOthers(Duration timeout, String what) {
    Map<Transaction, Writer> others =
        writing.entrySet().stream()
            .filter(entry -> entry.getValue().layout != current)
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    CompletableFuture<?>[] ends =
        others.values().stream().map(writer -> writer.end).toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(ends).get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      String open =
          others.keySet().stream()
              .filter(Transaction::isOpen)
              .map(Transaction::toString)
              .sorted()
              .collect(Collectors.joining(", "));
      throw new IllegalStateException(
          what
              + " has waited "
              + timeout
              + " for transactions that wrote to the dataset before: "
              + open
              + "; end them, and call it again",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IsobarException(what + " was interrupted; call it again", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
