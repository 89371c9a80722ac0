package io.isobardb.lsm.schedule;

import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of a store wait for, in the order of waits: a thread that is within one of these
 * waits only for what comes after it. So no wait is for something that waits for it.
 *
 * <p>With the system property {@code isobar.waits}, as in tests, each wait is held against the
 * order, even if it is over at once. A wait against the order is an {@link AssertionError}. Without
 * the property nothing is noted.
 *
 * <p>Thread rule: all methods may be called by any thread. What a thread is within is its own.
 */
public enum Awaited {
  /** A transaction holds some for as long as its user likes. */
  RECORD_LOCK("a record lock"),
  /** Creating and dropping trees, the commit of a bulk load, the moment of a copy, closing. */
  LIFETIME("the trees and the end of the store"),
  COPIES("bulk loads and copies of the store"),
  FIRST_TRANSACTION("the first transaction"),
  OPERATIONS("operations and reads that have begun"),
  CHECKPOINT("a checkpoint"),
  BUDGET("a change of the memory budget"),
  EARLIER_WRITES("earlier writes"),
  MEMORY("write memory"),
  TREE_MEMORY("the memory of a tree"),
  JOBS("the end of a job"),
  SYNC("a sync of the log"),
  LOG_ROOM("room in the log's buffer"),
  /** Nobody ends it but time, or the closing of the store. */
  PAUSE("a pause");

  private static final boolean CHECKED = Boolean.getBoolean("isobar.waits");

  private static final int[] NOTHING = {};

  /** How often the thread is within each. */
  private static final ThreadLocal<int[]> WITHIN =
      ThreadLocal.withInitial(() -> new int[values().length]);

  private final String text;

  Awaited(String text) {
    this.text = text;
  }

  /** In words. */
  public String text() {
    return text;
  }

  /** Whether most of these waits are over within microseconds. */
  boolean isBrief() {
    return this == EARLIER_WRITES;
  }

  /** Whether waits are held against the order. */
  public static boolean isChecked() {
    return CHECKED;
  }

  /** The calling thread is within this until {@link #exit}. */
  public void enter() {
    if (CHECKED) {
      WITHIN.get()[ordinal()]++;
    }
  }

  /** Takes one {@link #enter} back. */
  public void exit() {
    if (CHECKED) {
      WITHIN.get()[ordinal()]--;
    }
  }

  /**
   * The calling thread goes on as if it were within {@code alone}, or nothing, and nothing else: it
   * runs something for others.
   *
   * @return what to hand to {@link #goBack}
   */
  static int[] enterAlone(@Nullable Awaited alone) {
    if (!CHECKED) {
      return NOTHING;
    }
    int[] outer = WITHIN.get();
    WITHIN.set(new int[outer.length]);
    if (alone != null) {
      alone.enter();
    }
    return outer;
  }

  /** Takes {@link #enterAlone} back. */
  static void goBack(int[] outer) {
    if (CHECKED) {
      WITHIN.set(outer);
    }
  }

  /**
   * Runs something that has nothing to do with what the calling thread is within, such as calls of
   * another store.
   */
  public static void apart(Runnable action) {
    int[] outer = enterAlone(null);
    try {
      action.run();
    } finally {
      goBack(outer);
    }
  }

  /** Passes if the calling thread may wait for this, be it over or not. */
  public void check() {
    if (!CHECKED) {
      return;
    }
    int[] within = WITHIN.get();
    for (int i = ordinal(); i < within.length; i++) {
      if (within[i] > 0) {
        throw new AssertionError(
            "a wait for " + text + " within " + values()[i].text + ": against the order of waits");
      }
    }
  }

  /** What the calling thread is within, in words that follow what it waits for; may be empty. */
  static String described() {
    if (!CHECKED) {
      return "";
    }
    int[] within = WITHIN.get();
    StringJoiner all = new StringJoiner(", ", ", within ", "").setEmptyValue("");
    for (Awaited one : values()) {
      if (within[one.ordinal()] > 0) {
        all.add(one.text);
      }
    }
    return all.toString();
  }
}
