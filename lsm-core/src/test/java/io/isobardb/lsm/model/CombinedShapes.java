package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.merge.ReadLosses;
import io.isobardb.lsm.model.CombinedModel.Known;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.TailOperator;
import io.isobardb.lsm.state.TreeHandle;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a {@link CombinedHistory} does to trees as wholes, and to the store's memory. */
final class CombinedShapes {
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

  private final CombinedState state;
  private final CombinedModel model;
  private int named;

  CombinedShapes(CombinedState state) {
    this.state = state;
    this.model = state.model;
  }

  void createTree() {
    if (model.live().size() >= (state.many ? 205 : 6)) {
      return;
    }
    TreeOptions.Builder some =
        TreeOptions.builder()
            .keyOrder(state.random.nextInt(3) == 0 ? FallingOrder.FALLING : KeyOrder.BYTES)
            .compression(DeflateCodec.any(state.random))
            .logged(state.random.nextInt(4) != 0)
            .filterBitsPerKey(state.random.nextInt(4) == 0 ? 0 : 10);
    if (state.random.nextBoolean()) {
      some.mergeOperator(TailOperator.TAIL);
    }
    if (state.random.nextInt(4) == 0) {
      some.timeToLive(Duration.ofMillis(LIFETIMES[state.random.nextInt(LIFETIMES.length)]));
    }
    if (state.random.nextInt(3) == 0) {
      some.runs(SHAPES[state.random.nextInt(SHAPES.length)])
          .maxSpace(2.5 + state.random.nextInt(5));
    }
    TreeOptions treeOptions = some.build();
    String name = "tree-" + (named++ % (state.many ? 230 : 9));
    if (model.live().stream().anyMatch(tree -> tree.name().equals(name))) {
      return;
    }
    state.doing = "creating " + name;
    Known made = new Known(name, treeOptions, model.clock, model.begin());
    made.adjusted.add(CombinedModel.adjusted(treeOptions));
    model.trees.add(made);
    state.store.createTree(name, treeOptions);
    model.returned = model.now;
    if (state.store.options().durability() == Durability.SYNC) {
      model.manifestAcked = model.now;
    }
  }

  void dropTree() {
    if (model.live().size() < 3) {
      return;
    }
    Known tree = state.anyTree();
    state.doing = "dropping " + tree.name();
    tree.droppedAt = model.begin();
    state.store.dropTree(tree.name());
    model.returned = model.now;
    if (state.store.options().durability() == Durability.SYNC) {
      model.manifestAcked = model.now;
    }
    state.cursors.removeIf(cursor -> cursor.isOver(tree));
  }

  void renameTree() {
    Known tree = state.anyTree();
    String name = "tree-" + (named++ % (state.many ? 230 : 9));
    if (model.live().stream().anyMatch(other -> other.name().equals(name))) {
      return;
    }
    state.doing = "renaming " + tree.name() + " to " + name;
    String before = tree.name();
    tree.names.put(model.begin(), name);
    state.store.renameTree(before, name);
    model.returned = model.now;
    model.manifestAcked = model.now;
  }

