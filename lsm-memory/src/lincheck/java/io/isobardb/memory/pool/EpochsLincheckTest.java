package io.isobardb.memory.pool;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No reader within an epoch meets what was freed: every interleaving, within bounds, of readers and
 * one thread that replaces what they read.
 */
@Tag("any-jdk")
public class EpochsLincheckTest {
  private static final class Element {
    volatile boolean freed;
  }

  private final Epochs epochs = new Epochs();
  private volatile Element current = new Element();

  /** Whether what was read was alive. */
  @Operation
  public boolean read() {
    int slot = epochs.enter();
    try {
      return !current.freed;
    } finally {
      epochs.exit(slot);
    }
  }

  @Operation(nonParallelGroup = "writer")
  public void replace() {
    Element old = current;
    current = new Element();
    long tag = epochs.advance();
    if (epochs.passed(tag)) {
      old.freed = true;
    }
  }

  @Test
  void everyInterleaving() {
    new ModelCheckingOptions()
        .iterations(Integer.getInteger("isobar.lincheck.iterations", 1))
        .invocationsPerIteration(300)
        .threads(3)
        .actorsPerThread(2)
        .loopBound(1000) // Longer than the slots, which are looked at one after another.
        .loopIterationsBeforeThreadSwitch(1000)
        .check(EpochsLincheckTest.class);
  }
}
