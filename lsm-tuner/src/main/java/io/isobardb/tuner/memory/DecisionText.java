package io.isobardb.tuner.memory;

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

  /** The decision on one line, without a line's end. */
  public static String write(Decision decision) {
    StoreCycle seen = decision.seen();
    TunerOptions options = decision.options();
    Pressure pressure = decision.pressure();
    Progress after = decision.after();
    Progress.Run run = after.run();
    Progress.Hold hold = after.hold();
    StringJoiner line = new StringJoiner(" ");
    line.add(VERSION);
    line.add("cycle=" + seen.cycle());
    line.add("x=" + seen.writeMemoryBytes());
    line.add("to=" + decision.toBytes());
    line.add("method=" + decision.method());
    line.add("predicted=" + decision.predictedCost());
    line.add("found=" + decision.foundCost());
    line.add(
        field(
            "pressure",
            pressure.writeCost(),
            pressure.readCost(),
            pressure.cost(),
            pressure.write(),
            pressure.cache()));
    line.add("budget=" + seen.budgetBytes());
    line.add("page=" + seen.pageBytes());
    line.add("ops=" + seen.operations());
    line.add(field("reads", seen.queryReadPages(), seen.mergeReadPages()));
    line.add(field("ghost", seen.queryGhostPages(), seen.mergeGhostPages(), seen.ghostBytes()));
    line.add(
        field(
            "options",
            options.writeWeight(),
            options.readWeight(),
            options.samples(),
            options.fixedStep(),
            options.maxStep(),
            options.boldness(),
            options.minStepBytes(),
            options.minGain(),
            options.writeFloorBytes(),
            options.cacheFloorBytes(),
            options.floorShare()));
    line.add(
        field(
            "state",
            after.direction(),
            after.streak(),
            after.trust(),
            after.turns(),
            after.calm(),
            after.noise()));
    line.add(field("steep", after.steepness().expected(), after.steepness().found()));
    line.add(
        field(
            "run",
            run.direction(),
            run.bestBytes(),
            run.bestCost(),
            run.bestAge(),
            run.doubted() ? 1 : 0));
    line.add(
        field(
            "hold",
            hold.direction(),
            hold.cycles(),
            hold.length(),
            hold.returnBytes(),
            hold.returnCost()));
    line.add("samples=" + list(after.samples().stream().map(DecisionText::text).toList()));
    line.add("trees=" + list(seen.trees().stream().map(DecisionText::text).toList()));
    return line + WHY + oneLine(decision.reason());
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\R", " ");
  }

  /**
   * The decision that {@link #write} made the line of.
   *
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
    String[] pressure = fields.values("pressure", 5);
    String[] options = fields.values("options", 11);
    return new Decision(
        seen(fields),
        new TunerOptions(
            real(options[0]),
            real(options[1]),
            Integer.parseInt(options[2]),
            real(options[3]),
            real(options[4]),
            real(options[5]),
            Long.parseLong(options[6]),
            real(options[7]),
            Long.parseLong(options[8]),
            Long.parseLong(options[9]),
            real(options[10])),
        new Pressure(
            real(pressure[0]),
            real(pressure[1]),
            real(pressure[2]),
            real(pressure[3]),
            real(pressure[4])),
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
        fields.rows("trees", 11).stream().map(DecisionText::tree).toList());
  }

  private static Progress after(Fields fields) {
    String[] state = fields.values("state", 6);
    String[] steep = fields.values("steep", 2);
    String[] run = fields.values("run", 5);
    String[] hold = fields.values("hold", 5);
    return new Progress(
        fields.rows("samples", 3).stream().map(DecisionText::sample).toList(),
        Integer.parseInt(state[0]),
        Integer.parseInt(state[1]),
        real(state[2]),
        Integer.parseInt(state[3]),
        Integer.parseInt(state[4]),
        real(state[5]),
        new Progress.Steepness(real(steep[0]), real(steep[1])),
        new Progress.Run(
            Integer.parseInt(run[0]),
            Long.parseLong(run[1]),
            real(run[2]),
            Integer.parseInt(run[3]),
            run[4].equals("1")),
        new Progress.Hold(
            Integer.parseInt(hold[0]),
            Integer.parseInt(hold[1]),
            Integer.parseInt(hold[2]),
            Long.parseLong(hold[3]),
            real(hold[4])));
  }

  private static String text(Progress.Sample sample) {
    return join(sample.cycle(), sample.writeBytes(), sample.slope());
  }

  private static Progress.Sample sample(String[] values) {
    return new Progress.Sample(
        Long.parseLong(values[0]), Long.parseLong(values[1]), real(values[2]));
  }

  private static String text(TreeCycle tree) {
    return join(
        tree.tree(),
        tree.writtenBytes(),
        tree.mergedBytes(),
        tree.memoryFlushedBytes(),
        tree.logFlushedBytes(),
        tree.flushes(),
        tree.shareSum(),
        tree.recentReads(),
        tree.lastLevelBytes(),
        tree.floorBytes(),
        tree.weight());
  }

  private static TreeCycle tree(String[] values) {
    return new TreeCycle(
        Long.parseLong(values[0]),
        Long.parseLong(values[1]),
        Long.parseLong(values[2]),
        Long.parseLong(values[3]),
        Long.parseLong(values[4]),
        Integer.parseInt(values[5]),
        real(values[6]),
        real(values[7]),
        Long.parseLong(values[8]),
        Long.parseLong(values[9]),
        real(values[10]));
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

    List<String[]> rows(String name, int count) {
      String value = value(name);
      return value.equals("-")
          ? List.of()
          : Arrays.stream(value.split(";")).map(row -> split(name, row, count)).toList();
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
