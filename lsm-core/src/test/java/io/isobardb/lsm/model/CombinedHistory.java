package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.TooManyRangeDeletesException;
import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.io.PrivateStorage;
import io.isobardb.lsm.merge.ReadLosses;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.NoJobs;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.Operation;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.TailOperator;
import io.isobardb.lsm.simulation.Watchdog;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.stats.Ledger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A history in which many features meet: trees that change their runs, space, compression and time
 * to live while they are written, compacted, copied and backed up; with crashes at any call, in the
 * middle of each of these, and restarts with other options.
 *
 * <p>A line is {@code KIND N B}, as of a {@link HistoryScript}.
 */
final class CombinedHistory {
  private static final int NUMBERS = 1_000_000;
  private static final long READING_BYTES = 24 << 20;
  private static final long SILK_BYTES = 20 << 20;
  private static final long LENT_BYTES = 1 << 20;
  private static final long[] LIFETIMES = {40, 1000, 86_400_000};

  private static final Runs[] SHAPES = {
    Runs.leveled(),
    Runs.lazy(2),
    Runs.lazy(4),
    Runs.tiered(2),
    Runs.tiered(5),
    Runs.of(3, 1, 1),
    Runs.of(4, 2, 1),
    Runs.of(5, 3, 2)
  };

  /** What is done; shares of the sum of all. */
  enum Kind {
    WRITE(140),
    BATCH(50),
    BURST(70),
    RANGE(40),
    PILE(25),
    READ(60),
    READS(15),
    CURSOR(30),
    MOVE(110),
    SNAPSHOT(25),
    END(25),
    TRANSACTION(40),
    SHAPE(50),
    ADAPT(20),
    WISH(20),
    COMPACT(25),
    FLUSH(20),
    QUIET(8),
    SYNC(10),
    CHECKPOINT(12),
    BULK(15),
    CREATE(15),
    DROP(10),
    RENAME(8),
    BUDGET(8),
    BACKUP(8),
    COPY(5),
    RESTORE(3),
    REOPEN(10),
    CRASH(8),
    FAULT(12),
    CHECK(15),
    TIME(15);

    final int share;

    Kind(int share) {
      this.share = share;
    }
  }

  static List<String> random(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    int sum = Arrays.stream(Kind.values()).mapToInt(kind -> kind.share).sum();
    List<String> lines = new ArrayList<>(List.of("store " + seed));
    while (lines.size() <= count) {
      int dice = random.nextInt(sum);
      for (Kind kind : Kind.values()) {
        dice -= kind.share;
        if (dice < 0) {
          int background = random.nextInt(3) == 0 ? 0 : random.nextInt(random.nextInt(8) + 1);
          lines.add(
              kind.name().toLowerCase(Locale.ROOT)
                  + " "
                  + random.nextInt(NUMBERS)
                  + " "
                  + background);
          break;
        }
      }
    }
    return lines;
  }

  /** A tree, and when it was there under which name. */
  private static final class Known extends ModelTree {
    long createdAt;
    long droppedAt = Long.MAX_VALUE;
    final TreeMap<Long, String> names = new TreeMap<>();

    /** What it may be told to be: one, or two while that changes. */
    final List<String> adjusted = new ArrayList<>();

    Known(String name, TreeOptions options, TreeMap<Long, Long> clock, long at) {
      super(name, options, when -> clock.floorEntry(when).getValue());
      createdAt = at;
      names.put(at, name);
    }

    void settle() {
      while (adjusted.size() > 1) {
        adjusted.remove(0);
      }
    }

    boolean isAt(long at) {
      return createdAt <= at && at < droppedAt;
    }

    String nameAt(long at) {
      return names.floorEntry(at).getValue();
    }

    String name() {
      return names.lastEntry().getValue();
    }

    boolean logged() {
      return options.logged();
    }
  }

  private record Found(
      Map<String, TreeMap<byte[], byte[]>> trees,
      Map<String, String> adjusted,
      long from,
      long to) {}

  private record ModelSnapshot(Snapshot snapshot, long at) {}

  /** Moments at which a store would hold what was found. */
  private record Moment(long log, long manifest, long checkpoint) {}

  private final List<String> lines;
  private final boolean many;
  private SplittableRandom random;
  private final SplittableRandom crashes;
  private SimulatedWorld world;
  private final TreeMap<Long, Long> clock = new TreeMap<>();
  private final List<Known> trees = new ArrayList<>();
  private final List<ModelSnapshot> snapshots = new ArrayList<>();
  private final List<ModelCursor> cursors = new ArrayList<>();
  private final int pageSize;
  private StoreOptions options;
  private Store store;
  private long now;
  private long returned;
  private long acked;
  private long manifestAcked;
  private long checkpoint;
  private long nextCheckpoint;
  private int named;
  private int step;
  private String doing = "opening";

  /** One in so many mutating calls is looked at; 0 for none. */
  private int crashEvery;

  private boolean looking;

  /** Whether calls fail, and whether one has. */
  private final boolean faulty;

  private boolean hit;

  /** Whether files may be left that could not be deleted, until the store is opened again. */
  private boolean littered;

  private String fault = "";
  private boolean isOpen;

  /** Where a checkpoint may stand that a store makes as it is closed. */
  private final List<Long> closing = new ArrayList<>();

  private @Nullable Throwable wrong;
  private long states;
  private long merges;
  private SimulatedStorage backupDisk;
  private BackupDirectory backups;
  private final TreeMap<Long, Map<String, TreeMap<byte[], byte[]>>> held = new TreeMap<>();

  CombinedHistory(List<String> lines) throws IOException {
    this.lines = lines;
    random = new SplittableRandom(HistoryScript.store(lines));
    crashes = new SplittableRandom(~HistoryScript.store(lines));
    world = new SimulatedWorld(random.nextLong());
    world.storage().supportsDirect(random.nextBoolean());
    int dice = random.nextInt(20);
    pageSize = dice < 14 ? 4096 : dice < 17 ? 8192 : dice < 19 ? 16384 : 65536;
    many = random.nextInt(40) == 0;
    crashEvery = many || random.nextInt(3) == 0 ? 0 : 40 << random.nextInt(5);
    faulty = random.nextInt(3) == 0;
    options = someOptions().toBuilder().pageSize(pageSize).build();
    backupDisk = new SimulatedStorage(world.clock());
    backups = BackupDirectory.open(backupDisk);
    store = world.open(options);
    isOpen = true;
    hook();
  }

  /** Crashes that were looked at. */
  long states() {
    return states;
  }

  long merges() {
    return merges;
  }

  private StoreOptions someOptions() {
    StoreOptions.Builder drawn = HistoryOptions.some(random, pageSize).toBuilder();
    SplittableRandom more = random.split();
    int adaptation = more.nextInt(4);
    ExperimentalOptions.set(
        drawn,
        e ->
            e.adaptation(
                adaptation == 0
                    ? Adaptation.OFF
                    : adaptation == 1 ? Adaptation.OBSERVE : Adaptation.ON));
    if (more.nextInt(3) == 0) {
      drawn.maxSpace(1.01 + more.nextInt(3) * 1.5);
    }
    if (more.nextInt(4) == 0) {
      drawn.deleteRate(1 << 20);
    }
    if (more.nextInt(4) == 0) {
      drawn.maxOpenFiles(16);
    }
    if (more.nextInt(6) == 0) {
      drawn.ioBandwidth(IoBandwidth.of(SILK_BYTES)).mergeSchedule(MergeSchedule.SILK);
      ExperimentalOptions.set(drawn, e -> e.ioMinimum(SILK_BYTES / 4).ioReserve(SILK_BYTES / 2));
    }
    if (more.nextInt(6) == 0) {
      // What is stored wins.
      drawn.pageSize(4096 << more.nextInt(4));
    }
    return drawn.build();
  }

