package io.isobardb.tuner.memory;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/**
 * Decisions as lines of text, and back, digit for digit.
 *
 * <pre>
 * v2 cycle=3 x=.. to=.. method=NEWTON cost=.. ... samples=c,x,slope;c,x,slope ... trees=..;.. why=words to the end
 * </pre>
 *
 * Fields are {@code name=value}, apart by blanks; values of several numbers have commas, lists have
 * semicolons, and an empty one is {@code -}. Fields that are not known are passed over.
 */
public final class DecisionText {
  private static final String VERSION = "v2";
  private static final String WHY = " why=";

  private DecisionText() {}

  /**
   * {@return the decision on one line, without a line's end}
   *
   * @param decision all of its parts are written
   */
  public static String write(Decision decision) {
    StoreCycle seen = decision.seen();
    Progress after = decision.after();
    StringJoiner line = new StringJoiner(" ");
    line.add(VERSION);
    line.add("cycle=" + seen.cycle());
    line.add("x=" + seen.writeMemoryBytes());
    line.add("to=" + decision.toBytes());
    line.add("method=" + decision.method());
    line.add("predicted=" + decision.predictedCost());
    line.add("found=" + decision.foundCost());
    line.add("pressure=" + text(decision.pressure()));
    line.add("budget=" + seen.budgetBytes());
    line.add("page=" + seen.pageBytes());
    line.add("ops=" + seen.operations());
    line.add(field("reads", seen.queryReadPages(), seen.mergeReadPages()));
    line.add(field("ghost", seen.queryGhostPages(), seen.mergeGhostPages(), seen.ghostBytes()));
    line.add("options=" + text(decision.options()));
    line.add(
        field(
            "state",
            after.direction(),
            after.streak(),
            after.trust(),
            after.turns(),
            after.calm(),
            after.noise()));
    line.add("steep=" + text(after.steepness()));
    line.add("run=" + text(after.run()));
    line.add("hold=" + text(after.hold()));
    line.add("samples=" + list(after.samples().stream().map(DecisionText::text).toList()));
    line.add("trees=" + list(seen.trees().stream().map(DecisionText::text).toList()));
    return line + WHY + oneLine(decision.reason());
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\R", " ");
  }

  /**
   * {@return the decision that {@link #write} made the line of}
   *
   * @param line without its end
   * @throws IllegalArgumentException if it is no such line; the message says what is wrong with it
   */
  public static Decision parse(String line) {
    int why = line.indexOf(WHY);
    if (!line.startsWith(VERSION + " ") || why < 0) {
      throw new IllegalArgumentException(
          "not a decision of the memory tuner in format "
              + VERSION
              + ": "
              + line.substring(0, Math.min(60, line.length())));
    }
    Fields fields = Fields.of(line.substring(VERSION.length() + 1, why));
    return new Decision(
        seen(fields),
        fields.record("options", TunerOptions.class),
        fields.record("pressure", Pressure.class),
        Method.valueOf(fields.value("method")),
        fields.whole("to"),
        real(fields.value("predicted")),
        real(fields.value("found")),
        after(fields),
        oneLine(line.substring(why + WHY.length())));
  }

  private static StoreCycle seen(Fields fields) {
    String[] reads = fields.values("reads", 2);
    String[] ghost = fields.values("ghost", 3);
    return new StoreCycle(
        fields.whole("cycle"),
        fields.whole("budget"),
        fields.whole("x"),
        (int) fields.whole("page"),
        fields.whole("ops"),
        Long.parseLong(reads[0]),
        Long.parseLong(reads[1]),
        Long.parseLong(ghost[0]),
        Long.parseLong(ghost[1]),
        Long.parseLong(ghost[2]),
        fields.records("trees", TreeCycle.class, ",0.0"));
  }

  private static Progress after(Fields fields) {
    String[] state = fields.values("state", 6);
    return new Progress(
        fields.records("samples", Progress.Sample.class, ""),
        Integer.parseInt(state[0]),
        Integer.parseInt(state[1]),
        real(state[2]),
        Integer.parseInt(state[3]),
        Integer.parseInt(state[4]),
        real(state[5]),
        fields.record("steep", Progress.Steepness.class),
        fields.record("run", Progress.Run.class),
        fields.record("hold", Progress.Hold.class));
  }

  /** A record of numbers: what it holds, in order. */
  private static String text(Record numbers) {
    List<String> values = new ArrayList<>();
    for (RecordComponent component : numbers.getClass().getRecordComponents()) {
      try {
        Object value = component.getAccessor().invoke(numbers);
        values.add(value instanceof Boolean yes ? (yes ? "1" : "0") : String.valueOf(value));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("cannot write " + numbers, e);
      }
    }
    return String.join(",", values);
  }

  /** The record that {@link #text} made the values of. */
  private static <T extends Record> T record(Class<T> type, String field, String text) {
    RecordComponent[] components = type.getRecordComponents();
    String[] values = Fields.split(field, text, components.length);
    Class<?>[] types = new Class<?>[values.length];
    Object[] arguments = new Object[values.length];
    for (int i = 0; i < values.length; i++) {
      types[i] = components[i].getType();
      arguments[i] = value(types[i], values[i]);
    }
    try {
      return type.getDeclaredConstructor(types).newInstance(arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(
          "field " + field + ": " + e.getTargetException().getMessage(), e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot make a " + type.getSimpleName(), e);
    }
  }

  private static Object value(Class<?> type, String text) {
    if (type == double.class) {
      return real(text);
    } else if (type == boolean.class) {
      return text.equals("1");
    } else if (type == int.class) {
      return Integer.parseInt(text);
    }
    return Long.parseLong(text);
  }

  private static String field(String name, Number... values) {
    return name + "=" + join(values);
  }

  private static String join(Number... values) {
    return Arrays.stream(values).map(Number::toString).collect(Collectors.joining(","));
  }

  private static String list(List<String> rows) {
    return rows.isEmpty() ? "-" : String.join(";", rows);
  }

  private static double real(String value) {
    return Double.parseDouble(value);
  }

  /** The fields of a line by name. */
  private record Fields(Map<String, String> byName) {
    static Fields of(String text) {
      Map<String, String> byName = new LinkedHashMap<>();
      for (String field : text.split(" ")) {
        int equals = field.indexOf('=');
        if (equals > 0) {
          byName.put(field.substring(0, equals), field.substring(equals + 1));
        }
      }
      return new Fields(byName);
    }

    String value(String name) {
      String value = byName.get(name);
      if (value == null) {
        throw new IllegalArgumentException("the decision's line has no field " + name);
      }
      return value;
    }

    long whole(String name) {
      return Long.parseLong(value(name));
    }

    String[] values(String name, int count) {
      return split(name, value(name), count);
    }

    <T extends Record> T record(String name, Class<T> type) {
      return DecisionText.record(type, name, value(name));
    }

    /**
     * @param added what rows end with now and did not always, as it is to be read where it is
     *     missing
     */
    <T extends Record> List<T> records(String name, Class<T> type, String added) {
      String value = value(name);
      if (value.equals("-")) {
        return List.of();
      }
      int before =
          type.getRecordComponents().length - (int) added.chars().filter(c -> c == ',').count();
      return Arrays.stream(value.split(";"))
          .map(row -> row.split(",").length == before ? row + added : row)
          .map(row -> DecisionText.record(type, name, row))
          .toList();
    }

    private static String[] split(String name, String value, int count) {
      String[] values = value.split(",");
      if (values.length != count) {
        throw new IllegalArgumentException(
            "field " + name + " has " + values.length + " values, not " + count + ": " + value);
      }
      return values;
    }
  }
}
