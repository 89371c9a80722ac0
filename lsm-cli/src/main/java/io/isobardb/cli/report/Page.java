package io.isobardb.cli.report;

import io.isobardb.cli.console.TextTable;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A report as one page of HTML that needs no other file and no network; it can be read on a phone,
 * by day and by night. What the reader should conclude comes first. Not thread-safe.
 */
public final class Page {
  private static final String STYLE =
      "html{-webkit-text-size-adjust:100%}"
          + "body{font:16px/1.5 system-ui,sans-serif;max-width:1000px;margin:0 auto;padding:1em;"
          + "color:var(--ink);background:var(--back);overflow-wrap:break-word}"
          + "h1{font-size:1.5em;line-height:1.25;margin:.4em 0}h2{font-size:1.15em;margin:1.6em 0 .4em}"
          + "a{color:var(--c0)}p,li{max-width:46em}.lead{font-size:1.08em;padding-left:1.1em}"
          + ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));"
          + "gap:1.5em;align-items:start}svg{width:100%;max-width:560px;height:auto;display:block}"
          + ".scroll{overflow-x:auto;margin:.6em 0}table{border-collapse:collapse;font-size:14px}"
          + "th,td{border-bottom:1px solid var(--rule);padding:4px 10px 4px 0;text-align:right;"
          + "vertical-align:top;font-variant-numeric:tabular-nums}th{color:var(--faint)}"
          + "th:first-child,td:first-child,th.words,td.words{text-align:left}.scroll td{white-space:nowrap}"
          + "dl{margin:.4em 0;display:grid;grid-template-columns:minmax(5em,max-content) 1fr;"
          + "gap:.2em 1em;font-size:15px}dt{color:var(--faint)}dd{margin:0;min-width:0}"
          + "details{margin:.8em 0}summary{cursor:pointer}"
          + ".good,.bad,.open{font-weight:bold}.good{color:var(--c2)}.bad{color:var(--c1)}"
          + ".open{color:var(--c4)}.small{font-size:.88em;color:var(--faint)}"
          + "pre{white-space:pre-wrap;font-size:13px}"
          + "@media(max-width:500px){dl{display:block}dd{margin:0 0 .5em}"
          + "table{font-size:12px}th,td{padding:3px 6px 3px 0}"
          + ".scroll td{white-space:normal}.wide tr{display:block;padding:.3em 0;"
          + "border-bottom:1px solid var(--rule)}.wide tr:first-child{display:none}"
          + ".wide td{display:flex;justify-content:space-between;gap:1em;border:0;padding:1px 0}"
          + ".wide td:first-child{font-weight:bold}.wide td:empty{display:none}"
          + ".wide td[data-name]::before{content:attr(data-name);color:var(--faint)}}";

  /**
   * What a phone has room for, and how large letters, as if all were bold, and padding are there.
   */
  private static final double PHONE = 360;

  private static final double PHONE_TEXT = 13;
  private static final double PHONE_PADDING = 6;

  /** The number of words from which on text is a sentence, whatever it begins with. */
  private static final int SENTENCE_WORDS = 5;

  /** What becomes of a claim. */
  public enum Mark {
    GOOD,
    BAD,
    OPEN
  }

  private final String title;
  private final StringBuilder body = new StringBuilder();

  /** A page without content. */
  public Page(String title) {
    this.title = title;
  }

  /** What the reader should conclude, in sentences. */
  public Page lead(List<String> sentences) {
    body.append("<ul class=\"lead\">\n");
    sentences.forEach(each -> body.append("<li>").append(Svg.escape(each)).append("</li>\n"));
    body.append("</ul>\n");
    return this;
  }

  /** A heading. */
  public Page heading(String text) {
    return element("h2", text);
  }

  /** A heading that leads to another page. */
  public Page link(String text, String target) {
    body.append("<h2><a href=\"").append(Svg.escape(target)).append("\">");
    body.append(Svg.escape(text)).append("</a></h2>\n");
    return this;
  }

  /** A paragraph. */
  public Page paragraph(String text) {
    return element("p", text);
  }

  /** Lines to copy as they are. */
  public Page lines(String text) {
    return element("pre", text);
  }

  private Page element(String tag, String text) {
    body.append('<').append(tag).append('>').append(Svg.escape(text));
    body.append("</").append(tag).append(">\n");
    return this;
  }

  /** A claim, what becomes of it, and the numbers that say so. */
  public Page finding(String claim, Mark mark, String outcome, String numbers) {
    body.append("<p><span class=\"").append(mark.name().toLowerCase(java.util.Locale.ROOT));
    body.append("\">").append(Svg.escape(outcome)).append(":</span> ").append(Svg.escape(claim));
    body.append("<br/><span class=\"small\">").append(Svg.escape(numbers));
    body.append("</span></p>\n");
    return this;
  }

  /** Charts, as many side by side as have room. */
  public Page charts(List<Chart> charts) {
    body.append("<div class=\"charts\">\n");
    charts.forEach(chart -> body.append(Svg.inline(chart)));
    body.append("</div>\n");
    return this;
  }

  /** A map of cells; where the screen is narrow it can be moved. */
  public Page heatMap(HeatMap map) {
    body.append("<div class=\"scroll\">").append(map.svg()).append("</div>\n");
    return this;
  }

  /**
   * A table; one that is wider than the screen can be moved. On a phone its cells stand below each
   * other then, each with the name of its column.
   */
  public Page table(TextTable table) {
    List<List<String>> rows = table.rows();
    boolean isWide = phoneWidth(rows) > PHONE;
    body.append("<div class=\"scroll\"><table");
    body.append(isWide ? " class=\"wide\">\n" : ">\n");
    List<String> kinds =
        IntStream.range(0, rows.get(0).size())
            .mapToObj(column -> hasWords(rows, column) ? " class=\"words\">" : ">")
            .toList();
    String tag = "th";
    for (List<String> row : rows) {
      body.append("<tr>");
      for (int column = 0; column < row.size(); column++) {
        body.append('<').append(tag);
        if (isWide && tag.equals("td")) {
          String name = rows.get(0).get(column);
          body.append(" data-name=\"").append(Svg.escape(name)).append('"');
        }
        body.append(kinds.get(column));
        body.append(Svg.escape(row.get(column))).append("</").append(tag).append('>');
      }
      body.append("</tr>\n");
      tag = "td";
    }
    body.append("</table></div>\n");
    return this;
  }

  /** The width of columns as narrow as their longest words. */
  private static double phoneWidth(List<List<String>> rows) {
    return IntStream.range(0, rows.get(0).size())
        .mapToDouble(
            column ->
                PHONE_PADDING
                    + rows.stream()
                        .flatMap(row -> Stream.of(row.get(column).split(" ")))
                        .mapToDouble(word -> Lettering.width(word, PHONE_TEXT))
                        .max()
                        .orElse(0))
        .sum();
  }

  /** Whether each cell below the header begins with a letter, or one of them is a sentence. */
  private static boolean hasWords(List<List<String>> rows, int column) {
    List<String> cells = rows.stream().skip(1).map(row -> row.get(column)).toList();
    return cells.stream().anyMatch(cell -> cell.split(" ").length >= SENTENCE_WORDS)
        || !cells.isEmpty()
            && cells.stream()
                .allMatch(cell -> !cell.isEmpty() && Character.isLetter(cell.charAt(0)));
  }

  /** A table that is shown when it is asked for. */
  public Page folded(String summary, TextTable table) {
    body.append("<details><summary>").append(Svg.escape(summary)).append("</summary>\n");
    table(table);
    body.append("</details>\n");
    return this;
  }

  /** Names and values. */
  public Page facts(Map<String, String> facts) {
    body.append("<dl>\n");
    facts.forEach(
        (name, value) -> {
          body.append("<dt>").append(Svg.escape(name)).append("</dt>");
          body.append("<dd>").append(Svg.escape(value)).append("</dd>\n");
        });
    body.append("</dl>\n");
    return this;
  }

  /** The page. */
  public String html() {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/>\n"
        + "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
        + "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>"
        + Svg.escape(title)
        + "</title>\n<style>"
        + Svg.STYLE
        + STYLE
        + "</style></head>\n<body>\n<h1>"
        + Svg.escape(title)
        + "</h1>\n"
        + body
        + "</body>\n</html>\n";
  }
}
