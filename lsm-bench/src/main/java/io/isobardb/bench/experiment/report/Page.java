package io.isobardb.bench.experiment.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A report as one page of HTML that needs no other file.
 *
 * @param title of the experiment
 * @param source where it comes from
 * @param claim what was claimed there, in words
 * @param method what was done here
 * @param verdicts claim by claim, what was found
 * @param charts the picture
 * @param results all rows
 * @param provenance how, where and of what version: name and value
 */
public record Page(
    String title,
    String source,
    String claim,
    String method,
    List<Verdict> verdicts,
    List<Chart> charts,
    Results results,
    Map<String, String> provenance) {
  private static final String STYLE =
      "body{font:15px/1.45 sans-serif;max-width:1160px;margin:2em auto;padding:0 1em;color:#222}"
          + "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:1.8em}"
          + "table{border-collapse:collapse;font-size:13px}"
          + "th,td{border:1px solid #ccc;padding:3px 7px;text-align:right;vertical-align:top}"
          + "th{background:#f2f2f2}.text td,.text th{text-align:left}"
          + ".scroll{overflow-x:auto}svg{max-width:100%;height:auto}"
          + ".holds{color:#00703c}.does-not-hold{color:#b00020}.not-decided{color:#8a6d00}";

  public Page {
    verdicts = List.copyOf(verdicts);
    charts = List.copyOf(charts);
    provenance = new LinkedHashMap<>(provenance);
  }

  /** The page. */
  public String html() {
    StringBuilder out = new StringBuilder();
    head(out, title);
    out.append("<h1>").append(Svg.escape(title)).append("</h1>\n<p>");
    out.append(Svg.escape(source)).append("</p>\n<h2>Claimed</h2>\n<p>");
    out.append(Svg.escape(claim)).append("</p>\n<h2>Done</h2>\n<p>");
    out.append(Svg.escape(method)).append("</p>\n<h2>Found</h2>\n");
    verdicts(out, verdicts);
    out.append(charts.isEmpty() ? "" : Svg.draw(charts));
    out.append("<h2>How</h2>\n<table class=\"text\">\n");
    provenance.forEach((name, value) -> row(out, "td", List.of(name, value)));
    out.append("</table>\n<h2>All points</h2>\n<div class=\"scroll\"><table>\n");
    List<String> names = new ArrayList<>(results.parameterNames());
    names.addAll(results.figureNames());
    row(out, "th", names);
    for (Row row : results.rows()) {
      row(out, "td", names.stream().map(name -> cell(row, name)).toList());
    }
    out.append("</table></div>\n</body>\n</html>\n");
    return out.toString();
  }

  /** A page that leads to the pages of several experiments, by their names. */
  public static String index(Map<String, Page> pages) {
    StringBuilder out = new StringBuilder();
    head(out, "Experiments");
    out.append("<h1>Experiments</h1>\n");
    pages.forEach(
        (name, page) -> {
          out.append("<h2><a href=\"").append(Svg.escape(name)).append(".html\">");
          out.append(Svg.escape(page.title())).append("</a></h2>\n");
          verdicts(out, page.verdicts());
        });
    return out.append("</body>\n</html>\n").toString();
  }

  private static void head(StringBuilder out, String title) {
    out.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>");
    out.append(Svg.escape(title)).append("</title><style>").append(STYLE);
    out.append("</style></head>\n<body>\n");
  }

  private static void verdicts(StringBuilder out, List<Verdict> verdicts) {
    out.append("<table class=\"text\">\n");
    row(out, "th", List.of("claim", "", "numbers"));
    for (Verdict verdict : verdicts) {
      String words = verdict.outcome().words();
      out.append("<tr><td>").append(Svg.escape(verdict.claim()));
      out.append("</td><td class=\"").append(words.replace(' ', '-')).append("\"><b>");
      out.append(words.replace(" ", "&#160;")).append("</b></td><td>");
      out.append(Svg.escape(verdict.numbers())).append("</td></tr>\n");
    }
    out.append("</table>\n");
  }

  private static String cell(Row row, String name) {
    if (row.parameters().containsKey(name)) {
      return row.parameter(name);
    }
    return row.figures().containsKey(name) ? Claims.number(row.figure(name)) : "";
  }

  private static void row(StringBuilder out, String tag, List<String> cells) {
    out.append("<tr>");
    for (String cell : cells) {
      out.append('<').append(tag).append('>').append(Svg.escape(cell));
      out.append("</").append(tag).append('>');
    }
    out.append("</tr>\n");
  }
}
