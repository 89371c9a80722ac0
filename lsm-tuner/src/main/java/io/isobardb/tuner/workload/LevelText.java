package io.isobardb.tuner.workload;

import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decisions on levels as lines of text, and back, digit for digit.
 *
 * <pre>
 * levels v1 cycle=3 tree=1 action=MOVE stage=MOVING plan=1.0,0.1 goal=1.0,0.2 before=- .. why=words
 * </pre>
 *
 * Fields are {@code name=value}, apart by blanks; shares have commas, and what is not there is
 * {@code -}. Fields that are not known are passed over.
 */
public final class LevelText {
  private static final String BEGINNING = "levels v1 ";
  private static final String WHY = " why=";
  private static final String NONE = "-";

  private LevelText() {}

  /**
   * {@return whether a line of the tuner's file is about levels}
   *
   * @param line any line
   */
  public static boolean isLevels(String line) {
    return line.startsWith(BEGINNING);
  }

  /**
   * {@return the decision on one line, without a line's end}
   *
   * @param decision all that its line has
   */
  public static String write(LevelDecision decision) {
    LevelProgress after = decision.after();
    return BEGINNING
        + String.join(
            " ",
            "cycle=" + decision.cycle(),
            "tree=" + decision.tree(),
            "action=" + decision.action(),
            "stage=" + after.stage(),
            "plan=" + text(after.plan()),
            "goal=" + text(after.goal()),
            "before=" + text(after.before()),
            "modelled=" + decision.modelled(),
            "expected=" + decision.expected(),
            "found=" + decision.found(),
            "cost=" + after.costBefore() + "," + after.modelBefore() + "," + after.expected(),
            "barred=" + after.barred() + "," + after.barLength())
        + WHY
        + decision.reason().replaceAll("\\R", " ");
  }

  private static String text(@Nullable LevelShares shares) {
    return shares == null
        ? NONE
        : shares.byHeight().stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /**
   * {@return the decision that {@link #write} made the line of}
   *
   * @param line without its end
   * @throws IllegalArgumentException if it is no such line; the message says what is wrong with it
   */
  public static LevelDecision parse(String line) {
    int why = line.indexOf(WHY);
    if (!isLevels(line) || why < 0) {
      throw new IllegalArgumentException("not a decision on levels: " + line);
    }
    Map<String, String> fields = new HashMap<>();
    for (String field : line.substring(BEGINNING.length(), why).split(" ")) {
      int equals = field.indexOf('=');
      if (equals > 0) {
        fields.put(field.substring(0, equals), field.substring(equals + 1));
      }
    }
    double[] cost = reals(fields, "cost", 3);
    double[] barred = reals(fields, "barred", 2);
    return new LevelDecision(
        Long.parseLong(value(fields, "cycle")),
        Integer.parseInt(value(fields, "tree")),
        Action.valueOf(value(fields, "action")),
        Double.parseDouble(value(fields, "modelled")),
        Double.parseDouble(value(fields, "expected")),
        Double.parseDouble(value(fields, "found")),
        line.substring(why + WHY.length()),
        checked(
            new LevelProgress(
                Stage.valueOf(value(fields, "stage")),
                shares(value(fields, "plan")),
                shares(value(fields, "goal")),
                shares(value(fields, "before")),
                cost[0],
                cost[1],
                cost[2],
                (int) barred[0],
                (int) barred[1])));
  }

  private static LevelProgress checked(LevelProgress progress) {
    boolean onTheWay = progress.stage() != Stage.RESTING;
    boolean compares = progress.costBefore() > 0 && progress.modelBefore() > 0;
    if (onTheWay && (progress.plan() == null || progress.goal() == null || !compares)
        || progress.barred() < 0
        || progress.barLength() < 1) {
      throw new IllegalArgumentException("no progress with levels can be like this: " + progress);
    }
    return progress;
  }

  private static @Nullable LevelShares shares(String text) {
    if (text.equals(NONE)) {
      return null;
    }
    List<Double> shares = new ArrayList<>();
    for (String share : text.split(",")) {
      shares.add(Double.valueOf(share));
    }
    return new LevelShares(shares);
  }

  private static String value(Map<String, String> fields, String name) {
    String value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the decision's line has no field " + name);
    }
    return value;
  }

  private static double[] reals(Map<String, String> fields, String name, int count) {
    String[] values = value(fields, name).split(",");
    if (values.length != count) {
      throw new IllegalArgumentException("field " + name + " has not " + count + " values");
    }
    double[] reals = new double[count];
    for (int i = 0; i < count; i++) {
      reals[i] = Double.parseDouble(values[i]);
    }
    return reals;
  }
}
