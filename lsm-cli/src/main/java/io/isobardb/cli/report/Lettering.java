package io.isobardb.cli.report;

import java.util.ArrayList;
import java.util.List;

/** How wide text is, about, in a usual sans-serif font: rather more than less. */
final class Lettering {
  private static final String NARROW = "iljtfrI.,:;'|!()[]/ -";
  private static final String WIDE = "mwMW%@&";

  private Lettering() {}

  /** The width in pixels, with letters of so many. */
  static double width(String text, double size) {
    double width = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      width +=
          NARROW.indexOf(c) >= 0
              ? 0.38
              : WIDE.indexOf(c) >= 0 ? 0.95 : Character.isUpperCase(c) ? 0.74 : 0.62;
    }
    return width * size;
  }

  /** The text in lines of that width at most, as far as its words allow. */
  static List<String> wrap(String text, double size, double width) {
    List<String> lines = new ArrayList<>();
    String line = "";
    for (String word : text.split(" ")) {
      String longer = line.isEmpty() ? word : line + " " + word;
      if (!line.isEmpty() && width(longer, size) > width) {
        lines.add(line);
        line = word;
      } else {
        line = longer;
      }
    }
    lines.add(line);
    return lines.stream().map(each -> cut(each, size, width)).toList();
  }

  /** The text, or its beginning and an ellipsis if it is wider. */
  static String cut(String text, double size, double width) {
    String shown = text;
    while (shown.length() > 1 && width(shown, size) > width) {
      shown = shown.substring(0, shown.length() - 2).stripTrailing() + "…";
    }
    return shown;
  }
}