  void changeShape() {
    Known of = state.anyTree();
    Tree tree = state.tree(of);
    state.doing = "changing " + of.name();
    TreeOptions before = tree.options();
    TreeOptions.Builder changed = TreeOptions.builder();
    switch (state.random.nextInt(6)) {
      case 0 -> {
        double space = state.random.nextInt(3) == 0 ? 0 : 1.01 + state.random.nextInt(8);
        change(of, before.toBuilder().maxSpace(space).build(), () -> tree.setMaxSpace(space));
      }
      case 1 -> {
        var compression = DeflateCodec.any(state.random);
        change(
            of,
            before.toBuilder().compression(compression).build(),
            () -> tree.setCompression(compression));
      }
      case 2 -> {
        Duration lifetime =
            state.random.nextInt(3) == 0
                ? Duration.ZERO
                : Duration.ofMillis(LIFETIMES[state.random.nextInt(LIFETIMES.length)]);
        change(
            of,
            before.toBuilder().timeToLive(lifetime).build(),
            () -> tree.setTimeToLive(lifetime));
      }
      case 3 -> {
        Runs runs = SHAPES[state.random.nextInt(SHAPES.length)];
        double space = 2.5 + state.random.nextInt(6);
        TreeOptions wanted = before.toBuilder().runs(runs).maxSpace(space).build();
        long synced = model.manifestAcked;
        change(
            of,
            wanted,
            () -> state.store.openTree(of.name(), changed.runs(runs).maxSpace(space).build()));
        if (wanted.equals(before)) {
          // Opening a tree as it is syncs nothing.
          model.manifestAcked = synced;
        }
      }
      default -> {
        Runs runs = SHAPES[state.random.nextInt(SHAPES.length)];
        change(of, before.toBuilder().runs(runs).build(), () -> tree.setRuns(runs));
      }
    }
    if (state.random.nextInt(6) == 0) {
      tree.setWriteWeight(state.random.nextInt(4));
      tree.setWriteMemoryFloor(state.random.nextInt(3) * 100_000L);
    }
  }

  private void change(Known of, TreeOptions wanted, Runnable call) {
    of.adjusted.add(CombinedModel.adjusted(wanted));
    try {
      call.run();
    } catch (IllegalArgumentException e) {
      assertTrue(e.getMessage().contains("maxSpace"), e.toString());
      of.adjusted.remove(of.adjusted.size() - 1);
      return;
    }
    model.manifestAcked = model.now;
    assertEquals(
        of.adjusted.get(of.adjusted.size() - 1), CombinedModel.adjusted(state.tree(of).options()));
    if (!state.looking) {
      of.settle();
    }
  }

  /** As the shape service would. */
  void adapt() {
    Known of = state.anyTree();
    TreeHandle handle = Inside.handle(state.tree(of));
    Runs[] choices = {Runs.leveled(), Runs.lazy(4), Runs.tiered(8), Runs.lazy(2)};
    Runs runs = choices[state.random.nextInt(choices.length)];
    if (runs.last() == 1 || handle.shape().maxSpace() >= 2) {
      handle.adapt(runs, state.random.nextInt(3) * 4);
      Inside.of(state.store).parts().merger().request(handle);
    }
  }

  void wish() {
    Known of = state.anyTree();
    TreeHandle handle = Inside.handle(state.tree(of));
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
                          if (state.random.nextBoolean()) {
                            lost.put(table.fileNumber(), (double) state.random.nextInt(10_000));
                          }
                        }));
    if (!lost.isEmpty()) {
      Inside.of(state.store)
          .parts()
          .merger()
          .mergeForReads(handle, new ReadLosses(lost, state.pageSize, 1, 1));
    }
  }

  /** As if trees that nobody writes to were scanned for long: they are settled. */
  void settle() {
    state.world.pass(250_000_000);
    model.live().stream()
        .map(tree -> Inside.handle(state.tree(tree)))
        .forEach(handle -> handle.memory().readLoss().steps(1 << 24, 0, 1));
    state.world.pass(state.random.nextLong(1_000_000_000));
  }

  void compact() {
    Known of = state.anyTree();
    byte @Nullable [][] range = state.anyRange(of);
    state.doing = "compacting " + of.name();
    state.tree(of).compact(range[0], range[1]);
  }

  void checkpoint() {
    model.nextCheckpoint = model.now;
    state.store.checkpoint();
    model.checkpoint = model.nextCheckpoint;
    model.acked = model.now;
    model.manifestAcked = model.now;
  }

  void changeBudget() {
    long least = OptionLimits.leastBudget(state.pageSize);
    long wanted = least << state.random.nextInt(3);
    state.doing = "budget " + wanted;
    try {
      state.store.setMemoryBudget(wanted);
    } catch (IllegalArgumentException e) {
      assertTrue(e.getMessage().contains("udget"), e.toString());
    }
  }
}