  private void hook() {
    world.storage().onMutation(this::mayCrash);
  }

  void run() {
    try {
      tick();
      createTree();
      createTree();
      for (int i = 0; many && i < 198; i++) {
        createTree();
      }
      for (step = 1; step < lines.size(); step++) {
        String[] words = lines.get(step).split(" ");
        Watchdog.mark(lines.get(step));
        random = new SplittableRandom(Long.parseLong(words[1]));
        Kind kind = Kind.valueOf(words[0].toUpperCase(Locale.ROOT));
        tick();
        try {
          operation(kind);
          doing += ", then background work";
          world.background(Integer.parseInt(words[2]));
          checkLedger();
        } catch (IsobarException | UncheckedIOException e) {
          if (!hit || wrong != null) {
            throw e;
          }
          afterFault(e);
        }
        checkWrong();
        if (hit && random.nextInt(4) == 0) {
          endFault();
        }
      }
      Watchdog.mark("opening again and closing");
      doing = "the end";
      if (hit && store.failure() != null) {
        afterFault(store.failure());
      }
      endFault();
      reopen();
      closeStore();
      checkWrong();
      backups.close();
      if (backupDisk.openFiles() != 0) {
        throw new AssertionError("files of backups are open");
      }
    } catch (IOException | RuntimeException | Error e) {
      Throwable first = wrong != null ? wrong : e;
      AssertionError told = new AssertionError(this + ": " + first, first);
      try {
        world.storage().onMutation(storage -> {});
        store.close();
        backups.close();
      } catch (IOException | RuntimeException | Error more) {
        told.addSuppressed(more);
      }
      throw told;
    }
  }

  private void checkWrong() {
    if (wrong != null) {
      throw new AssertionError("found in a copy", wrong);
    }
  }

  private void checkLedger() {
    Ledger ledger = store.stats().ledger();
    // A slab may be lent to a write that all others wait for.
    if (ledger.allocatedBytes() > ledger.limitBytes() + LENT_BYTES) {
      throw new AssertionError("the ledger is above its limit: " + ledger);
    }
  }

  private void operation(Kind kind) throws IOException {
    doing = kind.name();
    switch (kind) {
      case WRITE -> write();
      case BATCH -> batch();
      case BURST -> burst();
      case RANGE -> deleteRange();
      case PILE -> pileUp();
      case READ -> read();
      case READS -> reads();
      case CURSOR -> openCursor();
      case MOVE -> moveCursor();
      case SNAPSHOT -> {
        if (snapshots.size() < 6) {
          snapshots.add(new ModelSnapshot(store.snapshot(), now));
        }
      }
      case END -> endSomething();
      case TRANSACTION -> transaction();
      case SHAPE -> changeShape();
      case ADAPT -> adapt();
      case WISH -> wish();
      case COMPACT -> compact();
      case FLUSH -> {
        store.flush();
        acked = now;
        manifestAcked = now;
      }
      case QUIET -> store.awaitQuiet();
      case SYNC -> {
        store.sync();
        acked = now;
        manifestAcked = now;
      }
      case CHECKPOINT -> checkpoint();
      case BULK -> bulkLoad();
      case CREATE -> createTree();
      case DROP -> dropTree();
      case RENAME -> renameTree();
      case BUDGET -> changeBudget();
      case BACKUP -> backup();
      case COPY -> copy();
      case RESTORE -> restore();
      case REOPEN -> reopen();
      case CRASH -> crash();
      case FAULT -> planFault();
      case CHECK -> checkAll();
      case TIME -> world.pass(random.nextLong(400_000_000));
    }
  }

  // Time and trees.

  private static long millis(Store of) {
    return Inside.of(of).engine().snapshots().time().getAsLong();
  }

  private long millis() {
    return millis(store);
  }

  private void tick() {
    boolean quiet = returned == now;
    boolean safe = acked == now;
    clock.put(++now, millis());
    returned = quiet ? now : returned;
    acked = safe ? now : acked;
  }

  /** A write begins. */
  private long begin() {
    long time = clock.lastEntry().getValue();
    clock.put(++now, time);
    return now;
  }

  private List<Known> live() {
    return trees.stream().filter(tree -> tree.isAt(now)).collect(Collectors.toList());
  }

  private Known anyTree() {
    List<Known> live = live();
    return live.get(random.nextBoolean() ? 0 : random.nextInt(live.size()));
  }

  private Tree tree(Known of) {
    return store.tree(of.name());
  }

  private void createTree() {
    if (live().size() >= (many ? 205 : 6)) {
      return;
    }
    TreeOptions.Builder some =
        TreeOptions.builder()
            .keyOrder(random.nextInt(3) == 0 ? FallingOrder.FALLING : KeyOrder.BYTES)
            .compression(DeflateCodec.any(random))
            .logged(random.nextInt(4) != 0)
            .filterBitsPerKey(random.nextInt(4) == 0 ? 0 : 10);
    if (random.nextBoolean()) {
      some.mergeOperator(TailOperator.TAIL);
    }
    if (random.nextInt(4) == 0) {
      some.timeToLive(Duration.ofMillis(LIFETIMES[random.nextInt(LIFETIMES.length)]));
    }
    if (random.nextInt(3) == 0) {
      some.runs(SHAPES[random.nextInt(SHAPES.length)]).maxSpace(2.5 + random.nextInt(5));
    }
    TreeOptions treeOptions = some.build();
    String name = "tree-" + (named++ % (many ? 230 : 9));
    if (live().stream().anyMatch(tree -> tree.name().equals(name))) {
      return;
    }
    doing = "creating " + name;
    Known made = new Known(name, treeOptions, clock, begin());
    made.adjusted.add(adjusted(treeOptions));
    trees.add(made);
    store.createTree(name, treeOptions);
    returned = now;
    if (store.options().durability() == Durability.SYNC) {
      manifestAcked = now;
    }
  }

  private static String adjusted(TreeOptions of) {
    return of.timeToLive() + " " + of.runs() + " " + of.maxSpace() + " " + of.compression();
  }

  private void dropTree() {
    if (live().size() < 3) {
      return;
    }
    Known tree = anyTree();
    doing = "dropping " + tree.name();
    tree.droppedAt = begin();
    store.dropTree(tree.name());
    returned = now;
    if (store.options().durability() == Durability.SYNC) {
      manifestAcked = now;
    }
    cursors.removeIf(cursor -> cursor.isOver(tree));
  }

  private void renameTree() {
    Known tree = anyTree();
    String name = "tree-" + (named++ % (many ? 230 : 9));
    if (live().stream().anyMatch(other -> other.name().equals(name))) {
      return;
    }
    doing = "renaming " + tree.name() + " to " + name;
    String before = tree.name();
    tree.names.put(begin(), name);
    store.renameTree(before, name);
    returned = now;
    manifestAcked = now;
  }

