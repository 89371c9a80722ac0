package io.isobardb.tuner.shape;

import io.isobardb.tuner.shape.ShapeDecision.Action;
import io.isobardb.tuner.shape.ShapeProgress.Stage;
import io.isobardb.tuner.shape.ShapeProgress.Trial;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decisions on runs as lines of text, and back, but for what was regretted and tried by then: that
 * is of the windows at hand.
 *
 * <pre>
 * runs v1 window=3 tree=1 action=CHANGE from=LEVELED to=LAZY(8) modelled=1.5 .. why=words
 * </pre>
 *
 * Fields are {@code name=value}, apart by blanks. Fields that are not known are passed over.
 */
public final class ShapeText {
  private static final String BEGINNING = "runs v1 ";
  private static final String WHY = " why=";

  private ShapeText() {}

  /**
   * {@return whether a line of the tuner's file is about runs}
   *
   * @param line any line
   */
  public static boolean isShape(String line) {
    return line.startsWith(BEGINNING);
  }

  /**
   * {@return the decision on one line, without a line's end}
   *
   * @param decision all that its line has
   */
  public static String write(ShapeDecision decision) {
    ShapeProgress after = decision.after();
    return BEGINNING
        + String.join(
            " ",
            "window=" + decision.window(),
            "tree=" + decision.tree(),
            "action=" + decision.action(),
            "from=" + decision.from(),
            "to=" + decision.to(),
            "modelled=" + decision.modelled(),
            "expected=" + decision.expected(),
            "found=" + decision.found(),
            "price=" + decision.price(),
            "bar=" + after.barred(),
            "next=" + after.barLength(),
            "patience=" + after.patience())
        + WHY
        + decision.reason().replaceAll("\\R", " ");
  }

  /**
   * {@return the decision that {@link #write} made the line of} What came of it is not known any
   * more, so it rests.
   *
   * @param line without its end
   * @throws IllegalArgumentException if it is no such line
   */
  public static ShapeDecision parse(String line) {
    int why = line.indexOf(WHY);
    if (!isShape(line) || why < 0) {
      throw new IllegalArgumentException("not a decision on runs: " + line);
    }
    Map<String, String> fields = new HashMap<>();
    for (String field : line.substring(BEGINNING.length(), why).split(" ")) {
      String[] parts = field.split("=", 2);
      fields.put(parts[0], parts.length > 1 ? parts[1] : "");
    }
    int barred = Math.max(0, Integer.parseInt(value(fields, "bar")));
    int next = Math.max(1, Integer.parseInt(value(fields, "next")));
    double patience = Math.max(1, number(fields, "patience"));
    return new ShapeDecision(
        Long.parseLong(value(fields, "window")),
        Integer.parseInt(value(fields, "tree")),
        Action.valueOf(value(fields, "action")),
        value(fields, "from"),
        value(fields, "to"),
        number(fields, "modelled"),
        number(fields, "expected"),
        number(fields, "found"),
        number(fields, "price"),
        line.substring(why + WHY.length()),
        new ShapeProgress(
            Stage.RESTING, "", 0, 0, 0, List.of(), Trial.NONE, barred, next, patience));
  }

  private static double number(Map<String, String> fields, String name) {
    return Double.parseDouble(value(fields, name));
  }

  private static String value(Map<String, String> fields, String name) {
    String value = fields.get(name);
    if (value == null) {
      throw new IllegalArgumentException("a decision on runs without " + name);
    }
    return value;
  }
}
