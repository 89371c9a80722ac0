package io.isobardb.bench.simulate;

import io.isobardb.bench.simulate.StoreShape.Room;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.flush.FlushChoice;
import io.isobardb.lsm.flush.FlushRules;
import io.isobardb.lsm.flush.FlushRules.Cause;
import io.isobardb.lsm.flush.FlushRules.FlushView;
import io.isobardb.lsm.flush.TreeMemory;
import io.isobardb.lsm.flush.WriteWindow;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.tuner.model.WriteCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A store of this engine's design, entry by entry. The engine's own policies decide: which tree is
 * flushed, how much of it, where in L0 it goes, what is merged, where SSTables end and how many
 * levels there are.
 *
 * <p>Flushes and merges take no time, and one ends before the next begins. All entries have one
 * size. SSTables have no headers, filters or indexes. Each put goes to any tree with the same
 * probability.
 */
public final class StoreSimulator {
  /** One in so many puts is also read, to see what that costs. */
  private static final int PUTS_PER_READ = 16;

  private final StoreShape shape;
  private final SimulatedTree[] trees;
  private final KeyStream[] streams;
  private final SplittableRandom random;
  private final FlushRules rules;
  private final WriteWindow window;
  private final long[] written;
  private long lsn;
  private long usedBytes;
  private long checkLogAt;
  private long mostUsedBytes;
  private long mostLogBytes;

  /**
   * What came of a run.
   *
   * @param cost entries written per entry put
   * @param pagesPerRead data pages that a point read for a key that was put takes from disk
   */
  public record Result(WriteCost cost, double pagesPerRead) {}

  /**
   * @param trees how many there are, 1 or more
   * @param keys of each tree
   * @param skew of Zipf's law in each tree; 0 for uniform popularity
   */
  public StoreSimulator(StoreShape shape, int trees, int keys, double skew, long seed) {
    if (trees < 1) {
      throw new UsageException("there must be 1 tree or more, not " + trees);
    }
    this.shape = shape;
    this.trees = new SimulatedTree[trees];
    this.streams = new KeyStream[trees];
    this.written = new long[trees];
    this.random = new SplittableRandom(seed);
    this.rules = new FlushRules(shape.policy(), shape.strategy(), shape.room().logBytes());
    this.window = new WriteWindow(shape.room().logBytes());
    for (int i = 0; i < trees; i++) {
      this.trees[i] = new SimulatedTree(keys, shape);
      this.streams[i] = new KeyStream(keys, skew, seed * 1000 + i);
    }
    this.checkLogAt = shape.room().logTriggerBytes();
  }

  private Room room() {
    return shape.room();
  }

  /**
   * Puts all keys once and then {@code rounds} times as many by popularity; says what these cost.
   */
  public Result run(double rounds) {
    int keys = streams[0].keys();
    for (int i = 0; i < keys; i++) {
      for (int tree = 0; tree < trees.length; tree++) {
        put(tree, streams[tree].load());
      }
    }
    for (SimulatedTree tree : trees) {
      tree.countAnew();
    }
    long puts = (long) (rounds * keys * trees.length);
    double pages = 0;
    long reads = 0;
    for (long i = 0; i < puts; i++) {
      int tree = trees.length == 1 ? 0 : random.nextInt(trees.length);
      int key = streams[tree].next();
      if (i % PUTS_PER_READ == 0) {
        pages += trees[tree].pagesOfRead(key);
        reads++;
      }
      put(tree, key);
    }
    return new Result(cost(puts), pages / Math.max(1, reads));
  }

  /** The most bytes that trees had in memory when a flush began. */
  long mostUsedBytes() {
    return mostUsedBytes;
  }

  /** The longest log there was when a flush began. */
  long mostLogBytes() {
    return mostLogBytes;
  }

  private WriteCost cost(double puts) {
    long flushed = 0;
    long withinL0 = 0;
    int levels = 0;
    for (SimulatedTree tree : trees) {
      levels = Math.max(levels, tree.version().levelCount());
    }
    double[] merged = new double[levels];
    for (SimulatedTree tree : trees) {
      flushed += tree.flushed();
      withinL0 += tree.withinL0() + tree.toTiers();
      for (int l = 0; l < levels; l++) {
        merged[l] += tree.mergedTo(levels - 1 - l) / puts;
      }
    }
    return new WriteCost(1, flushed / puts, withinL0 / puts, merged);
  }

  private void put(int tree, int key) {
    usedBytes += trees[tree].put(key, lsn, usedBytes);
    lsn += room().entryBytes();
    written[tree] += room().entryBytes();
    if (usedBytes > room().memoryTriggerBytes() || lsn >= checkLogAt) {
      flush();
    }
  }

  /** Flushes while there is need, as {@code Flusher} does: the log first. */
  private void flush() {
    mostUsedBytes = Math.max(mostUsedBytes, usedBytes);
    mostLogBytes = Math.max(mostLogBytes, lsn - neededLsn());
    while (true) {
      checkLogAt = neededLsn() + room().logTriggerBytes();
      boolean forLog = lsn >= checkLogAt;
      if (!forLog && usedBytes <= room().memoryTriggerBytes()) {
        return;
      }
      FlushView view =
          new FlushView(
              forLog ? Cause.LOG : Cause.MEMORY,
              room().writeBytes(),
              room().sliceBytes(0),
              lsn,
              memory());
      for (FlushChoice choice : rules.choose(view)) {
        flush(choice, !forLog);
      }
    }
  }

  private long neededLsn() {
    long needed = lsn;
    for (SimulatedTree tree : trees) {
      needed = Math.min(needed, tree.minLsn());
    }
    return needed;
  }

  private List<TreeMemory> memory() {
    for (int i = 0; i < trees.length; i++) {
      window.note(i, written[i]);
      window.holds(i, trees[i].memoryBytes());
    }
    window.move();
    List<TreeMemory> memory = new ArrayList<>();
    for (int i = 0; i < trees.length; i++) {
      long bytes = trees[i].memoryBytes();
      if (bytes > 0) {
        SimulatedTree tree = trees[i];
        memory.add(
            new TreeMemory(
                i, bytes, bytes, tree.minLsn(), false, tree.sliced(), window.lately(i, 1)));
      }
    }
    return memory;
  }

  private void flush(FlushChoice choice, boolean forMemory) {
    int id = choice.treeId();
    SimulatedTree tree = trees[id];
    tree.setSliced(choice.sliced());
    if (!tree.hasSealed()) {
      tree.seal();
    }
    long before = tree.memoryBytes();
    long recent = Math.max(before, window.mostBytes(id));
    if (choice.kind() == FlushKind.FULL) {
      tree.flushAll(recent);
    } else {
      tree.flushSlice(recent);
    }
    usedBytes = Arrays.stream(trees).mapToLong(SimulatedTree::memoryBytes).sum();
    window.onFlushed(id, before - tree.memoryBytes(), forMemory);
  }
}
