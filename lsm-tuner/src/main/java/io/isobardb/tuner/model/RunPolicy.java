package io.isobardb.tuner.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How many sorted runs each level of a tree may have. Immutable.
 *
 * <p>{@code LEVELED} has one everywhere, {@code LAZY(K)} has K above the last level and one there,
 * {@code TIERED(K)} has K everywhere: the policies of <i>Dostoevsky</i> (Dayan and Idreos, SIGMOD
 * 2018, sections 3 and 4.1). A list such as {@code 4,4,1} says it for each level from the top down,
 * as Fluid LSM-trees have it (section 4.3).
 *
 * @param kind which of them
 * @param most K of a lazy or a tiered policy; 1 if leveled; that of the first level of a list
 * @param levels runs of each level from the top down; empty unless it is a list
 */
public record RunPolicy(Kind kind, int most, List<Integer> levels) {
  /** The most runs that a level may have. */
  public static final int MOST_RUNS = 32;

  private static final int MOST_LEVELS = 16;

  /** How the numbers are given. */
  public enum Kind {
    /** One run everywhere. */
    LEVELED,
    /** Several above the last level, and one there. */
    LAZY,
    /** Several everywhere. */
    TIERED,
    /** A number for each level. */
    LIST
  }

  /**
   * Checks how many levels there are.
   *
   * @param kind how the numbers are given
   * @param most 1 to 32
   * @param levels from the top down, 16 at most; empty unless it is a list
   */
  public RunPolicy {
    levels = List.copyOf(levels);
    if (levels.size() > MOST_LEVELS) {
      throw new IllegalArgumentException(
          "there may be " + MOST_LEVELS + " levels at most, not " + levels.size());
    }
    int above = MOST_RUNS;
    for (int runs : levels) {
      check(runs, 1);
      if (runs > above) {
        throw new IllegalArgumentException(
            "runs may not rise with depth, but " + runs + " follows " + above);
      }
      above = runs;
    }
    if (kind == Kind.LAZY || kind == Kind.TIERED) {
      check(most, 2);
    }
  }

  private static void check(int runs, int least) {
    if (runs < least || runs > MOST_RUNS) {
      throw new IllegalArgumentException(
          "a level may have " + least + " to " + MOST_RUNS + " runs, not " + runs);
    }
  }

  /** {@return one run in each level, and as many levels as cost least} */
  public static RunPolicy leveled() {
    return new RunPolicy(Kind.LEVELED, 1, List.of());
  }

  /**
   * {@return as many runs above the last level, 2 to 32, and one there}
   *
   * @param runs 2 to 32
   */
  public static RunPolicy lazy(int runs) {
    return new RunPolicy(Kind.LAZY, runs, List.of());
  }

  /**
   * {@return as many runs in each level, 2 to 32}
   *
   * @param runs 2 to 32
   */
  public static RunPolicy tiered(int runs) {
    return new RunPolicy(Kind.TIERED, runs, List.of());
  }

  /**
   * {@return runs of each level from the top down, 1 to 32, not rising}
   *
   * @param runs from the top down, each 1 to 32 and no more than the one before
   */
  public static RunPolicy of(Integer... runs) {
    return new RunPolicy(Kind.LIST, runs[0], Arrays.asList(runs));
  }

  /**
   * Reads {@code LEVELED}, {@code LAZY(4)}, {@code TIERED(4)}, or a list such as {@code 4,4,1}.
   *
   * @param text in upper case
   * @return what the text says
   * @throws IllegalArgumentException if it is none of them, saying why
   */
  public static RunPolicy parse(String text) {
    String word = text.trim();
    if (word.equals("LEVELED")) {
      return leveled();
    }
    if (word.endsWith(")")) {
      int open = word.indexOf('(');
      String name = open < 0 ? "" : word.substring(0, open);
      String inside = word.substring(open + 1, word.length() - 1);
      if (name.equals("LAZY")) {
        return lazy(number(inside, text));
      }
      if (name.equals("TIERED")) {
        return tiered(number(inside, text));
      }
    }
    List<Integer> levels = new ArrayList<>();
    for (String part : word.split(",", -1)) {
      levels.add(number(part, text));
    }
    return of(levels.toArray(new Integer[0]));
  }

  private static int number(String part, String text) {
    try {
      return Integer.parseInt(part.trim());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "runs are LEVELED, LAZY(4), TIERED(4) or a list such as 4,4,1, not '" + text + "'", e);
    }
  }

  /** As {@link #parse} reads it. */
  @Override
  public String toString() {
    return switch (kind) {
      case LEVELED -> "LEVELED";
      case LAZY, TIERED -> kind + "(" + most + ")";
      case LIST -> levels.stream().map(String::valueOf).collect(Collectors.joining(","));
    };
  }
}