  private void changeShape() {
    Known of = anyTree();
    Tree tree = tree(of);
    doing = "changing " + of.name();
    TreeOptions before = tree.options();
    TreeOptions.Builder changed = TreeOptions.builder();
    switch (random.nextInt(6)) {
      case 0 -> {
        double space = random.nextInt(3) == 0 ? 0 : 1.01 + random.nextInt(8);
        change(of, before.toBuilder().maxSpace(space).build(), () -> tree.setMaxSpace(space));
      }
      case 1 -> {
        var compression = DeflateCodec.any(random);
        change(
            of,
            before.toBuilder().compression(compression).build(),
            () -> tree.setCompression(compression));
      }
      case 2 -> {
        Duration lifetime =
            random.nextInt(3) == 0
                ? Duration.ZERO
                : Duration.ofMillis(LIFETIMES[random.nextInt(LIFETIMES.length)]);
        change(
            of,
            before.toBuilder().timeToLive(lifetime).build(),
            () -> tree.setTimeToLive(lifetime));
      }
      case 3 -> {
        Runs runs = SHAPES[random.nextInt(SHAPES.length)];
        double space = 2.5 + random.nextInt(6);
        change(
            of,
            before.toBuilder().runs(runs).maxSpace(space).build(),
            () -> store.openTree(of.name(), changed.runs(runs).maxSpace(space).build()));
      }
      default -> {
        Runs runs = SHAPES[random.nextInt(SHAPES.length)];
        change(of, before.toBuilder().runs(runs).build(), () -> tree.setRuns(runs));
      }
    }
    if (random.nextInt(6) == 0) {
      tree.setWriteWeight(random.nextInt(4));
      tree.setWriteMemoryFloor(random.nextInt(3) * 100_000L);
    }
  }

  private void change(Known of, TreeOptions wanted, Runnable call) {
    of.adjusted.add(adjusted(wanted));
    try {
      call.run();
    } catch (IllegalArgumentException e) {
      assertTrue(e.getMessage().contains("maxSpace"), e.toString());
      of.adjusted.remove(of.adjusted.size() - 1);
      return;
    }
    manifestAcked = now;
    assertEquals(of.adjusted.get(of.adjusted.size() - 1), adjusted(tree(of).options()));
    if (!looking) {
      of.settle();
    }
  }

  /** As the shape service would. */
  private void adapt() {
    Known of = anyTree();
    TreeHandle handle = Inside.handle(tree(of));
    Runs[] choices = {Runs.leveled(), Runs.lazy(4), Runs.tiered(8), Runs.lazy(2)};
    Runs runs = choices[random.nextInt(choices.length)];
    if (runs.last() == 1 || handle.shape().maxSpace() >= 2) {
      handle.adapt(runs, random.nextInt(3) * 4);
      Inside.of(store).parts().merger().request(handle);
    }
  }

  private void wish() {
    Known of = anyTree();
    TreeHandle handle = Inside.handle(tree(of));
    Map<Long, Double> lost = new HashMap<>();
    handle
        .states()
        .current()
        .version()
        .placedRuns()
        .forEach(
            placed ->
                placed
                    .run()
                    .elements()
                    .forEach(
                        table -> {
                          if (random.nextBoolean()) {
                            lost.put(table.fileNumber(), (double) random.nextInt(10_000));
                          }
                        }));
    if (!lost.isEmpty()) {
      Inside.of(store).parts().merger().mergeForReads(handle, new ReadLosses(lost, pageSize, 1, 1));
    }
  }

  private void compact() {
    Known of = anyTree();
    byte @Nullable [][] range = anyRange(of);
    doing = "compacting " + of.name();
    tree(of).compact(range[0], range[1]);
  }

  private void checkpoint() {
    nextCheckpoint = now;
    store.checkpoint();
    checkpoint = nextCheckpoint;
    acked = now;
    manifestAcked = now;
  }

  private void changeBudget() {
    long least = OptionLimits.leastBudget(pageSize);
    long wanted = least << random.nextInt(3);
    doing = "budget " + wanted;
    try {
      store.setMemoryBudget(wanted);
    } catch (IllegalArgumentException e) {
      assertTrue(e.getMessage().contains("udget"), e.toString());
    }
  }

  // Writes.

  private byte[] anyKey(Known of) {
    return HistoryEntries.anyKey(random, of, pageSize, false);
  }

  private ModelValue anyValue(Tree of) {
    return HistoryEntries.anyValue(random, of, pageSize, false);
  }

  private long lifetime(Tree of) {
    long lifetime = of.timeToLive().toMillis();
    return lifetime == 0 ? ModelTree.NEVER : millis() + lifetime;
  }

  private boolean merges(Known to, byte[] key) {
    long left = to.expires(key) - millis();
    return to.options.mergeOperator() != null && random.nextBoolean() && (left <= 0 || left > 1000);
  }

  /** Makes a call whose effects are in the model already. */
  private boolean attempt(boolean syncs, Runnable call) {
    long at = now;
    try {
      call.run();
    } catch (WriteStalledException | TooManyRangeDeletesException e) {
      trees.forEach(tree -> tree.forget(version -> version.at() == at));
      returned = now;
      return false;
    }
    returned = now;
    if (syncs) {
      acked = now;
      manifestAcked = now;
    }
    return true;
  }

  private Durability anyDurability() {
    return random.nextInt(4) == 0 ? Durability.SYNC : Durability.ASYNC;
  }

  private void write() {
    Known to = anyTree();
    Tree tree = tree(to);
    byte[] key = anyKey(to);
    Durability durability = anyDurability();
    boolean syncs = durability == Durability.SYNC && to.logged();
    long at = begin();
    doing = "writing " + SimulatedWorld.text(key) + " to " + to.name();
    if (random.nextInt(5) == 0) {
      to.write(key, null, at);
      attempt(syncs, () -> tree.delete(key, durability));
      return;
    }
    ModelValue value = anyValue(tree);
    if (merges(to, key)) {
      to.merge(key, value.bytes(), at, lifetime(tree), millis());
      attempt(syncs, () -> tree.merge(key, value.bytes(), durability));
      return;
    }
    // The first conditional write waits for a copy's operation, which is this thread's.
    switch (looking ? 7 : random.nextInt(8)) {
      case 0 -> {
        long expires = millis() + (random.nextBoolean() ? 2 : 1 + random.nextInt(3000));
        to.write(key, value, at, expires);
        attempt(
            syncs, () -> tree.put(key, value.bytes(), Instant.ofEpochMilli(expires), durability));
      }
      case 1 -> {
        byte[] before = to.get(key, at);
        if (before == null) {
          to.write(key, value, at, lifetime(tree));
        }
        attempt(
            syncs && before == null,
            () -> assertArrayEquals(before, tree.putIfAbsent(key, value.bytes(), durability)));
      }
      case 2 -> {
        to.write(key, value, at, lifetime(tree));
        ByteBuffer direct = ByteBuffer.allocateDirect(value.length() + 3).position(3);
        direct.put(3, value.bytes());
        attempt(syncs, () -> tree.put(ByteBuffer.wrap(key), direct, durability));
      }
      default -> {
        to.write(key, value, at, lifetime(tree));
        attempt(syncs, () -> tree.put(key, value.bytes(), durability));
      }
    }
  }

  private byte @Nullable [][] anyRange(Known of) {
    byte[] a = random.nextInt(8) == 0 ? null : anyKey(of);
    byte[] b = random.nextInt(8) == 0 ? null : anyKey(of);
    boolean swap = a != null && b != null && of.keys.comparator().compare(a, b) > 0;
    return swap ? new byte @Nullable [][] {b, a} : new byte @Nullable [][] {a, b};
  }

