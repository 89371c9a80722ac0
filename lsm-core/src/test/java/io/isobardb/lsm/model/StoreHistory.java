package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.ModelTree;
import io.isobardb.lsm.simulation.ModelValue;
import io.isobardb.lsm.simulation.SimulatedWorld;
import io.isobardb.lsm.simulation.TailOperator;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One history of a simulated store, as a {@link HistoryScript} has it, checked step by step against
 * a {@link ModelTree} each.
 */
final class StoreHistory {
  private static final long[] LIFETIMES = {50, 1000, 86_400_000};

  private static final Runs[] SHAPES = {Runs.lazy(2), Runs.tiered(2), Runs.of(3, 1, 1)};

  private record ModelSnapshot(Snapshot snapshot, long at) {}

  private final List<String> lines;
  private final UnaryOperator<Storage> disks;

  /** Says the details of the line that is being run; {@link #times}, what expires when. */
  private SplittableRandom random;

  private SplittableRandom times = new SplittableRandom(1);

  private final SimulatedWorld world;
  private final TreeMap<String, ModelTree> model = new TreeMap<>();

  /** Counts writes, and what happens at another time than what was before. */
  private long now;

  /** The time from each {@link #now} on. */
  private final TreeMap<Long, Long> clock = new TreeMap<>();

  /** How far the machine's clock is ahead. */
  private long leaptMillis;

  private final List<ModelSnapshot> snapshots = new ArrayList<>();
  private final List<ModelCursor> cursors = new ArrayList<>();
  private final int pageSize;
  private final boolean large;
  private StoreOptions options;
  private Store store;
  private int step;
  private int named;
  private long refused;
  private String doing = "opening";
  private long flushes;
  private long merges;

  StoreHistory(List<String> lines) {
    this(lines, UnaryOperator.identity());
  }

  /**
   * @param disks wraps each disk that a store is opened on, to plant bugs
   */
  StoreHistory(List<String> lines, UnaryOperator<Storage> disks) {
    this.lines = lines;
    this.disks = disks;
    random = new SplittableRandom(HistoryScript.store(lines));
    world = new SimulatedWorld(random.nextLong());
    world.storage().supportsDirect(random.nextBoolean());
    pageSize = 4096 << random.nextInt(5);
    large = random.nextInt(3) == 0;
    options = HistoryOptions.some(random, pageSize);
    store = world.open(options, disks.apply(world.storage()));
  }

  long flushes() {
    return flushes;
  }

  /** Writes that were refused, as they would have waited. */
  long refused() {
    return refused;
  }

  long merges() {
    return merges;
  }

  /** See {@link SimulatedWorld#trace}. */
  long trace() {
    return world.trace();
  }

  /** What the store holds, for whoever looks into a failure. */
  String ledger() {
    return store.stats().toJson();
  }

  /**
   * Runs all lines, then opens the store again and closes it.
   *
   * @throws AssertionError if anything was wrong; tells the line
   */
  void run() {
    try {
      createTree();
      for (step = 1; step < lines.size(); step++) {
        HistoryScript.Line line = HistoryScript.Line.of(lines.get(step));
        Watchdog.mark(lines.get(step));
        random = new SplittableRandom(line.number());
        times = new SplittableRandom(~line.number());
        tick();
        operation(line.kind());
        doing += ", then background work";
        world.background(line.background());
      }
      Watchdog.mark("opening again and closing");
      reopen();
      closeStore();
      world.checkClosed();
    } catch (IOException | RuntimeException | Error e) {
      AssertionError told = new AssertionError(this + ": " + e, e);
      abandon(told);
      throw told;
    }
  }

  /** Gives the memory back, for those who run many histories that fail. */
  private void abandon(AssertionError why) {
    try {
      store.close();
    } catch (RuntimeException | Error e) {
      why.addSuppressed(e);
    }
  }

