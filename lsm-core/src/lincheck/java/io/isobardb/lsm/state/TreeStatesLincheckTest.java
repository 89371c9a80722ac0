package io.isobardb.lsm.state;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeMemory;
import io.isobardb.lsm.version.Version;
import io.isobardb.memory.pool.PagePool;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A reader that acquires a tree's state gets the one published last, and it is not cleaned up
 * before the reader releases it: every interleaving, within bounds, of readers and swaps.
 */
@Tag("any-jdk")
public class TreeStatesLincheckTest {
  /** In all states, and never written to: only the states are looked at. */
  private static final ActiveTree TREE =
      new ActiveTree(new PagePool(1 << 20, 4096), KeyOrder.BYTES, 1 << 16);

  private static final RangeMemory NO_RANGES = new RangeMemory(new PagePool(1 << 20, 4096));

  private static final int MOST_STATES = 16;
  private static final Version NOTHING = Version.empty(KeyOrder.BYTES);

  private final TreeStates states = new TreeStates(state(0), NO_RANGES, () -> {});

  /** How often each state was cleaned up, by number. */
  private final AtomicIntegerArray cleanedUp = new AtomicIntegerArray(MOST_STATES);

  private static TreeState state(long number) {
    Table.Active active = new Table.Active(TREE, new Table.StartLsn(number));
    return new TreeState(active, List.of(), List.of(), NOTHING);
  }

  private static int number(TreeState state) {
    return (int) state.active().startLsn();
  }

  /** The number of the new state. */
  @Operation
  public int swap() {
    int[] next = new int[1];
    states.swap(
        old -> {
          int number = number(old);
          next[0] = number + 1;
          old.cleanups.add(() -> cleanedUp.incrementAndGet(number));
          return state(number + 1);
        });
    return next[0];
  }

  /** The number of the current state, or -1 if it was cleaned up while it was held. */
  @Operation
  public int read() {
    TreeState state = states.acquire();
    int number = number(state);
    boolean alive = cleanedUp.get(number) == 0;
    states.release(state);
    return alive ? number : -1;
  }

  /** All but the current state are cleaned up, once, when nobody holds any. */
  @Validate
  public void nothingIsLeftBehind() {
    int current = number(states.current());
    for (int i = 0; i <= current; i++) {
      if (cleanedUp.get(i) != (i < current ? 1 : 0)) {
        throw new IllegalStateException("of " + current + ": " + i + " " + cleanedUp.get(i));
      }
    }
    if (states.liveStates() != 1) {
      throw new IllegalStateException(states.liveStates() + " states");
    }
  }

  /** A counter. */
  public static class Sequential {
    private int number;

    public int swap() {
      return ++number;
    }

    public int read() {
      return number;
    }
  }

  @Test
  void everyInterleaving() {
    new ModelCheckingOptions()
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(100)
        .threads(3)
        .actorsPerThread(2)
        .sequentialSpecification(Sequential.class)
        .check(TreeStatesLincheckTest.class);
  }
}