  private void deleteRange() {
    Known to = anyTree();
    byte @Nullable [][] range = anyRange(to);
    Durability durability = anyDurability();
    boolean empty = Arrays.equals(range[0], range[1]) && range[0] != null;
    doing = "deleting a range of " + to.name();
    to.deleteRange(range[0], range[1], begin());
    attempt(
        durability == Durability.SYNC && to.logged() && !empty,
        () -> tree(to).deleteRange(range[0], range[1], durability));
  }

  private void batch() {
    WriteBatch batch = store.newBatch();
    Known first = anyTree();
    List<Known> to = live().stream().filter(tree -> tree.logged() == first.logged()).toList();
    long at = begin();
    doing = "a batch";
    boolean anyLogged = false;
    for (int i = random.nextInt(20); i >= 0; i--) {
      Known of = to.get(random.nextInt(to.size()));
      Tree tree = tree(of);
      byte[] key = anyKey(of);
      if (random.nextInt(10) == 0) {
        byte @Nullable [][] range = anyRange(of);
        batch.deleteRange(tree, range[0], range[1]);
        of.deleteRange(range[0], range[1], at);
      }
      ModelValue value = random.nextInt(4) == 0 ? null : anyValue(tree);
      if (batch.sizeBytes() + (value == null ? 0 : value.length()) > 32 << 10) {
        break;
      }
      anyLogged |= of.logged();
      if (value == null) {
        batch.delete(tree, key);
        of.write(key, null, at);
      } else if (merges(of, key)) {
        batch.merge(tree, key, value.bytes());
        of.merge(key, value.bytes(), at, lifetime(tree), millis());
      } else if (random.nextInt(8) == 0) {
        long expires = millis() + 1 + random.nextInt(2000);
        batch.put(tree, key, value.bytes(), Instant.ofEpochMilli(expires));
        of.write(key, value, at, expires);
      } else {
        batch.put(tree, key, value.bytes());
        of.write(key, value, at, lifetime(tree));
      }
    }
    Durability durability = anyDurability();
    attempt(durability == Durability.SYNC && anyLogged, () -> store.write(batch, durability));
  }

  private void burst() {
    Known to = anyTree();
    Tree tree = tree(to);
    int count = random.nextInt(400);
    int from = random.nextInt(20_000);
    int stride = random.nextInt(3);
    int length = random.nextInt(4) == 0 ? pageSize / 8 : 30 + random.nextInt(300);
    for (int i = 0; i < count && wrong == null; i++) {
      doing = "put " + i + " of a burst of " + count + " into " + to.name();
      byte[] hot = HistoryEntries.key("hot", i & 7, 1);
      boolean merges = merges(to, hot);
      byte[] key =
          merges ? hot : stride == 0 ? anyKey(to) : HistoryEntries.key("k", from + i * stride, 3);
      ModelValue value = ModelValue.of(random, length, i);
      long at = begin();
      if (merges) {
        to.merge(key, value.bytes(), at, lifetime(tree), millis());
      } else {
        to.write(key, value, at, lifetime(tree));
      }
      attempt(
          false,
          () -> {
            if (merges) {
              tree.merge(key, value.bytes(), Durability.ASYNC);
            } else {
              tree.put(key, value.bytes(), Durability.ASYNC);
            }
          });
      if ((i & 15) == 0) {
        world.background(random.nextInt(3));
      }
    }
  }

  /** Writes the same keys again and again, each time flushed: so that there are tiers. */
  private void pileUp() {
    Known to = anyTree();
    Tree tree = tree(to);
    int from = random.nextInt(4) * 1000;
    int count = 20 + random.nextInt(60);
    int length = 200 + random.nextInt(pageSize / 2);
    for (int round = 2 + random.nextInt(8); round > 0 && wrong == null; round--) {
      if (random.nextInt(6) == 0) {
        to.deleteRange(HistoryEntries.key("p", from, 3), null, begin());
        attempt(
            false,
            () -> tree.deleteRange(HistoryEntries.key("p", from, 3), null, Durability.ASYNC));
      }
      for (int i = random.nextInt(3); i < count && wrong == null; i += 1 + random.nextInt(2)) {
        byte[] key = HistoryEntries.key("p", from + i, 3);
        ModelValue value = ModelValue.of(random, length, now);
        doing = "piling up in " + to.name();
        if (to.keys.comparator().compare(key, HistoryEntries.key("p", from, 3)) < 0) {
          continue;
        }
        to.write(key, value, begin(), lifetime(tree));
        attempt(false, () -> tree.put(key, value.bytes(), Durability.ASYNC));
      }
      store.flush();
      acked = now;
      manifestAcked = now;
      if (random.nextBoolean()) {
        world.background(random.nextInt(12));
      }
    }
  }

  private void bulkLoad() {
    List<Known> to = live().stream().filter(tree -> random.nextInt(3) == 0).toList();
    if (to.size() > 6) {
      to = to.subList(0, 6);
    }
    Map<Known, TreeMap<byte[], ModelValue>> entries = new HashMap<>();
    for (Known each : to) {
      TreeMap<byte[], ModelValue> sorted = new TreeMap<>(each.keys.comparator());
      for (int i = random.nextInt(200); i >= 0; i--) {
        sorted.put(anyKey(each), anyValue(tree(each)));
      }
      entries.put(each, sorted);
    }
    Tree[] all = to.stream().map(this::tree).toArray(Tree[]::new);
    doing = "loading in bulk into " + to.stream().map(Known::name).toList();
    try (BulkLoad load = store.bulkLoad(all)) {
      acked = now;
      Map<Known, Long> lifetimes = new HashMap<>();
      for (Known each : to) {
        lifetimes.put(each, lifetime(tree(each)));
        entries.get(each).forEach((key, value) -> load.add(tree(each), key, value.bytes()));
        if (random.nextInt(3) == 0) {
          write();
        }
      }
      if (random.nextInt(5) == 0) {
        return;
      }
      doing = "committing a load";
      long at = begin();
      for (Known each : to) {
        entries.get(each).forEach((key, value) -> each.write(key, value, at, lifetimes.get(each)));
      }
      boolean unlogged = to.stream().anyMatch(each -> !each.logged());
      if (unlogged) {
        nextCheckpoint = now;
      }
      load.commit();
      returned = now;
      if (unlogged) {
        checkpoint = nextCheckpoint;
      }
      acked = now;
      manifestAcked = now;
    }
  }

  private void transaction() {
    boolean logged = anyTree().logged();
    List<Known> to =
        live().stream()
            .filter(tree -> tree.logged() == logged)
            .filter(
                tree -> {
                  long lifetime = tree(tree).timeToLive().toMillis();
                  return lifetime == 0 || lifetime > 100_000;
                })
            .limit(6)
            .toList();
    if (to.isEmpty()) {
      return;
    }
    doing = "a transaction";
    Durability durability = anyDurability();
    TransactionOptions how =
        TransactionOptions.builder()
            .locking(random.nextBoolean() ? Locking.OPTIMISTIC : Locking.PESSIMISTIC)
            .isolation(Isolation.values()[random.nextInt(Isolation.values().length)])
            .durability(durability)
            .build();
    long at = begin();
    try (Transaction transaction = store.begin(how)) {
      play(transaction, to, at);
      if (random.nextInt(4) == 0) {
        Savepoint savepoint = transaction.savepoint();
        Map<Known, Map<byte[], Integer>> sizes = new HashMap<>();
        for (Known each : to) {
          Map<byte[], Integer> size = new TreeMap<>(each.keys.comparator());
          each.keys.forEach((key, versions) -> size.put(key, versions.size()));
          sizes.put(each, size);
        }
        play(transaction, to, at);
        transaction.rollbackTo(savepoint);
        for (Known each : to) {
          each.keys.forEach(
              (key, versions) -> {
                int size = sizes.get(each).getOrDefault(key, 0);
                while (versions.size() > size) {
                  versions.remove(versions.size() - 1);
                }
              });
          each.forget(version -> false);
        }
      }
      if (random.nextInt(4) == 0) {
        transaction.rollback();
        trees.forEach(tree -> tree.forget(version -> version.at() == at));
        returned = now;
        return;
      }
      attempt(false, transaction::commit);
    }
  }