  private void operation(HistoryScript.Kind kind) throws IOException {
    switch (kind) {
      case WRITE -> orRefused(this::write);
      case BATCH -> orRefused(this::batch);
      case RANGE -> orRefused(this::deleteRange);
      case BURST -> orRefused(this::burst);
      case READ -> read();
      case CURSOR -> openCursor();
      case MOVE -> moveCursor();
      case SNAPSHOT -> snapshot();
      case END -> endSomething();
      case MAINTAIN -> maintain();
      case CREATE -> createTree();
      case DROP -> dropTree();
      case REOPEN -> reopen();
      case CHECK -> checkAll();
      case TIME -> {
        doing = "passing time";
        world.pass(random.nextLong(400_000_000));
        if (times.nextInt(3) == 0) {
          doing = "a leap of the clock";
          leap(leaptMillis == 0 ? times.nextLong(StoreClock.LEAP_MILLIS * 2, 1L << 34) : 0);
        }
      }
    }
  }

  /** Writes. What is refused since it would have to wait is not in the model. */
  private void orRefused(Runnable writes) {
    try {
      writes.run();
    } catch (WriteStalledException e) {
      refused++;
    }
  }

  private void createTree() {
    if (model.size() >= 5) {
      return;
    }
    TreeOptions.Builder some =
        TreeOptions.builder()
            .keyOrder(random.nextInt(3) == 0 ? FallingOrder.FALLING : KeyOrder.BYTES)
            .compression(DeflateCodec.any(random))
            .filterBitsPerKey(random.nextInt(4) == 0 ? 0 : 10);
    if (random.nextBoolean()) {
      some.mergeOperator(TailOperator.TAIL);
    }
    if (times.nextInt(4) == 0) {
      some.timeToLive(Duration.ofMillis(LIFETIMES[times.nextInt(LIFETIMES.length)]));
    }
    if (times.nextInt(3) == 0) {
      some.runs(SHAPES[times.nextInt(SHAPES.length)]).maxSpace(2.5);
    }
    TreeOptions treeOptions = some.build();
    // Names come back, so that what a dropped tree left would show.
    String name = "tree-" + (named++ % 7);
    if (model.containsKey(name)) {
      return;
    }
    doing = "creating " + name;
    store.createTree(name, treeOptions);
    model.put(name, new ModelTree(name, treeOptions, at -> clock.floorEntry(at).getValue()));
  }

  private void dropTree() {
    if (model.size() < 2) {
      return;
    }
    ModelTree tree = anyTree();
    doing = "dropping " + tree.name;
    store.dropTree(tree.name);
    model.remove(tree.name);
    cursors.removeIf(cursor -> cursor.isOver(tree));
  }

  private ModelTree anyTree() {
    List<ModelTree> trees = new ArrayList<>(model.values());
    // The first tree gets most of the work.
    return trees.get(random.nextBoolean() ? 0 : random.nextInt(trees.size()));
  }

  private byte[] anyKey(ModelTree tree) {
    return HistoryEntries.anyKey(random, tree, pageSize, large);
  }

  private ModelValue anyValue(Tree tree) {
    return HistoryEntries.anyValue(random, tree, pageSize, large);
  }

  /** The time of the store's clock. */
  private long millis() {
    return Inside.of(store).engine().snapshots().time().getAsLong();
  }

  /** The machine's clock leaps, to so far ahead. */
  private void leap(long toMillis) {
    world.clock().jumpWall(toMillis - leaptMillis);
    leaptMillis = toMillis;
    tick();
  }

  /** What is read from now on is judged by the time that it is. */
  private void tick() {
    clock.put(++now, millis());
  }

  /** When what is written now expires that does not say. */
  private long lifetime(ModelTree of) {
    long lifetime = of.options.timeToLive().toMillis();
    return lifetime == 0 ? ModelTree.NEVER : millis() + lifetime;
  }

