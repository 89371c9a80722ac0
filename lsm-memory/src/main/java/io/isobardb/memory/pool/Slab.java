package io.isobardb.memory.pool;

import io.isobardb.memory.system.Region;
import java.util.BitSet;

/**
 * One piece of system memory that pages are cut from, with a stack of those that are free.
 *
 * <p>Thread rule: guarded by the pool's lock, except {@link #leaving}.
 */
final class Slab {
  final Region region;

  /** Its free pages are not handed out: it is to go back to the system. Read without the lock. */
  volatile boolean leaving;

  private final char[] free;
  private int freeCount;

  /** Pages given back and not yet handed out again: finds pages given back twice. */
  private final BitSet givenBack;

  /** A slab all of whose {@code pages} pages are free. */
  Slab(Region region, int pages) {
    this.region = region;
    this.free = new char[pages];
    this.givenBack = new BitSet(pages);
    for (int i = pages - 1; i >= 0; i--) {
      push(i);
      givenBack.set(i);
    }
  }

  int freeCount() {
    return freeCount;
  }

  boolean isWhole() {
    return freeCount == free.length;
  }

  int pop() {
    int index = free[--freeCount];
    givenBack.clear(index);
    return index;
  }

  void push(int index) {
    free[freeCount++] = (char) index;
  }

  /** Notes that the owner gives the page up; true if it had done so before. */
  boolean giveBack(int index) {
    boolean twice = givenBack.get(index);
    givenBack.set(index);
    return twice;
  }
}