  private void play(Transaction transaction, List<Known> to, long at) {
    for (int i = random.nextInt(10); i >= 0; i--) {
      Known of = to.get(random.nextInt(to.size()));
      Tree tree = tree(of);
      byte[] key = anyKey(of);
      ModelValue value = ModelValue.of(random, 20 + random.nextInt(600), now + i);
      switch (random.nextInt(8)) {
        case 0 -> {
          transaction.delete(tree, key);
          of.write(key, null, at);
        }
        case 1 -> {
          byte @Nullable [][] range = anyRange(of);
          transaction.deleteRange(tree, range[0], range[1]);
          of.deleteRange(range[0], range[1], at);
        }
        case 2, 3 -> {
          if (merges(of, key)) {
            transaction.merge(tree, key, value.bytes());
            of.merge(key, value.bytes(), at, lifetime(tree), millis());
          }
        }
        default -> {
          transaction.put(tree, key, value.bytes());
          of.write(key, value, at, lifetime(tree));
        }
      }
      byte[] other = random.nextBoolean() ? key : anyKey(of);
      assertArrayEquals(of.get(other, at), transaction.get(tree, other), "in a transaction");
      if (random.nextInt(8) == 0) {
        try (Cursor cursor = transaction.cursor(tree)) {
          boolean more = cursor.first();
          for (byte[] expected : of.keys.keySet()) {
            byte[] content = of.get(expected, at);
            if (content != null) {
              assertTrue(more, "a transaction's cursor has ended");
              assertArrayEquals(expected, cursor.key());
              assertArrayEquals(content, cursor.value());
              more = cursor.next();
            }
          }
          assertTrue(!more, "a transaction's cursor goes on");
        }
      }
    }
  }

  // Reads.

  private @Nullable ModelSnapshot anySnapshot() {
    return snapshots.isEmpty() ? null : snapshots.get(random.nextInt(snapshots.size()));
  }

  private void read() {
    Known from = anyTree();
    Tree tree = tree(from);
    ModelSnapshot snapshot = random.nextInt(3) == 0 ? anySnapshot() : null;
    long at = snapshot == null ? now : snapshot.at;
    for (int i = 0; i < 8; i++) {
      byte[] key = anyKey(from);
      byte[] expected = from.get(key, at);
      doing = "getting " + SimulatedWorld.text(key) + " from " + from.name();
      if (snapshot != null) {
        assertArrayEquals(expected, tree.get(key, snapshot.snapshot));
        List<byte[]> keys = List.of(key, anyKey(from), anyKey(from));
        List<byte @Nullable []> values = tree.multiGet(keys, snapshot.snapshot);
        for (int k = 0; k < keys.size(); k++) {
          assertArrayEquals(from.get(keys.get(k), at), values.get(k));
        }
        continue;
      }
      switch (random.nextInt(3)) {
        case 0 -> {
          List<byte[]> keys = List.of(key, anyKey(from), anyKey(from));
          List<byte @Nullable []> values = tree.multiGet(keys);
          for (int k = 0; k < keys.size(); k++) {
            assertArrayEquals(from.get(keys.get(k), at), values.get(k));
          }
        }
        case 1 -> {
          byte[] seen =
              tree.read(
                  key,
                  value -> {
                    byte[] copy = new byte[value.remaining()];
                    value.get(copy);
                    return copy;
                  });
          assertArrayEquals(expected, seen);
        }
        default -> assertArrayEquals(expected, tree.get(key));
      }
    }
  }

  /** Many, so that windows of adaptation end. */
  private void reads() {
    Known from = anyTree();
    Tree tree = tree(from);
    doing = "many reads of " + from.name();
    for (int i = 0; i < 400; i++) {
      byte[] key = anyKey(from);
      if (random.nextInt(4) == 0) {
        try (Cursor cursor = tree.cursor(CursorOptions.all().from(key))) {
          boolean more = cursor.first();
          for (int steps = 0; more && steps < 3; steps++) {
            more = cursor.next();
          }
        }
      } else {
        assertArrayEquals(from.get(key, now), tree.get(key));
      }
    }
  }

  private void openCursor() {
    if (cursors.size() >= 5) {
      return;
    }
    Known over = anyTree();
    ModelSnapshot snapshot = random.nextInt(3) == 0 ? anySnapshot() : null;
    byte @Nullable [][] range = random.nextBoolean() ? anyRange(over) : new byte @Nullable [2][];
    doing = "opening a cursor over " + over.name();
    cursors.add(
        ModelCursor.open(
            tree(over),
            over,
            snapshot == null ? now : snapshot.at,
            snapshot == null ? null : snapshot.snapshot,
            range[0],
            range[1]));
  }

  private void moveCursor() {
    if (!cursors.isEmpty()) {
      doing = "moving a cursor";
      ModelCursor cursor = cursors.get(random.nextInt(cursors.size()));
      cursor.stand();
      cursor.move(random, anyKey(anyTree()));
    }
  }

  private void endSomething() {
    if (random.nextBoolean() && !cursors.isEmpty()) {
      cursors.remove(random.nextInt(cursors.size())).close();
    } else if (!snapshots.isEmpty()) {
      snapshots.remove(random.nextInt(snapshots.size())).snapshot.close();
    }
  }

  private void checkAll() {
    tick();
    assertEquals(live().stream().map(Known::name).sorted().toList(), store.treeNames());
    for (Known tree : live()) {
      if (many && random.nextInt(8) != 0) {
        continue;
      }
      doing = "comparing all of " + tree.name();
      ModelCursor cursor = ModelCursor.open(tree(tree), tree, now, null, null, null);
      cursor.walkAll();
      cursor.close();
      assertTrue(
          tree.adjusted.contains(adjusted(tree(tree).options())),
          () -> tree.name() + " is " + adjusted(tree(tree).options()) + ", not " + tree.adjusted);
      for (byte[] key : tree.keys.keySet()) {
        if (random.nextInt(8) == 0) {
          assertArrayEquals(tree.get(key, now), tree(tree).get(key));
        }
      }
    }
  }

  // Copies.