  private void write() {
    ModelTree to = anyTree();
    Tree tree = store.tree(to.name);
    byte[] key = anyKey(to);
    if (random.nextInt(5) == 0) {
      doing = "deleting " + SimulatedWorld.text(key) + " from " + to.name;
      if (random.nextBoolean()) {
        tree.delete(key);
      } else {
        tree.delete(key, random.nextInt(4) == 0 ? Durability.SYNC : Durability.ASYNC);
      }
      to.write(key, null, ++now);
      return;
    }
    ModelValue value = anyValue(tree);
    byte[] bytes = value.bytes();
    long lifetime = lifetime(to);
    if (merges(to, key)) {
      doing = "merging into " + SimulatedWorld.text(key) + " of " + to.name;
      long written = millis();
      tree.merge(key, bytes);
      to.merge(key, bytes, ++now, lifetime, written);
      return;
    }
    doing = "putting " + SimulatedWorld.text(key) + " into " + to.name;
    if (random.nextInt(8) == 0) {
      putUntil(to, key, value);
      return;
    }
    switch (random.nextInt(3)) {
      case 0 -> tree.put(key, bytes);
      case 1 -> tree.put(key, bytes, random.nextInt(4) == 0 ? Durability.SYNC : Durability.ASYNC);
      default -> {
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 3).position(3);
        direct.put(3, bytes);
        tree.put(ByteBuffer.wrap(key), direct);
      }
    }
    to.write(key, value, ++now, lifetime);
  }

  /** Puts what expires at once, within the time of some operations, or after the history. */
  private void putUntil(ModelTree to, byte[] key, ModelValue value) {
    boolean soon = random.nextBoolean();
    long left = soon ? 2 : times.nextBoolean() ? 1L << 40 : 1 + times.nextInt(1000);
    long expires = millis() + left;
    store.tree(to.name).put(key, value.bytes(), Instant.ofEpochMilli(expires));
    to.write(key, value, ++now, expires);
    world.pass(soon ? 2_000_000 : 0);
  }

  /**
   * Whether the next write of a key is a merge. What expires soon is not merged with: the write may
   * have to wait before it counts.
   */
  private boolean merges(ModelTree to, byte[] key) {
    long left = to.expires(key) - millis();
    return to.options.mergeOperator() != null && random.nextBoolean() && (left <= 0 || left > 1000);
  }

  /** Two keys in their order; either may be null for no bound. */
  private byte @Nullable [][] anyRange(ModelTree of) {
    return HistoryEntries.anyRange(random, of, 10, () -> anyKey(of));
  }

  private void deleteRange() {
    ModelTree to = anyTree();
    byte @Nullable [][] range = anyRange(to);
    doing = "deleting a range of " + to.name;
    store.tree(to.name).deleteRange(range[0], range[1]);
    to.deleteRange(range[0], range[1], ++now);
  }

  private void batch() {
    WriteBatch batch = store.newBatch();
    long at = now + 1;
    doing = "writing a batch";
    List<Runnable> effects = new ArrayList<>();
    boolean asMuchAsFits = random.nextInt(6) == 0;
    // A value may take a quarter of the write memory, and a batch half of it.
    long quarter = store.tree(anyTree().name).maxValueBytes();
    long most = asMuchAsFits ? 2 * quarter : Math.min(quarter, 64 << 10);
    for (int i = asMuchAsFits ? 4000 : random.nextInt(20); i >= 0; i--) {
      ModelTree to = anyTree();
      Tree tree = store.tree(to.name);
      byte[] key = anyKey(to);
      if (random.nextInt(16) == 0) {
        byte @Nullable [][] range = anyRange(to);
        batch.deleteRange(tree, range[0], range[1]);
        effects.add(() -> to.deleteRange(range[0], range[1], at));
      }
      ModelValue value = random.nextInt(4) == 0 ? null : anyValue(tree);
      if (batch.sizeBytes() + (value == null ? 0 : value.length()) > most) {
        break;
      }
      boolean merged = value != null && !asMuchAsFits && merges(to, key);
      long lifetime = lifetime(to);
      long written = millis();
      if (value == null) {
        batch.delete(tree, key);
      } else if (merged) {
        batch.merge(tree, key, value.bytes());
      } else {
        batch.put(tree, key, value.bytes());
      }
      effects.add(
          () -> {
            if (merged) {
              to.merge(key, value.bytes(), at, lifetime, written);
            } else {
              to.write(key, value, at, value == null ? ModelTree.NEVER : lifetime);
            }
          });
    }
    try {
      store.write(batch);
    } catch (IllegalArgumentException e) {
      // Near the limit it counts what entries cost besides.
      assertTrue(asMuchAsFits && e.getMessage().contains("more than half"), e.toString());
      return;
    }
    effects.forEach(Runnable::run);
    now = at;
  }

  private void burst() {
    ModelTree to = anyTree();
    Tree tree = store.tree(to.name);
    int count = random.nextInt(large ? 3000 : 400);
    int from = random.nextInt(200_000);
    int stride = random.nextInt(3);
    int length = random.nextInt(4) == 0 ? pageSize / 8 : 30 + random.nextInt(300);
    for (int i = 0; i < count; i++) {
      doing = "put " + i + " of a burst of " + count + " into " + to.name;
      byte[] key = stride == 0 ? anyKey(to) : HistoryEntries.key("k", from + i * stride, 3);
      ModelValue value = ModelValue.of(random, length, i);
      byte[] hot = HistoryEntries.key("hot", i & 7, 1);
      long lifetime = lifetime(to);
      if (merges(to, hot)) {
        long written = millis();
        tree.merge(hot, value.bytes());
        to.merge(hot, value.bytes(), ++now, lifetime, written);
      } else {
        tree.put(key, value.bytes());
        to.write(key, value, ++now, lifetime);
      }
      if ((i & 15) == 0) {
        world.background(random.nextInt(3));
      }
    }
  }

  private void bulkLoad() {
    ModelTree to = anyTree();
    Tree tree = store.tree(to.name);
    doing = "loading in bulk into " + to.name;
    TreeMap<byte[], ModelValue> entries = new TreeMap<>(to.keys.comparator());
    IntStream.range(0, 1 + random.nextInt(large ? 1500 : 300))
        .forEach(i -> entries.put(anyKey(to), anyValue(tree)));
    long lifetime;
    try (BulkLoad load = store.bulkLoad(tree)) {
      lifetime = lifetime(to);
      entries.forEach((key, value) -> load.add(tree, key, value.bytes()));
      orRefused(this::write);
      load.commit();
    }
    now++;
    entries.forEach((key, value) -> to.write(key, value, now, lifetime));
  }

  private void read() {
    ModelTree from = anyTree();
    Tree tree = store.tree(from.name);
    ModelSnapshot snapshot = random.nextInt(3) == 0 ? anySnapshot() : null;
    long at = snapshot == null ? now : snapshot.at;
    for (int i = 0; i < 8; i++) {
      byte[] key = anyKey(from);
      byte[] expected = from.get(key, at);
      doing = "getting " + SimulatedWorld.text(key) + " from " + from.name;
      switch (snapshot != null ? random.nextInt(2) : random.nextInt(5)) {
        case 0 ->
            assertArrayEquals(
                expected, snapshot == null ? tree.get(key) : tree.get(key, snapshot.snapshot));
        case 1 -> readInto(tree, key, expected, snapshot == null ? null : snapshot.snapshot);
        case 2 -> {
          byte[] seen = tree.read(key, HistoryEntries::copy);
          assertArrayEquals(expected, seen);
        }
        case 3 -> {
          List<byte[]> keys = List.of(key, anyKey(from), anyKey(from));
          List<byte @Nullable []> values = tree.multiGet(keys);
          for (int k = 0; k < keys.size(); k++) {
            assertArrayEquals(from.get(keys.get(k), at), values.get(k));
          }
        }
        default -> assertArrayEquals(expected, tree.get(key));
      }
    }
  }

  private void readInto(
      Tree tree, byte[] key, byte @Nullable [] expected, @Nullable Snapshot snapshot) {
    int room = random.nextBoolean() ? 200_000 : random.nextInt(400);
    ByteBuffer target = ByteBuffer.allocate(room + 5).position(5);
    int length = snapshot == null ? tree.get(key, target) : tree.get(key, target, snapshot);
    assertEquals(expected == null ? Tree.NOT_FOUND : expected.length, length);
    if (expected == null || length > room) {
      assertEquals(5, target.position());
    } else {
      assertEquals(5 + length, target.position());
      assertArrayEquals(expected, Arrays.copyOfRange(target.array(), 5, 5 + length));
    }
  }

  private @Nullable ModelSnapshot anySnapshot() {
    return snapshots.isEmpty() ? null : snapshots.get(random.nextInt(snapshots.size()));
  }

  private void snapshot() {
    if (snapshots.size() < 6) {
      doing = "taking a snapshot";
      snapshots.add(new ModelSnapshot(store.snapshot(), now));
    }
  }

  private void openCursor() {
    if (cursors.size() >= 4) {
      return;
    }
    ModelTree over = anyTree();
    ModelSnapshot snapshot = random.nextInt(3) == 0 ? anySnapshot() : null;
    byte[] from = random.nextInt(3) == 0 ? anyKey(over) : null;
    byte[] to = random.nextInt(3) == 0 ? anyKey(over) : null;
    if (from != null && to != null && over.keys.comparator().compare(from, to) > 0) {
      byte[] swapped = from;
      from = to;
      to = swapped;
    }
    doing = "opening a cursor over " + over.name;
    cursors.add(
        ModelCursor.open(
            store.tree(over.name),
            over,
            snapshot == null ? now : snapshot.at,
            snapshot == null ? null : snapshot.snapshot,
            from,
            to));
  }

  private void moveCursor() {
    if (!cursors.isEmpty()) {
      int which = random.nextInt(cursors.size());
      doing = "moving a cursor";
      ModelCursor cursor = cursors.get(which);
      cursor.stand();
      cursor.move(random, anyKey(anyTree()));
    }
  }

  private void endSomething() {
    doing = "closing a cursor or snapshot";
    if (random.nextBoolean() && !cursors.isEmpty()) {
      cursors.remove(random.nextInt(cursors.size())).close();
    } else if (!snapshots.isEmpty()) {
      snapshots.remove(random.nextInt(snapshots.size())).snapshot.close();
    }
    long oldest = now;
    for (ModelSnapshot snapshot : snapshots) {
      oldest = Math.min(oldest, snapshot.at);
    }
    for (ModelCursor cursor : cursors) {
      oldest = Math.min(oldest, cursor.at());
    }
    for (ModelTree tree : model.values()) {
      tree.prune(oldest);
    }
  }

  private void maintain() {
    int what = random.nextInt(4);
    doing = List.of("flushing", "waiting for quiet", "loading", "syncing").get(what);
    switch (what) {
      case 0 -> store.flush();
      case 1 -> store.awaitQuiet();
      case 2 -> bulkLoad();
      default -> store.sync();
    }
  }

  private void checkAll() {
    tick();
    assertEquals(List.copyOf(model.keySet()), store.treeNames());
    for (ModelTree tree : model.values()) {
      doing = "comparing all of " + tree.name;
      ModelCursor cursor = ModelCursor.open(store.tree(tree.name), tree, now, null, null, null);
      cursor.walkAll();
      cursor.close();
      for (byte[] key : tree.keys.keySet()) {
        if (random.nextInt(8) == 0) {
          assertArrayEquals(tree.get(key, now), store.tree(tree.name).get(key));
        }
      }
    }
  }

  private void closeStore() {
    doing = "closing the store";
    flushes += store.stats().flushes();
    merges += store.stats().merges();
    if (random.nextBoolean()) {
      cursors.forEach(ModelCursor::close);
      snapshots.forEach(snapshot -> snapshot.snapshot.close());
    }
    store.close();
    cursors.clear();
    snapshots.clear();
  }

  private void reopen() throws IOException {
    // A store that is opened believes its clock.
    leap(0);
    closeStore();
    world.checkClosed();
    doing = "opening again";
    if (random.nextInt(3) != 0) {
      // The wall moves while the store is used.
      world.decided(random.nextDouble());
    }
    options = HistoryOptions.some(random, pageSize);
    try {
      store = world.open(options, disks.apply(world.storage()));
    } catch (IsobarException e) {
      // What was written with more memory may not fit; then it is told what will do.
      options = HistoryOptions.withMemory(options, e);
      store = world.open(options, disks.apply(world.storage()));
    }
    checkAll();
  }

  @Override
  public String toString() {
    return "line " + (step + 1) + ", " + doing + "; " + options;
  }
}
