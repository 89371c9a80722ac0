package io.isobardb.lsm.setting;

import io.isobardb.lsm.option.MergeSchedule;
import java.util.List;
import java.util.Locale;

/** Takes a {@link MergeSchedule}, as {@code AFTER_LAST_WRITE(500ms)}. */
final class ScheduleKind extends OptionKind<MergeSchedule> {
  private static final List<MergeSchedule> PLAIN =
      List.of(MergeSchedule.ALWAYS, MergeSchedule.SILK, MergeSchedule.ADAPTIVE);

  private static final String PER_SECOND = "/S";
  private static final List<String> EXAMPLES =
      List.of(
          "ALWAYS",
          "BELOW_THROUGHPUT(512KB/s,500ms)",
          "AFTER_LAST_WRITE(500ms)",
          "SILK",
          "ADAPTIVE");

  ScheduleKind() {
    super(
        MergeSchedule.class,
        "`ALWAYS`, `BELOW_THROUGHPUT(size/s,duration)`, `AFTER_LAST_WRITE(duration)`, `SILK`, or"
            + " `ADAPTIVE`");
  }

  @Override
  public MergeSchedule read(String text) {
    String value = text.trim().toUpperCase(Locale.ROOT);
    int open = value.indexOf('(');
    String name = open < 0 ? value : value.substring(0, open).trim();
    String[] arguments = new String[0];
    if (open >= 0 && value.endsWith(")")) {
      arguments = value.substring(open + 1, value.length() - 1).split(",", -1);
    }
    for (MergeSchedule schedule : PLAIN) {
      if (open < 0 && name.equals(schedule.kind().name())) {
        return schedule;
      }
    }
    if (name.equals("AFTER_LAST_WRITE") && arguments.length == 1) {
      return MergeSchedule.afterLastWrite(Sizes.parseDuration(arguments[0]));
    }
    String rate = arguments.length == 2 ? arguments[0].trim() : "";
    if (name.equals("BELOW_THROUGHPUT") && rate.endsWith(PER_SECOND)) {
      long bytes = Sizes.parse(rate.substring(0, rate.length() - PER_SECOND.length()).trim());
      return MergeSchedule.belowThroughput(bytes, Sizes.parseDuration(arguments[1]));
    }
    throw new IllegalArgumentException("there is no such value" + Suggestion.among(name, EXAMPLES));
  }

  @Override
  public String write(MergeSchedule schedule) {
    String duration = Sizes.text(schedule.duration());
    return switch (schedule.kind()) {
      case ALWAYS, SILK, ADAPTIVE -> schedule.kind().name();
      case BELOW_THROUGHPUT ->
          "BELOW_THROUGHPUT(" + Sizes.text(schedule.bytesPerSecond()) + "/s," + duration + ")";
      case AFTER_LAST_WRITE -> "AFTER_LAST_WRITE(" + duration + ")";
    };
  }
}