  private static Map<String, TreeMap<byte[], byte[]>> read(Store of) {
    Map<String, TreeMap<byte[], byte[]>> contents = new TreeMap<>();
    for (String name : of.treeNames()) {
      Tree tree = of.tree(name);
      TreeMap<byte[], byte[]> entries =
          new TreeMap<>(ModelTree.comparator(tree.options().keyOrder()));
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          entries.put(cursor.key(), cursor.value());
        }
      }
      contents.put(name, entries);
    }
    return contents;
  }

  private static Found find(Store of) {
    StoreClock time = Inside.of(of).engine().snapshots().time();
    long from = time.getAsLong();
    Map<String, TreeMap<byte[], byte[]>> contents = read(of);
    Map<String, String> adjusted = new TreeMap<>();
    of.treeNames().forEach(name -> adjusted.put(name, adjusted(of.tree(name).options())));
    return new Found(contents, adjusted, from, time.getAsLong());
  }

  private void meanwhile() {
    if (looking || wrong != null || many && random.nextInt(40) != 0) {
      return;
    }
    StoreStats stats = store.stats();
    if (stats.writeMemoryBytes() * 2 >= stats.writeMemoryLimitBytes()) {
      return;
    }
    looking = true;
    SplittableRandom before = random;
    random = random.split();
    try {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> write();
        case 3 -> deleteRange();
        case 4 -> batch();
        case 5 -> changeShape();
        case 6 -> {
          store.flush();
          acked = now;
        }
        case 7, 8 -> world.background(random.nextInt(20));
        default -> {}
      }
    } catch (Throwable e) {
      wrong = e;
    } finally {
      random = before;
      looking = false;
    }
  }

  private void backup() throws IOException {
    endFault();
    doing = "a backup";
    long from = now;
    int every = crashEvery;
    crashEvery = 0;
    backupDisk.onMutation(storage -> meanwhile());
    BackupDirectory.Entry made = Inside.of(store).backup(backups, Long.MAX_VALUE);
    backupDisk.onMutation(storage -> {});
    crashEvery = every;
    checkWrong();
    List<Finding> findings = backups.verify();
    assertTrue(findings.isEmpty(), () -> "backups: " + findings);
    SimulatedStorage target = new SimulatedStorage(world.clock());
    backups.restore(made.id(), target);
    target.close();
    Found found = look(target);
    checkOneMoment(found, from);
    trees.forEach(Known::settle);
    held.put(made.id(), found.trees());
    while (held.size() > 3) {
      long gone = random.nextBoolean() ? held.firstKey() : held.lastKey();
      backups.delete(gone);
      held.remove(gone);
    }
  }

  /** Opens a copy with other options. */
  private Found look(SimulatedStorage target) throws IOException {
    SimulatedWorld other = new SimulatedWorld(target, random.nextLong());
    Found found;
    Store opened = openPatiently(other, someOptions());
    try (opened) {
      if (random.nextInt(3) == 0) {
        opened.treeNames().stream().limit(6).forEach(name -> opened.tree(name).compact(null, null));
      }
      found = find(opened);
    }
    other.checkClosed();
    return found;
  }

  private static Store openPatiently(SimulatedWorld in, StoreOptions with) {
    StoreOptions patient = with.toBuilder().writeTimeout(OptionLimits.FOREVER).build();
    try {
      return in.open(patient);
    } catch (IsobarException e) {
      Matcher told = Pattern.compile("a memoryBudget of (\\d+) bytes").matcher(e.getMessage());
      if (!told.find()) {
        throw e;
      }
      return in.open(
          patient.toBuilder().memoryBudget(Long.parseLong(told.group(1))).writeMemory(0).build());
    }
  }

  private void checkOneMoment(Found found, long from) {
    for (long at = now; at >= from; at--) {
      if (find(found, at, at, at, new HashMap<>(), from) != null) {
        return;
      }
    }
    throw new AssertionError(
        "the copy is of no moment from " + from + " to " + now + ": " + describe(found, from, now));
  }

  private void copy() throws IOException {
    endFault();
    doing = "a copy";
    long from = now;
    SimulatedStorage target = new SimulatedStorage(world.clock());
    int every = crashEvery;
    crashEvery = 0;
    target.onMutation(storage -> meanwhile());
    Inside.of(store).checkpointTo(target);
    target.onMutation(storage -> {});
    target.close();
    crashEvery = every;
    checkWrong();
    checkOneMoment(look(target.crash(random, CrashMode.ONLY_SYNCED)), from);
    trees.forEach(Known::settle);
    if (random.nextInt(3) == 0) {
      goOnWith(target);
    }
  }

  private void restore() throws IOException {
    if (held.isEmpty()) {
      return;
    }
    doing = "restoring";
    List<Long> ids = List.copyOf(held.keySet());
    long id = ids.get(random.nextInt(ids.size()));
    SimulatedStorage target = new SimulatedStorage(world.clock());
    backups.restore(id, target);
    target.close();
    goOnWith(target);
    Map<String, TreeMap<byte[], byte[]>> before = held.get(id);
    assertEquals(before.keySet(), new TreeSet<>(store.treeNames()));
    // What has expired since is gone.
    read(store)
        .forEach(
            (name, entries) ->
                entries.forEach(
                    (key, value) ->
                        assertArrayEquals(before.get(name).get(key), value, "restored")));
  }

  /** The store is closed, and another disk's goes on, of which the model is made anew. */
  private void goOnWith(SimulatedStorage disk) throws IOException {
    closeStore();
    world = new SimulatedWorld(disk, random.nextLong());
    open();
    trees.clear();
    clock.put(++now, millis());
    for (String name : store.treeNames()) {
      Tree tree = store.tree(name);
      Known known = new Known(name, tree.options(), clock, 0);
      known.adjusted.add(adjusted(tree.options()));
      try (Cursor cursor = tree.cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          Instant expires = cursor.expires();
          known.write(
              cursor.key(),
              ModelValue.made(cursor.value()),
              now,
              expires == null ? ModelTree.NEVER : expires.toEpochMilli());
        }
      }
      trees.add(known);
    }
    settled();
    while (live().size() < 2) {
      createTree();
    }
  }

  // Endings.

  private void settled() {
    acked = now;
    returned = now;
    manifestAcked = now;
    checkpoint = now;
    nextCheckpoint = now;
  }

  private void closeStore() throws IOException {
    doing = "closing the store";
    merges += store.stats().merges();
    if (random.nextBoolean()) {
      cursors.forEach(ModelCursor::close);
      snapshots.forEach(snapshot -> snapshot.snapshot.close());
    }
    nextCheckpoint = now;
    isOpen = false;
    store.close();
    settled();
    cursors.clear();
    snapshots.clear();
    world.storage().faults(FaultPlan.NONE);
    boolean clean = !hit && !littered;
    hit = false;
    littered = false;
    if (clean) {
      world.checkClosed();
    }
    assertEquals(0, world.storage().openFiles(), "open files");
  }

  private void open() {
    doing = "opening again";
    options = someOptions();
    try {
      store = world.open(options);
    } catch (IsobarException e) {
      Matcher told = Pattern.compile("a memoryBudget of (\\d+) bytes").matcher(e.getMessage());
      if (!told.find()) {
        throw e;
      }
      options =
          options.toBuilder().memoryBudget(Long.parseLong(told.group(1))).writeMemory(0).build();
      store = world.open(options);
    }
    isOpen = true;
    hook();
  }

  private void reopen() throws IOException {
    closeStore();
    if (random.nextInt(3) != 0) {
      world.decided(random.nextDouble());
    }
    open();
    checkAll();
  }

  private void crash() throws IOException {
    SplittableRandom dice = random.split();
    int which = dice.nextInt(5);
    doing = "a crash";
    SimulatedStorage disk = crashed(which, dice);
    world.storage().onMutation(storage -> {});
    world.storage().faults(FaultPlan.NONE);
    merges += store.stats().merges();
    isOpen = false;
    try {
      store.close();
    } catch (IsobarException e) {
      if (!hit) {
        throw e;
      }
    }
    hit = false;
    cursors.clear();
    snapshots.clear();
    world = new SimulatedWorld(disk, dice.nextLong());
    goOn(which == 4);
  }

  /** Opens what was left, checks it, and goes on with what there is. */
  private void goOn(boolean killed) throws IOException {
    open();
    Found found = find(store);
    Moment moment = check(found, killed);
    closing.clear();
    cut(moment, found);
    clock.put(++now, millis());
    settled();
    while (live().size() < 2) {
      createTree();
    }
    checkAll();
  }

  private SimulatedStorage crashed(int which, SplittableRandom dice) {
    return which == 4
        ? world.storage().copy()
        : world.storage().crash(dice, CrashMode.values()[which]);
  }

  private void cut(Moment moment, Found found) {
    trees.removeIf(tree -> !tree.isAt(moment.manifest));
    for (Known tree : trees) {
      long end = tree.logged() ? moment.log : moment.checkpoint;
      tree.forget(version -> version.at() > end);
      tree.droppedAt = Long.MAX_VALUE;
      tree.createdAt = 0;
      String name = tree.nameAt(moment.manifest);
      tree.names.clear();
      tree.names.put(0L, name);
      tree.adjusted.clear();
      tree.adjusted.add(found.adjusted.get(name));
    }
  }

  /** Looks at what crashes before this call would leave. */
  private void mayCrash(SimulatedStorage storage) {
    if (looking || wrong != null || crashEvery == 0 || crashes.nextInt(crashEvery) != 0) {
      return;
    }
    looking = true;
    String before = doing;
    SplittableRandom dice = crashes.split();
    int which = dice.nextInt(5);
    SplittableRandom kept = random;
    random = dice;
    try {
      doing = before + ", a crash before call " + storage.mutations() + ", mode " + which;
      verify(crashed(which, dice), which == 4, dice, 1);
      doing = before;
    } catch (Throwable e) {
      wrong = e;
    } finally {
      random = kept;
      looking = false;
    }
  }

  private void verify(SimulatedStorage disk, boolean killed, SplittableRandom dice, int depth)
      throws IOException {
    states++;
    List<SimulatedStorage> twice = new ArrayList<>();
    List<Boolean> killedTwice = new ArrayList<>();
    if (depth < 3 && dice.nextInt(3) == 0) {
      SplittableRandom second = dice.split();
      int at = second.nextInt(30);
      long first = disk.mutations();
      disk.onMutation(
          recovering -> {
            if (recovering.mutations() - first == at) {
              int which = second.nextInt(5);
              twice.add(
                  which == 4
                      ? recovering.copy()
                      : recovering.crash(second, CrashMode.values()[which]));
              killedTwice.add(which == 4);
            }
          });
    }
    if (dice.nextInt(2) == 0) {
      lookOnly(disk.copy(), killed, dice);
    }
    SimulatedWorld other = new SimulatedWorld(disk, dice.nextLong());
    StoreOptions with = dice.nextBoolean() ? options : someOptions();
    Store opened = openPatiently(other, with);
    try (opened) {
      disk.onMutation(hooked -> {});
      other.background(dice.nextInt(12));
      Moment moment = check(find(opened), killed);
      switch (dice.nextInt(6)) {
        case 0 -> {
          opened.awaitQuiet();
          check(find(opened), killed);
        }
        case 1 -> {
          opened.treeNames().stream()
              .limit(6)
              .forEach(name -> opened.tree(name).compact(null, null));
          check(find(opened), killed);
        }
        case 2 -> {
          SimulatedWorld again =
              new SimulatedWorld(disk.crash(dice, CrashMode.ONLY_SYNCED), dice.nextLong());
          try (Store third = openPatiently(again, with)) {
            Moment later = check(find(third), killed);
            assertTrue(later.log >= moment.log || same(moment, later), () -> moment + ", " + later);
          }
        }
        default -> {}
      }
    }
    if (dice.nextInt(4) == 0) {
      other.checkClosed();
      try (Store third = openPatiently(other, with)) {
        check(find(third), killed);
      }
      other.checkClosed();
    }
    for (int i = 0; i < twice.size(); i++) {
      verify(twice.get(i), killed && killedTwice.get(i), dice, depth + 1);
    }
  }

  /** Opens a disk to be read only, which changes nothing. */
  private void lookOnly(SimulatedStorage disk, boolean killed, SplittableRandom dice)
      throws IOException {
    SimulatedClock time = disk.newClock();
    StoreOptions with =
        someOptions().toBuilder()
            .memoryBudget(READING_BYTES)
            .writeMemory(0)
            .createIfMissing(false)
            .build();
    long before = disk.mutations();
    try (Store opened =
        Inside.open(
            new Environment(
                new PrivateStorage(disk, READING_BYTES),
                time,
                new NoJobs(new SimulatedScheduler(time, dice.nextLong())),
                dice.split()),
            with)) {
      check(find(opened), killed);
    } catch (IsobarException | UncheckedIOException e) {
      if (!e.getMessage().contains("memoryBudget")) {
        throw e;
      }
    }
    assertEquals(before, disk.mutations(), "changed by reading");
    assertEquals(0, disk.openFiles(), "open files");
  }

  /** Later moments are found first, and one that holds the same may be gone by then. */
  private boolean same(Moment one, Moment other) {
    return one.log == other.log || one.checkpoint != other.checkpoint;
  }

  // Faults.

  private void planFault() {
    if (hit || !faulty) {
      return;
    }
    SimulatedStorage storage = world.storage();
    long first = storage.operations() + random.nextInt(1 + random.nextInt(400));
    boolean[] over = {false};
    int which = random.nextInt(9);
    fault =
        List.of(
                "EIO read",
                "short read",
                "EIO sync",
                "EIO write",
                "EIO rename",
                "EIO delete",
                "ENOSPC",
                "ENOSPC short",
                "EIO create")
            .get(which);
    storage.faults(
        (operation, file, index) -> {
          if (index < first || over[0]) {
            return Fault.NONE;
          }
          boolean allocates = operation == Operation.CREATE || operation == Operation.WRITE;
          Fault happens =
              switch (which) {
                case 0 -> operation == Operation.READ ? Fault.EIO : Fault.NONE;
                case 1 -> operation == Operation.READ ? Fault.SHORT_READ : Fault.NONE;
                case 2 -> operation == Operation.SYNC ? Fault.EIO : Fault.NONE;
                case 3 -> operation == Operation.WRITE ? Fault.SHORT_THEN_EIO : Fault.NONE;
                case 4 -> operation == Operation.RENAME ? Fault.EIO : Fault.NONE;
                case 5 -> operation == Operation.DELETE ? Fault.EIO : Fault.NONE;
                case 6 -> allocates ? Fault.ENOSPC : Fault.NONE;
                case 7 -> allocates ? Fault.SHORT_THEN_ENOSPC : Fault.NONE;
                default -> operation == Operation.CREATE ? Fault.EIO : Fault.NONE;
              };
          hit |= happens != Fault.NONE;
          over[0] |= happens != Fault.NONE && which != 6 && which != 7;
          return happens;
        });
  }

  private void endFault() {
    world.storage().faults(FaultPlan.NONE);
    if (hit) {
      hit = false;
      littered = fault.equals("EIO delete");
      world.pass(2_000_000_000L);
      if (isOpen && store.failure() != null) {
        try {
          goOnAfterFault();
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  /** An exception has told of it: reads go on, and what was acknowledged stays. */
  private void afterFault(Throwable told) throws IOException {
    String before = doing;
    world.storage().faults(FaultPlan.NONE);
    hit = false;
    if (isOpen) {
      doing = before + ", " + fault + ", reading after " + told;
      Found found = find(store);
      boolean fits = false;
      for (long at = now; at >= Math.min(returned, now - 1) && !fits; at--) {
        for (long manifest = now; manifest >= Math.min(returned, now - 1); manifest--) {
          fits |=
              find(found, at, manifest, at, new HashMap<>(), Math.min(returned, now - 1)) != null;
        }
      }
      if (!fits) {
        throw new AssertionError(
            "what is there fits neither with nor without the last write: "
                + describe(found, returned, now),
            told);
      }
    }
    doing = before + ", " + fault + ", going on after " + told;
    goOnAfterFault();
  }

  private void goOnAfterFault() throws IOException {
    SplittableRandom dice = random.split();
    world.storage().onMutation(storage -> {});
    int which = dice.nextInt(8);
    SimulatedStorage disk = which < 4 ? crashed(which, dice) : null;
    cursors.clear();
    snapshots.clear();
    merges += isOpen ? store.stats().merges() : 0;
    closing.clear();
    if (disk == null) {
      closing.add(now);
      closing.add(Math.max(0, now - 1));
    }
    try {
      store.close();
    } catch (IsobarException e) {
      // It may say so again.
    }
    assertEquals(0, world.storage().openFiles(), "open files");
    SimulatedStorage left = disk == null ? world.storage().copy() : disk;
    world = new SimulatedWorld(left, dice.nextLong());
    goOn(disk == null);
  }

  // What there may be.

  private Moment check(Found found, boolean killed) {
    long least = killed ? Math.max(acked, returned) : acked;
    long base = Math.min(least, points().stream().mapToLong(Long::longValue).min().orElseThrow());
    Map<String, BitSet> fits = new HashMap<>();
    for (long log = now; log >= least; log--) {
      for (long manifest = now; manifest >= Math.max(log, manifestAcked); manifest--) {
        for (long point : points()) {
          Moment moment = find(found, log, manifest, point, fits, base);
          if (moment != null) {
            return moment;
          }
        }
        if (!isChange(manifest)) {
          // The same as one before, down to the last change.
          long changed = lastChange(manifest);
          if (changed < Math.max(log, manifestAcked)) {
            break;
          }
          manifest = changed + 1;
        }
      }
    }
    throw new AssertionError(
        "no moment from "
            + least
            + " to "
            + now
            + " (returned "
            + returned
            + ", acked "
            + acked
            + ", manifest "
            + manifestAcked
            + ", checkpoints "
            + checkpoint
            + ", "
            + nextCheckpoint
            + ") makes this: "
            + describe(found, base, now));
  }

  private List<Long> points() {
    List<Long> points = new ArrayList<>(closing);
    points.add(nextCheckpoint);
    points.add(checkpoint);
    return points;
  }

  private boolean isChange(long at) {
    return lastChange(at) == at;
  }

  /** The last change of trees up to a moment. */
  private long lastChange(long at) {
    long last = -1;
    for (Known tree : trees) {
      last = tree.createdAt <= at ? Math.max(last, tree.createdAt) : last;
      last = tree.droppedAt <= at ? Math.max(last, tree.droppedAt) : last;
      Long name = tree.names.floorKey(at);
      last = name == null ? last : Math.max(last, name);
    }
    return last;
  }

  private @Nullable Moment find(
      Found found, long log, long manifest, long point, Map<String, BitSet> fits, long base) {
    int count = 0;
    for (Known tree : trees) {
      if (!tree.isAt(manifest)) {
        continue;
      }
      String name = tree.nameAt(manifest);
      TreeMap<byte[], byte[]> entries = found.trees.get(name);
      if (entries == null) {
        return null;
      }
      count++;
      BitSet moments =
          fits.computeIfAbsent(
              name + " " + trees.indexOf(tree), key -> fitting(tree, entries, found, base));
      if (!moments.get((int) ((tree.logged() ? log : point) - base))) {
        return null;
      }
      if (!tree.adjusted.contains(found.adjusted.get(name))) {
        throw new AssertionError(
            name + " is " + found.adjusted.get(name) + ", not " + tree.adjusted);
      }
    }
    return count == found.trees.size() ? new Moment(log, manifest, point) : null;
  }

  private BitSet fitting(Known tree, TreeMap<byte[], byte[]> entries, Found found, long base) {
    BitSet moments = new BitSet();
    moments.set(0, (int) (now - base) + 1);
    int known = 0;
    for (Map.Entry<byte[], List<ModelTree.Version>> key : tree.keys.entrySet()) {
      byte[] value = entries.get(key.getKey());
      known += value == null ? 0 : 1;
      narrow(moments, base, key.getValue(), value, found);
    }
    if (known != entries.size()) {
      moments.clear();
    }
    return moments;
  }

  private static void narrow(
      BitSet moments,
      long base,
      List<ModelTree.Version> versions,
      byte @Nullable [] value,
      Found found) {
    int end = moments.length();
    for (int i = versions.size() - 1; i >= 0 && end > 0; i--) {
      ModelTree.Version version = versions.get(i);
      int from = (int) Math.max(0, version.at() - base);
      if (from < end) {
        if (!version.is(value, found.from, found.to)) {
          moments.clear(from, end);
        }
        end = from;
      }
    }
    if (end > 0 && value != null) {
      moments.clear(0, end);
    }
  }

  private String describe(Found found, long base, long to) {
    StringBuilder text = new StringBuilder("trees " + found.trees.keySet() + " of ");
    for (Known tree : trees) {
      text.append(tree.names)
          .append(tree.createdAt)
          .append("..")
          .append(tree.droppedAt)
          .append(tree.logged() ? " " : " unlogged ");
      for (String name : new TreeSet<>(tree.names.values())) {
        TreeMap<byte[], byte[]> entries = found.trees.get(name);
        if (entries == null) {
          continue;
        }
        BitSet all = fitting(tree, entries, found, base);
        text.append(" as ").append(name).append(" fits ").append(ranges(all, base));
        if (all.isEmpty()) {
          tree.keys.forEach(
              (key, versions) -> {
                BitSet fits = new BitSet();
                fits.set(0, (int) (to - base) + 1);
                narrow(fits, base, versions, entries.get(key), found);
                if (fits.cardinality() < to - base + 1 && text.length() < 4000) {
                  text.append("\n   ")
                      .append(SimulatedWorld.text(key))
                      .append(" fits ")
                      .append(ranges(fits, base))
                      .append(" versions ")
                      .append(
                          versions.stream()
                              .map(
                                  v ->
                                      v.at()
                                          + (v.value() == null ? "-" : "+" + v.value().length())
                                          + (v.expires() == ModelTree.NEVER
                                              ? ""
                                              : " until " + v.expires()))
                              .toList())
                      .append(entries.get(key) == null ? " absent" : " " + entries.get(key).length);
                }
              });
        }
      }
      text.append("; ");
    }
    return text + " read from " + found.from + " to " + found.to;
  }

  private static String ranges(BitSet moments, long base) {
    StringBuilder text = new StringBuilder();
    for (int from = moments.nextSetBit(0); from >= 0 && text.length() < 200; ) {
      int to = moments.nextClearBit(from);
      text.append(base + from).append("..").append(base + to - 1).append(' ');
      from = moments.nextSetBit(to);
    }
    return text.isEmpty() ? "none" : text.toString();
  }

  @Override
  public String toString() {
    return "line " + (step + 1) + ", " + doing + "; " + options;
  }
}
