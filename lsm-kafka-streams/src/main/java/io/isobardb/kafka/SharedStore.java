package io.isobardb.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.StreamsMetrics;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one open store of a directory in this process, for all state stores that lie there. It stays
 * open for a while after its last user, since Kafka opens and closes state stores often.
 *
 * <p>Each state store has a tree, and a row in a tree that they share, the ledger. So a commit is
 * one small write to one tree, and a state store that is only opened leaves its own alone. All are
 * logged, in one log: what a crash leaves is a prefix of what was written, so no row is ahead of
 * the entries it speaks of.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class SharedStore {
  private static final Logger LOG = LoggerFactory.getLogger(SharedStore.class);

  private static final String LEDGER = "streams";
  private static final Pattern TREE_NAME = Pattern.compile(".*\\.([0-9a-f]{32})");
  private static final int LABEL_LENGTH = 160;

  /** Control characters, and halves of surrogate pairs. */
  private static final Pattern UNNAMEABLE = Pattern.compile("[\\p{Cc}\\p{Cs}]");

  /** How often trees are looked for whose marker is gone; the first time after as long. */
  private static final Duration SWEEPS = Duration.ofSeconds(30);

  /** Guards itself, and the users of each store. */
  private static final Map<Path, SharedStore> OPEN = new HashMap<>();

  private static final ScheduledThreadPoolExecutor BACKGROUND = background();

  /**
   * Where stores are opened; tests have simulated disks, and time of their own. Guarded by OPEN.
   */
  private static Surroundings surroundings = Store::open;

  /** Whether the JVM is ending: who gives a store back last closes it at once. Guarded by OPEN. */
  private static boolean ending;

  /** Is run when the JVM ends; null while no store is open. Guarded by OPEN. */
  private static @Nullable Thread exitHook;

  private final StreamsOptions options;
  private final Store store;
  private final Surroundings opened;
  private final Tree ledger;

  /** Simulated stores have no directory. */
  private final boolean isOnDisk;

  private final HeldMemory heldMemory;

  /** Counts those who came and went: a time to close that was set before is void. */
  private long turns;

  private int users;

  /** Whether it was closed, be it under users that have not given it back. Changed under OPEN. */
  private volatile boolean closed;

  /** The identities that are in use. Guarded by this. */
  private final Set<String> claimed = new HashSet<>();

  /** Held by the one thread that drops trees. */
  private final Object sweeping = new Object();

  /** What clients have of its figures. Guarded by itself. */
  private final Map<StreamsMetrics, ClientFigures> figures = new IdentityHashMap<>();

  /** Guards the statistics of trees by name, and what they were taken from. */
  private final Object looking = new Object();

  private @Nullable StoreStats looked;
  private Map<String, TreeStats> statsByName = Map.of();

  /** What a store needs of the system. */
  interface Surroundings {
    /** Opens the store of a directory. */
    Store open(Path directory, StoreOptions options);

    /** Has a task done after a while, by another thread than the caller's. */
    default void later(Runnable task, Duration delay) {
      try {
        BACKGROUND.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("the process ends", e);
      }
    }
  }

  private SharedStore(StreamsOptions options, Store store, Surroundings opened) {
    this.options = options;
    this.store = store;
    this.opened = opened;
    this.isOnDisk = Files.exists(lockFile());
    this.ledger = store.openTree(LEDGER);
    this.heldMemory = new HeldMemory(store, options.store().memoryBudget(), this::lowerBudgetSoon);
  }

  private void lowerBudgetSoon() {
    opened.later(heldMemory::lower, Duration.ZERO);
  }

  private static ScheduledThreadPoolExecutor background() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "isobar-streams");
              thread.setDaemon(true);
              return thread;
            });
    executor.setKeepAliveTime(SWEEPS.toSeconds(), TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  /**
   * The store that the options name, opened if it is not. Give it back with {@link #release}. One
   * that takes no more writes is closed under its users and opened anew: those that are idle would
   * never notice, and keep all others from going on.
   *
   * @throws ConfigException if it is open with other options
   */
  static SharedStore acquire(StreamsOptions options) {
    synchronized (OPEN) {
      SharedStore shared = OPEN.get(options.directory());
      boolean isFree =
          shared != null && (shared.users == 0 || options.given().equals(shared.options.given()));
      if (shared != null && isFree && shared.isLost()) {
        shared.closeNow();
        shared = null;
      }
      if (shared == null) {
        shared = open(options);
        OPEN.put(options.directory(), shared);
        updateExitHook();
        shared.sweepLater();
      } else if (!options.given().equals(shared.options.given())) {
        throw new ConfigException(
            "the store in "
                + options.directory()
                + " is open for "
                + shared.options.application()
                + " with "
                + shared.options.given()
                + "; "
                + options.application()
                + " asks for "
                + options.given()
                + ". Set the same isobar.* options in both, or another "
                + StreamsOptions.DIRECTORY
                + " in one");
      }
      shared.users++;
      shared.turns++;
      return shared;
    }
  }

  private static SharedStore open(StreamsOptions options) {
    StoreOptions ofStore = options.store().toBuilder().closeOnExit(false).build();
    Store store = surroundings.open(options.directory(), ofStore);
    try {
      return new SharedStore(options, store, surroundings);
    } catch (RuntimeException | Error e) {
      // Else it would be locked for whoever tries again.
      try {
        store.close();
      } catch (RuntimeException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }

  /** Has stores opened in these surroundings from now on. */
  static void openIn(Surroundings others) {
    synchronized (OPEN) {
      surroundings = others;
    }
  }

  /**
   * One user less. A store that takes no more writes is closed with its last user: the next one
   * finds it opened anew.
   */
  void release() {
    synchronized (OPEN) {
      users--;
      long turn = ++turns;
      if (closed) {
        return;
      }
      if (users == 0 && (ending || store.failure() != null)) {
        closeNow();
      } else if (users == 0) {
        opened.later(() -> closeUnused(turn), options.linger());
      }
    }
  }

  /**
   * Whether a store is of no use any more: it takes no more writes, or nobody uses it and its
   * directory was deleted, as by somebody who wipes all state of an application that is closed.
   */
  private boolean isLost() {
    return store.failure() != null || users == 0 && isOnDisk && Files.notExists(lockFile());
  }

  /** Whether it was closed, be it under its users: see {@link #acquire}. */
  boolean isClosed() {
    return closed;
  }

  private Path lockFile() {
    return directory().resolve("LOCK");
  }

  private void closeUnused(long turn) {
    synchronized (OPEN) {
      if (users == 0 && turns == turn && OPEN.get(options.directory()) == this) {
        closeNow();
      }
    }
  }

  /**
   * Kafka may be closing its tasks in a hook of the application, which runs beside this one: a
   * store in use is closed by its last user. If nobody gives it back, its log has all.
   */
  private static void end() {
    synchronized (OPEN) {
      ending = true;
      closeAllUnused();
    }
  }

  /** Closes all stores that nobody uses; says how many are left. */
  static int closeAllUnused() {
    synchronized (OPEN) {
      for (SharedStore shared : new ArrayList<>(OPEN.values())) {
        if (shared.users == 0) {
          shared.closeNow();
        }
      }
      return OPEN.size();
    }
  }

  private void closeNow() {
    closed = true;
    OPEN.remove(options.directory());
    updateExitHook();
    hideAllFigures();
    try {
      store.close();
    } catch (RuntimeException e) {
      LOG.error("the store in {} was not closed in order", options.directory(), e);
    }
  }

  /** Without an open store there is none: it would keep the class loader of this. */
  private static void updateExitHook() {
    Thread hook = exitHook;
    try {
      if (hook == null && !OPEN.isEmpty()) {
        hook = new Thread(SharedStore::end, "isobar-streams-exit");
        Runtime.getRuntime().addShutdownHook(hook);
        exitHook = hook;
      } else if (hook != null && OPEN.isEmpty()) {
        exitHook = null;
        Runtime.getRuntime().removeShutdownHook(hook);
      }
    } catch (IllegalStateException e) {
      ending = true;
    }
  }

  /** The open store of a directory; null if there is none. */
  static @Nullable SharedStore of(Path directory) {
    synchronized (OPEN) {
      return OPEN.get(directory);
    }
  }

  /** The store that is open, if it is the only one. */
  static SharedStore onlyOne() {
    synchronized (OPEN) {
      if (OPEN.size() != 1) {
        throw new IllegalStateException(
            "there must be one open store, not " + OPEN.size() + ": " + OPEN.keySet());
      }
      return OPEN.values().iterator().next();
    }
  }

  Store store() {
    return store;
  }

  Path directory() {
    return options.directory();
  }

  /** The figures that a client has, and how many of its state stores are open. */
  private static final class ClientFigures {
    private final KafkaFigures figures;
    private int users = 1;

    ClientFigures(KafkaFigures figures) {
      this.figures = figures;
    }
  }

  /** Shows its figures to a client, for one more state store of it. */
  void showFigures(StreamsMetrics metrics) {
    synchronized (figures) {
      ClientFigures shown = figures.get(metrics);
      if (shown != null) {
        shown.users++;
        return;
      }
      Map<String, String> tags = Map.of("store", directory().toString());
      figures.put(metrics, new ClientFigures(KafkaFigures.ofStore(metrics, store, tags)));
    }
  }

  /** Ends what {@link #showFigures} began. */
  void hideFigures(StreamsMetrics metrics) {
    synchronized (figures) {
      ClientFigures shown = figures.get(metrics);
      if (shown != null && --shown.users == 0) {
        figures.remove(metrics);
        shown.figures.remove();
      }
    }
  }

  /** The next store of the directory has figures of the same names. */
  private void hideAllFigures() {
    synchronized (figures) {
      figures.values().forEach(shown -> shown.figures.remove());
      figures.clear();
    }
  }

  /** The statistics of a tree, at most a second old; null if there is none of this name. */
  @Nullable TreeStats statsOf(String tree) {
    StoreStats now = store.metrics();
    synchronized (looking) {
      if (now != looked) {
        Map<String, TreeStats> byName = new HashMap<>();
        now.trees().forEach(each -> byName.put(each.name(), each));
        statsByName = byName;
        looked = now;
      }
      return statsByName.get(tree);
    }
  }

  /**
   * Takes an identity into use, so that nobody drops its tree; whether no other state store has it.
   */
  boolean claim(String identity) {
    synchronized (this) {
      return claimed.add(identity);
    }
  }

  void unclaim(String identity) {
    synchronized (this) {
      claimed.remove(identity);
    }
  }

  /** The row of an identity; null if there is none. */
  @Nullable LedgerRow row(String identity) {
    byte[] row = ledger.get(identity.getBytes(UTF_8));
    return row == null ? null : LedgerRow.decode(row);
  }

  void setRow(String identity, LedgerRow row) {
    ledger.put(identity.getBytes(UTF_8), row.encode());
  }

  Tree ledger() {
    return ledger;
  }

  /**
   * What the store takes of a floor of write memory, whatever its budget is lowered by now: more
   * than half of the budget no tree keeps.
   *
   * @param asked more than the whole budget is left to the store to refuse
   */
  long floor(long asked) {
    long budget = options.store().memoryBudget();
    return asked > budget ? asked : Math.min(asked, budget - heldMemory.mostBytes());
  }

  /** What counts writes that are held back. */
  HeldMemory heldMemory() {
    return heldMemory;
  }

  /**
   * The tree of an identity. With a row it is what is there, without one it is empty.
   *
   * @param label what people see of it
   */
  Tree tree(String label, String identity, boolean hasRow) {
    String name = shown(label) + "." + identity;
    if (!hasRow) {
      try {
        return store.createTree(name, TreeOptions.defaults());
      } catch (IllegalArgumentException e) {
        // One that was being dropped, or whose row a failure of the machine took.
        store.dropTree(name);
      }
    }
    return store.openTree(name);
  }

  /** A label without what no tree's name may hold, and not too long for one. */
  private static String shown(String label) {
    String clean = UNNAMEABLE.matcher(label).replaceAll("_");
    int end = Math.min(clean.length(), LABEL_LENGTH);
    boolean cutsPair = end < clean.length() && Character.isLowSurrogate(clean.charAt(end));
    return clean.substring(0, cutsPair ? end - 1 : end);
  }

  private void sweepLater() {
    opened.later(
        () -> {
          synchronized (OPEN) {
            if (OPEN.get(options.directory()) != this) {
              return;
            }
          }
          try {
            heldMemory.raise();
            sweep();
          } catch (RuntimeException e) {
            LOG.warn("trees of state stores that are gone were not dropped", e);
          }
          sweepLater();
        },
        SWEEPS);
  }

  /** Drops the trees that nobody uses and whose marker is gone; their names. */
  List<String> sweep() {
    synchronized (sweeping) {
      return dropWhatIsGone();
    }
  }

  private List<String> dropWhatIsGone() {
    Set<String> withoutTree = new HashSet<>();
    try (Cursor cursor = ledger.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        withoutTree.add(new String(cursor.key(), UTF_8));
      }
    }
    List<String> dropped = new ArrayList<>();
    for (String name : store.treeNames()) {
      Matcher matcher = TREE_NAME.matcher(name);
      if (matcher.matches()) {
        String identity = matcher.group(1);
        withoutTree.remove(identity);
        synchronized (this) {
          if (isGone(identity)) {
            ledger.delete(identity.getBytes(UTF_8));
            store.dropTree(name);
            dropped.add(name);
          }
        }
      }
    }
    for (String identity : withoutTree) {
      synchronized (this) {
        if (isGone(identity)) {
          ledger.delete(identity.getBytes(UTF_8));
        }
      }
    }
    return dropped;
  }

  /** Looks at the row of now: the state store may have been opened and closed meanwhile. */
  private boolean isGone(String identity) {
    if (claimed.contains(identity)) {
      return false;
    }
    LedgerRow row = row(identity);
    return row == null || Marker.isGone(row.marker(), identity);
  }
}
