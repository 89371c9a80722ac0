package io.isobardb.lsm.option;

import java.util.Objects;

/**
 * How many levels a tree has on disk, and how large they are. Immutable.
 *
 * @param kind what sizes go by
 * @param writeMemoryBytes the write memory that {@link Kind#FIXED} levels are made for; else 0
 */
public record Levels(Kind kind, long writeMemoryBytes) implements Comparable<Levels> {
  /** The least write memory that levels can be made for, in bytes. */
  public static final long LEAST_BYTES = 64 << 10;

  private static final Levels FOLLOWING = new Levels(Kind.DYNAMIC, 0);
  private static final Levels PLANNED = new Levels(Kind.OPTIMISED, 0);

  /** What the sizes of levels go by. */
  public enum Kind {
    /** The tree's write memory, and what L0 delivers at a time. */
    DYNAMIC,
    /** A model of what merges cost, for the popularity of the keys that are written. */
    OPTIMISED,
    /** A write memory that never changes. */
    FIXED
  }

  /**
   * Levels follow the write memory that a tree has, and what L0 delivers at a time.
   *
   * @return levels without a number, the default of stores
   */
  public static Levels dynamic() {
    return FOLLOWING;
  }

  /**
   * A model of what merges cost plans the sizes, for the popularity of the keys that are written. A
   * plan that costs more than what was before is taken back. The store learns from the writes of
   * one tree for each 64 MiB of its budget, those that are written most. The others have {@link
   * #dynamic} levels.
   *
   * @return levels without a number
   */
  public static Levels optimised() {
    return PLANNED;
  }

  /**
   * Levels are made for this much write memory, whatever a tree has.
   *
   * @param writeMemoryBytes at least {@link #LEAST_BYTES}
   * @return levels for that number
   * @throws IllegalArgumentException if it is less
   */
  public static Levels fixed(long writeMemoryBytes) {
    return new Levels(Kind.FIXED, writeMemoryBytes);
  }

  /**
   * Checks the number.
   *
   * @param kind what sizes go by
   * @param writeMemoryBytes at least {@link #LEAST_BYTES} for {@link Kind#FIXED}, else 0
   * @throws IllegalArgumentException if it is anything else
   */
  public Levels {
    Objects.requireNonNull(kind, "kind");
    if (kind == Kind.FIXED ? writeMemoryBytes < LEAST_BYTES : writeMemoryBytes != 0) {
      throw new IllegalArgumentException(
          kind == Kind.FIXED
              ? "FIXED levels are made for 64KB of write memory or more, not for "
                  + writeMemoryBytes
                  + " bytes"
              : kind + " levels have no write memory of their own, not " + writeMemoryBytes);
    }
  }

  @Override
  public int compareTo(Levels other) {
    int order = kind.compareTo(other.kind);
    return order == 0 ? Long.compare(writeMemoryBytes, other.writeMemoryBytes) : order;
  }

  /** As the option {@code levels} takes it: {@code DYNAMIC}, {@code FIXED(65536)}. */
  @Override
  public String toString() {
    return kind == Kind.FIXED ? kind + "(" + writeMemoryBytes + ")" : kind.name();
  }
}
