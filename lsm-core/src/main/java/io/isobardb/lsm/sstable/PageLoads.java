package io.isobardb.lsm.sstable;

import io.isobardb.lsm.schedule.Errand;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.VirtualThreads;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Reads of one store that are in flight beside those of its readers' own threads: a device serves
 * several at once faster than one after the other.
 *
 * <p>What is loaded here is a guess at what readers need. So a load that fails is forgotten: the
 * reader that needs the page does not find it, reads it itself, and gets the error. A page that is
 * being loaded when a reader comes to it is waited for by {@code BufferCache.load}, as always.
 *
 * <p>Helpers hold no pin while they wait, and have at most one page each. In a small cache fewer of
 * them work at once, so that they do not take the pages that readers have just loaded. No read goes
 * on after the call that has begun it has ended it. So nothing is in flight in a store that no call
 * uses and no cursor holds.
 *
 * <p>Thread rule: all methods may be called by any thread, outside of epochs.
 */
public final class PageLoads {
  /**
   * With so many reads of clients and jobs in flight, no helper joins in. The device is then as
   * fast as it gets, and more reads would only wait for each other.
   */
  private static final int MOST = 16;

  /** Helpers use at most this part of the cache's pages at once. */
  private static final int HELPERS_SHARE = 8;

  /** Pages that are loaded before one of them is looked at: this part of the cache at most. */
  private static final int WAVE_SHARE = 4;

  private final @Nullable Scheduler scheduler;

  /** Reads of SSTables that wait for the device now. */
  private final AtomicInteger inFlight = new AtomicInteger();

  /** Helpers that load pages into the cache now. */
  private final AtomicInteger loading = new AtomicInteger();

  /** Callers that have pages loaded now. Each has its share of the helpers. */
  private final AtomicInteger waves = new AtomicInteger();

  private PageLoads(@Nullable Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Those that a scheduler's helpers take part in. */
  public static PageLoads by(Scheduler scheduler) {
    return new PageLoads(scheduler);
  }

  /** Those of readers alone. */
  public static PageLoads withoutHelpers() {
    return new PageLoads(null);
  }

  /** How many pages should be loaded at once, so that none of them goes before it is looked at. */
  public int most(TableSpace space) {
    return cachePages(space) / WAVE_SHARE;
  }

  /**
   * Brings pages into the cache, in any order and several at once. The caller does its part, and
   * all is over when this returns.
   *
   * @param missed {@link #most} at most, held by the caller
   */
  public void load(MissedPages missed) {
    if (missed.count() == 0) {
      return;
    }
    Wave wave = new Wave(missed, cachePages(missed.table(0).space()) / HELPERS_SHARE);
    waves.incrementAndGet();
    try {
      wave.lead();
    } finally {
      waves.decrementAndGet();
      wave.callOff();
    }
  }

  private static int cachePages(TableSpace space) {
    return (int) Math.min(space.cache().targetBytes() / space.pageSize(), Integer.MAX_VALUE);
  }

  /**
   * Has a helper do something soon that the caller will need. The caller ends it, by {@link
   * Errand#finish} or {@link Errand#cancel}, before it gives up what that uses.
   *
   * @return null if there are no helpers
   */
  @Nullable Errand begin(Runnable work) {
    Scheduler by = scheduler;
    if (by == null) {
      return null;
    }
    Errand errand = new Errand(work, by.signal("what is read ahead"));
    return by.help(errand) ? errand : null;
  }

  /** A call that blocks its thread. */
  @FunctionalInterface
  interface Call {
    int run() throws IOException;
  }

  /**
   * Runs a call that waits for the device, and for nothing else: on another thread if the caller's
   * is a virtual one, which parks meanwhile and leaves its carrier to others.
   */
  int run(Call call) throws IOException {
    Scheduler by = scheduler;
    if (by != null && VirtualThreads.isCurrent()) {
      Handed handed = new Handed(() -> counted(call));
      Errand errand = new Errand(handed, by.signal("a read for a virtual thread"));
      if (by.read(errand)) {
        errand.await();
        return handed.result();
      }
    }
    return counted(call);
  }

  private int counted(Call call) throws IOException {
    inFlight.incrementAndGet();
    try {
      return call.run();
    } finally {
      inFlight.decrementAndGet();
    }
  }

  /** A call that another thread does, and what became of it. */
  private static final class Handed implements Runnable {
    private final Call call;
    private int result;
    private @Nullable Throwable failure;

    Handed(Call call) {
      this.call = call;
    }

    @Override
    public void run() {
      try {
        result = call.run();
      } catch (Throwable e) {
        failure = e;
      }
    }

    int result() throws IOException {
      Throwable thrown = failure;
      if (thrown instanceof IOException e) {
        throw e;
      } else if (thrown instanceof RuntimeException e) {
        throw e;
      } else if (thrown instanceof Error e) {
        throw e;
      }
      return result;
    }
  }

  /**
   * Pages that several threads load, each the next one that nobody has begun. The caller asks for
   * helpers as long as it may have more of them: others may have had all when it began.
   */
  private final class Wave {
    private final MissedPages pages;
    private final int mostHelpers;
    private final AtomicInteger next = new AtomicInteger(1);
    private final List<Errand> errands = new ArrayList<>();
    private @Nullable Signal ended;

    /** Helpers that were asked and have not left. */
    private final AtomicInteger helpers = new AtomicInteger();

    /** Those of them that have not begun. */
    private final AtomicInteger open = new AtomicInteger();

    Wave(MissedPages pages, int mostHelpers) {
      this.pages = pages;
      this.mostHelpers = mostHelpers;
    }

    /** The caller's part. */
    void lead() {
      boolean more = true;
      for (int i = 0; i < pages.count(); i = next.getAndIncrement()) {
        while (more && mayHaveAnother()) {
          more = ask();
        }
        load(i);
      }
    }

    private boolean mayHaveAnother() {
      int coming = open.get();
      return helpers.get() < Math.min(pages.count() - next.get(), share())
          && inFlight.get() + coming + 1 < MOST
          && loading.get() + coming < mostHelpers;
    }

    private boolean ask() {
      Scheduler by = scheduler;
      if (by == null) {
        return false;
      }
      Signal signal = ended;
      if (signal == null) {
        signal = by.signal("pages that others read");
        ended = signal;
      }
      Errand errand = new Errand(this::help, signal);
      errands.add(errand);
      helpers.incrementAndGet();
      open.incrementAndGet();
      return by.help(errand);
    }

    /** How many helpers it may have beside those of other callers. */
    private int share() {
      int callers = Math.max(1, waves.get());
      return (MOST + callers - 1) / callers - 1;
    }

    /** A helper's part: it leaves once others should have it. */
    private void help() {
      open.decrementAndGet();
      try {
        if (loading.incrementAndGet() <= mostHelpers) {
          while (helpers.get() <= share()) {
            int i = next.getAndIncrement();
            if (i >= pages.count()) {
              return;
            }
            load(i);
          }
        }
      } finally {
        loading.decrementAndGet();
        helpers.decrementAndGet();
      }
    }

    private void load(int i) {
      SSTable table = pages.table(i);
      int page = pages.page(i);
      try {
        table.loadPage(page, Access.QUERY);
        table.unpin(page);
      } catch (OutOfBudgetException e) {
        next.set(pages.count()); // There is no room for pages that nobody holds.
      } catch (RuntimeException e) {
        // The reader that needs it will read it, and be told.
      }
    }

    /** Nobody begins to help any more, or is still at it, once this returns. */
    void callOff() {
      errands.forEach(Errand::cancel);
    }
  }
}
