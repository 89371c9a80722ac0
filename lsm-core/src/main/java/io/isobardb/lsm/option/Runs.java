package io.isobardb.lsm.option;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How many sorted runs a tree has on each level: what its merges save, and what its reads pay. With
 * one run on each, what comes down to a level is merged with what is there. With more, it is put on
 * top, and merged once there are too many. Immutable.
 *
 * <pre>{@code
 * // Written far more than read: up to eight runs on each level but the last.
 * Tree events = store.openTree("events", TreeOptions.builder().runs(Runs.lazy(8)).build());
 * events.setRuns(Runs.leveled()); // later, while it is read
 * }</pre>
 *
 * <p>The numbers are counted where keys overlap. They never rise with depth, and the first one
 * holds for all levels above, too. Named after "Dostoevsky: Better Space-Time Trade-Offs for
 * LSM-Tree Based Key-Value Stores via Adaptive Removal of Superfluous Merging", whose Fluid
 * LSM-tree has two of them.
 *
 * @param perLevel from the top down; the last one is that of the last level
 */
public record Runs(List<Integer> perLevel) implements Comparable<Runs> {
  /** The most runs of a level. */
  public static final int MOST = 32;

  /** Runs of the upper levels where no number is given. */
  public static final int USUAL = 8;

  private static final Pattern NAMED = Pattern.compile("(LAZY|TIERED)(?:\\((\\d+)\\))?");

  private static final Runs LEVELED = new Runs(List.of(1));

  /** {@return one run on each level: the fewest pages to read, and the least space} */
  public static Runs leveled() {
    return LEVELED;
  }

  /**
   * Several runs on each level above the last, which has one.
   *
   * @param runs 2 to {@link #MOST}
   * @return {@code runs} for the upper levels, and 1
   * @throws IllegalArgumentException if it is none of these
   */
  public static Runs lazy(int runs) {
    return new Runs(List.of(several(runs), 1));
  }

  /**
   * Several runs on all levels, the last one included. Takes a multiple of the space: {@code
   * maxSpace} has to be 2 or more.
   *
   * @param runs 2 to {@link #MOST}
   * @return {@code runs} for each level
   * @throws IllegalArgumentException if it is none of these
   */
  public static Runs tiered(int runs) {
    return new Runs(List.of(several(runs)));
  }

  /**
   * So many runs on each level, from the top down.
   *
   * @param fromTopDown at least one number; none is larger than the one before
   * @return the same numbers; those that say nothing are left out
   * @throws IllegalArgumentException if a number is not 1 to {@link #MOST}, or more than the one
   *     before
   */
  public static Runs of(int... fromTopDown) {
    List<Integer> numbers = new ArrayList<>();
    for (int number : fromTopDown) {
      numbers.add(number);
    }
    return new Runs(numbers);
  }

  /**
   * What {@link #toString} gave, or a user wrote: {@code LEVELED}, {@code LAZY(8)}, {@code
   * TIERED(8)}, or numbers from the top down as {@code 8,4,1}. Without a number, {@code LAZY} and
   * {@code TIERED} have {@link #USUAL}.
   *
   * @param text in upper or lower case; spaces do not count
   * @return what the text says
   * @throws IllegalArgumentException if it is none of these
   */
  public static Runs parse(String text) {
    String value = Objects.requireNonNull(text, "text").toUpperCase(Locale.ROOT).replace(" ", "");
    Matcher named = NAMED.matcher(value);
    if (value.equals("LEVELED")) {
      return LEVELED;
    }
    try {
      if (named.matches()) {
        int runs = named.group(2) == null ? USUAL : Integer.parseInt(named.group(2));
        return named.group(1).equals("LAZY") ? lazy(runs) : tiered(runs);
      }
      return of(Arrays.stream(value.split(",", -1)).mapToInt(Integer::parseInt).toArray());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is none of LEVELED, LAZY(8), TIERED(8), or runs as in 8,4,1", e);
    }
  }

  /**
   * Checks the numbers, and leaves those out that say nothing.
   *
   * @param perLevel from the top down, at least one number, each 1 to {@link #MOST} and no larger
   *     than the one before
   * @throws IllegalArgumentException if it is anything else
   */
  public Runs {
    Objects.requireNonNull(perLevel, "perLevel");
    if (perLevel.isEmpty()) {
      throw new IllegalArgumentException("no number of runs is given");
    }
    List<Integer> numbers = new ArrayList<>(perLevel);
    for (int i = 0; i < numbers.size(); i++) {
      int number = numbers.get(i);
      if (number < 1 || number > MOST) {
        throw new IllegalArgumentException(
            "a level has 1 to " + MOST + " runs, not " + number + " as in " + perLevel);
      }
      if (i > 0 && number > numbers.get(i - 1)) {
        throw new IllegalArgumentException(
            "a level has no more runs than the one above it, so "
                + number
                + " can't follow "
                + numbers.get(i - 1)
                + " as in "
                + perLevel);
      }
    }
    while (numbers.size() > 1 && numbers.get(0).equals(numbers.get(1))) {
      numbers.remove(0);
    }
    perLevel = List.copyOf(numbers);
  }

  private static int several(int runs) {
    if (runs < 2) {
      throw new IllegalArgumentException(
          "LAZY and TIERED take 2 to " + MOST + " runs, not " + runs);
    }
    return runs;
  }

  /** {@return whether every level has one run} */
  public boolean isLeveled() {
    return perLevel.equals(LEVELED.perLevel);
  }

  /** {@return runs of the last level} */
  public int last() {
    return perLevel.get(perLevel.size() - 1);
  }

  /**
   * {@return how many levels with one run there are at the bottom, if there are others above them}
   */
  public int single() {
    return (int) perLevel.stream().filter(number -> number == 1).count();
  }

  /**
   * {@return runs of a level that has several; 1 if none has}
   *
   * @param i 0 for the lowest such level, and so on upwards
   */
  public int above(int i) {
    return perLevel.get(Math.max(0, perLevel.size() - single() - 1 - i));
  }

  @Override
  public int compareTo(Runs other) {
    return toString().compareTo(other.toString());
  }

  /** As the option {@code runs} takes it: {@code LEVELED}, {@code LAZY(8)}, {@code 8,4,1}. */
  @Override
  public String toString() {
    if (isLeveled()) {
      return "LEVELED";
    }
    if (perLevel.size() == 1) {
      return "TIERED(" + last() + ")";
    }
    return perLevel.size() == 2 && last() == 1
        ? "LAZY(" + perLevel.get(0) + ")"
        : perLevel.stream().map(String::valueOf).collect(Collectors.joining(","));
  }
}
