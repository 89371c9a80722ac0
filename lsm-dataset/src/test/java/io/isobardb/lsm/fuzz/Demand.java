package io.isobardb.lsm.fuzz;

import io.isobardb.lsm.dataset.DuplicateKeyException;
import io.isobardb.lsm.dataset.ExtractorException;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.error.WriteStalledException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What may come of one call of the public API. It is gathered before the call, and held against
 * what the call does.
 *
 * <p>If several reasons to refuse a call hold at once, any of their exceptions will do.
 */
public final class Demand {
  /** The exceptions that the API documents, as far as no disk fails. */
  public enum Refusal {
    NULL(NullPointerException.class),
    ARGUMENT(IllegalArgumentException.class),
    STATE(IllegalStateException.class),
    CLOSED(StoreClosedException.class),
    DROPPED(TreeDroppedException.class),
    ABORTED(TransactionAbortedException.class),
    STALLED(WriteStalledException.class),
    OWN(SelfDeadlockException.class),
    EXTRACTOR(ExtractorException.class),
    DUPLICATE(DuplicateKeyException.class);

    final Class<? extends RuntimeException> type;

    Refusal(Class<? extends RuntimeException> type) {
      this.type = type;
    }

    static Refusal of(Throwable thrown) {
      // It is of a closed store, too: the narrower one counts.
      if (DROPPED.type.isInstance(thrown)) {
        return DROPPED;
      }
      for (Refusal each : values()) {
        if (each.type.isInstance(thrown)) {
          return each;
        }
      }
      throw new AssertionError("not an exception that the API documents", thrown);
    }
  }

  /** A call of the API. */
  @FunctionalInterface
  public interface Call {
    void run() throws Exception;
  }

  /** How a simulated scheduler says that a wait can't end. */
  private static final List<String> STUCK = List.of("deadlock:", "livelock?", "lost wake-up:");

  private final Set<Refusal> must = EnumSet.noneOf(Refusal.class);
  private final Set<Refusal> may = EnumSet.noneOf(Refusal.class);

  /** If {@code condition} holds, the call has to be refused, for this reason or another one. */
  public Demand must(boolean condition, Refusal reason) {
    if (condition) {
      must.add(reason);
    }
    return this;
  }

  /** If {@code condition} holds, the call may be refused for this reason. */
  public Demand may(boolean condition, Refusal reason) {
    if (condition) {
      may.add(reason);
    }
    return this;
  }

  /**
   * Makes the call.
   *
   * @return whether it did what it was to do; if not, it was refused, rightly
   */
  public boolean met(Call call) {
    try {
      call.run();
    } catch (Exception e) {
      checkRefusal(e);
      return false;
    }
    if (!must.isEmpty()) {
      throw new AssertionError("was not refused, but must be: " + must);
    }
    return true;
  }

  private void checkRefusal(Exception e) {
    Refusal refusal = Refusal.of(e);
    String message = e.getMessage();
    if (message == null || message.isEmpty() || STUCK.stream().anyMatch(message::startsWith)) {
      throw new AssertionError("an exception without a message, or a wait without an end", e);
    }
    if (refusal == Refusal.NULL && !message.matches("[a-zA-Z0-9]+")) {
      throw new AssertionError("the exception does not name the argument that is null", e);
    }
    // Any write of a store whose writes do not wait may be refused.
    if (refusal != Refusal.STALLED && !must.contains(refusal) && !may.contains(refusal)) {
      throw new AssertionError(
          "was refused as " + refusal + "; it must be: " + must + ", it may be: " + may, e);
    }
  }
}
