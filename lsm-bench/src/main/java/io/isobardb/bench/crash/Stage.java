package io.isobardb.bench.crash;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * What scripts of simulated stores share: a store, the workload that it gets, and the model that
 * knows what it must hold. Opening, closing and going on after a crash are told to the model here.
 *
 * <p>Thread rule: one thread.
 */
final class Stage {
  final SplittableRandom random;
  final Expected expected = new Expected();
  final Verifier verifier;
  final Workload workload;
  private final Coverage coverage;
  private final BiConsumer<SimulatedWorld, SplittableRandom> setUp;
  private SimulatedWorld world;
  private StoreOptions options;
  private Store store;

  /**
   * The store is not open yet.
   *
   * @param stop whether long operations are to end early
   * @param setUp what each world is told before a store opens in it
   */
  Stage(
      long seed,
      Coverage coverage,
      BooleanSupplier stop,
      BiConsumer<SimulatedWorld, SplittableRandom> setUp) {
    this.coverage = coverage;
    this.setUp = setUp;
    this.random = new SplittableRandom(seed);
    this.verifier = new Verifier(expected, coverage);
    this.workload = new Workload(seed, random, expected, coverage, stop);
    this.world = new SimulatedWorld(random.nextLong());
    this.options = anyOptions(random);
    setUp.accept(world, random);
  }

  SimulatedWorld world() {
    return world;
  }

  /** What the store was opened with, or will be. */
  StoreOptions options() {
    return options;
  }

  /** The store that was opened last; null before the first. */
  Store store() {
    return store;
  }

  StoreOptions anyOptions(SplittableRandom dice) {
    return RandomOptions.store(dice, workload.pageSize());
  }

  /** From then on the workload goes to the store. */
  Store open() {
    store = world.open(options);
    store.addListener(coverage);
    workload.on(world, store);
    return store;
  }

  /** Afterwards all that was written is on the disk. */
  void close() {
    expected.checkpointing();
    store.close();
    expected.checkpointed();
  }

  void reopenWithOtherOptions() {
    options = anyOptions(random);
    open();
  }

  /** Opens what a crash has left, and holds it against the model, which goes on from there. */
  void goOn(Survival survival, SimulatedStorage left) throws IOException {
    if (survival != Survival.KILLED) {
      expected.machineFailed();
    }
    world = new SimulatedWorld(left, random.nextLong());
    setUp.accept(world, random);
    open();
    coverage.count(Happening.RECOVERED);
    expected.cutTo(verifier.contents(survival, store, random));
    expected.settle(store.treeNames());
  }
}
