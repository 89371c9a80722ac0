package io.isobardb.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.report.Chart.Series;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

@Tag("any-jdk")
class ReportTest {
  private static final String LONG = "a name that is far too long to be written beside its bar";

  private record Box(String what, double left, double top, double right, double bottom) {
    boolean overlaps(Box other) {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  }

  private static Document parse(String xml) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
  }

  /** Charts of all sizes, from almost nothing to the most. */
  static List<Chart> charts() {
    List<Chart> charts = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(1);
    for (double size : new double[] {1e-4, 0.3, 7, 12.5, 999, 12_345, 9_876_543, 2e10}) {
      for (int count : new int[] {1, 2, 3, 8, 11}) {
        List<Series> lines = new ArrayList<>();
        List<Series> bars = new ArrayList<>();
        for (int s = 0; s < count; s++) {
          List<Double> x = new ArrayList<>();
          List<Double> y = new ArrayList<>();
          List<Double> at = new ArrayList<>();
          for (int i = 0; i < count + 2; i++) {
            x.add(size / 3 * i);
            y.add(size * random.nextDouble());
            at.add((double) i);
          }
          String name = s == 2 ? LONG : "series " + s;
          lines.add(new Series(name, x, y));
          bars.add(new Series(name, at, y));
        }
        List<String> groups = IntStream.range(0, count + 2).mapToObj(i -> LONG + i).toList();
        charts.add(Chart.lines("lines " + LONG + LONG, "time [s]", LONG + " [op/s]", lines));
        charts.add(Chart.bars("bars", "ratio", groups, bars).comparedWith(size / 2));
      }
    }
    return charts;
  }

  private static List<Box> texts(Document picture) {
    List<Box> boxes = new ArrayList<>();
    NodeList texts = picture.getElementsByTagName("text");
    for (int i = 0; i < texts.getLength(); i++) {
      Element text = (Element) texts.item(i);
      double size = Double.parseDouble(text.getAttribute("font-size"));
      double width = Lettering.width(text.getTextContent(), size);
      double x = Double.parseDouble(text.getAttribute("x"));
      double y = Double.parseDouble(text.getAttribute("y"));
      double left =
          switch (text.getAttribute("text-anchor")) {
            case "end" -> x - width;
            case "middle" -> x - width / 2;
            default -> x;
          };
      boxes.add(new Box(text.getTextContent(), left, y - 0.8 * size, left + width, y + 0.2 * size));
    }
    return boxes;
  }

  @ParameterizedTest
  @MethodSource("charts")
  void nothingIsCutOffAndNoTwoTextsOverlap(Chart chart) throws Exception {
    Document picture = parse(Svg.draw(List.of(chart)));
    String[] view = picture.getDocumentElement().getAttribute("viewBox").split(" ");
    Box whole = new Box("", 0, 0, Double.parseDouble(view[2]), Double.parseDouble(view[3]));
    List<Box> boxes = texts(picture);
    for (int i = 0; i < boxes.size(); i++) {
      Box box = boxes.get(i);
      assertTrue(
          box.left >= 0 && box.top >= 0 && box.right <= whole.right && box.bottom <= whole.bottom,
          box + " is not within " + whole);
      for (Box other : boxes.subList(i + 1, boxes.size())) {
        assertFalse(box.overlaps(other), box + " and " + other);
      }
    }
    NodeList bars = picture.getElementsByTagName("rect");
    for (int i = 1; i < bars.getLength(); i++) {
      Element bar = (Element) bars.item(i);
      double right =
          Double.parseDouble(bar.getAttribute("x")) + Double.parseDouble(bar.getAttribute("width"));
      assertTrue(right <= whole.right, "a bar ends at " + right);
    }
  }

  @Test
  void ticksSayWhatTheyStandFor() {
    assertEquals(List.of("0", "2.5", "5.0", "7.5", "10.0", "12.5"), ticks(12.5));
    assertEquals(List.of("0", "0.2", "0.4", "0.6", "0.8", "1.0"), ticks(1));
    assertEquals(List.of("0", "2.5k", "5.0k", "7.5k", "10.0k", "12.5k"), ticks(12_500));
    assertEquals(List.of("0", "5M", "10M", "15M", "20M", "25M"), ticks(25e6));
    assertEquals(List.of("0", "0.00025", "0.00050", "0.00075", "0.00100"), ticks(0.001, 4));
    Axis far = Axis.over(new double[] {201, 240}, 4, 0, 100);
    assertEquals("200", far.label(far.tick(0)));
  }

  private static List<String> ticks(double most) {
    return ticks(most, 5);
  }

  private static List<String> ticks(double most, int count) {
    Axis axis = Axis.fromZero(new double[] {most}, count, 0, 100);
    return IntStream.range(0, axis.ticks()).mapToObj(i -> axis.label(axis.tick(i))).toList();
  }

  @Test
  void theMarksOfEqualLinesAreAllSeen() {
    List<Series> lines = new ArrayList<>();
    for (String name : List.of("first", "second", "third")) {
      lines.add(new Series(name, List.of(0.0, 1.0), List.of(3.0, 4.0)));
    }
    String svg = Svg.draw(List.of(Chart.lines("equal", "x", "y", lines)));
    // What is drawn later lies above, so the smallest come last.
    assertTrue(svg.indexOf("<title>third: 4") < svg.indexOf("<title>second: 4"), svg);
    assertTrue(svg.indexOf("<title>second: 4") < svg.indexOf("<title>first: 4"), svg);
    assertTrue(svg.lastIndexOf("<polyline") < svg.indexOf("<title>third"), svg);
  }

  @Test
  void onALogarithmicScaleADecadeIsAsLongAsAnother() throws Exception {
    List<Series> series = new ArrayList<>();
    for (double value : new double[] {2, 20, 20_000}) {
      series.add(new Series("v" + value, List.of(0.0), List.of(value)));
    }
    Chart chart = Chart.bars("bars", "[us]", List.of(""), series).on(Chart.Scale.LOGARITHMIC);
    NodeList bars = parse(Svg.draw(List.of(chart))).getElementsByTagName("rect");
    double[] widths = new double[3];
    for (int i = 0; i < widths.length; i++) {
      // The first is the background.
      widths[i] = Double.parseDouble(((Element) bars.item(i + 1)).getAttribute("width"));
    }
    assertTrue(widths[0] > 10, "the least can be seen");
    assertEquals(3, (widths[2] - widths[1]) / (widths[1] - widths[0]), 0.02);
  }

  @Test
  void whatWasNotMeasuredIsNotDrawn() throws Exception {
    Series some = new Series("<some>", List.of(0.0, 1.0), List.of(3.0, Double.NaN));
    Series none = new Series("none", List.of(), List.of());
    Chart bars = Chart.bars("bars", "y", List.of("a", "b"), List.of(some, none));
    Chart lines = Chart.lines("lines", "x", "y", List.of(some, none));
    String svg = Svg.draw(List.of(bars, lines, Chart.lines("nothing", "x", "y", List.of(none))));
    Document picture = parse(svg);
    // The background and a bar.
    assertEquals(2, picture.getElementsByTagName("rect").getLength());
    assertFalse(svg.contains("NaN"), svg);
    assertTrue(svg.contains("not measured"), svg);
  }

  @Test
  void aPageNeedsNoOtherFileAndFitsAnyScreen() throws Exception {
    TextTable table = new TextTable("a < b", "c");
    table.row("1", "2 & 3");
    String html =
        new Page("<Title>")
            .lead(List.of("it holds"))
            .finding("a < b", Page.Mark.OPEN, "not decided", "1 to 2")
            .charts(List.of(Chart.bars("bars", "y [s]", Map.of("x", 1.0))))
            .table(table)
            .folded("more", table)
            .facts(Map.of("command", "isobar x"))
            .html();
    Document page = parse(html);
    assertEquals(1, page.getElementsByTagName("svg").getLength());
    assertTrue(html.contains("name=\"viewport\""), html);
    assertTrue(html.contains("prefers-color-scheme:dark"), html);
    assertFalse(html.contains("src=") || html.contains("href=") || html.contains("http"), html);
    assertEquals("| a < b | c |\n|---|---|\n| 1 | 2 & 3 |\n", table.markdown());
  }

  @Test
  void proseOfADocumentIsWrappedAndTablesAreNot() {
    String words = "word ".repeat(50).strip();
    String document = "- " + words + "\n\n| " + words + " |\n    ./isobar " + words + "\n";
    String wrapped = MarkdownOption.wrapped(document);
    assertEquals(
        document.replaceAll("\\s+", " "),
        wrapped.replaceAll("[\\s\\\\]+", " "),
        "words stay as they are");
    List<String> lines = wrapped.lines().toList();
    assertTrue(lines.get(0).length() <= 110 && lines.get(1).startsWith("  word"), wrapped);
    assertTrue(lines.contains("| " + words + " |"), wrapped);
    String command = lines.get(lines.size() - 2);
    assertTrue(command.startsWith("        word") && command.endsWith(" \\"), wrapped);
    assertTrue(lines.stream().allMatch(each -> each.length() <= 110 || each.startsWith("|")));
  }

  @Test
  void wholeValuesHaveWholeTicks() {
    for (double most : new double[] {1, 2, 3, 7, 12, 123}) {
      Axis axis = Axis.over(new double[] {most, 1}, 5, 0, 100);
      for (int i = 0; i < axis.ticks(); i++) {
        assertEquals(Math.rint(axis.tick(i)), axis.tick(i), axis.toString());
      }
    }
    assertEquals(0.2, Axis.over(new double[] {0.9}, 5, 0, 100).step());
  }

  @Test
  void onAPhoneTheCellsOfAWideTableStandBelowEachOther() throws Exception {
    TextTable narrow = new TextTable("operation", "count", "p99 [us]");
    narrow.row("a sentence of words that can be broken", "1", "2");
    assertFalse(new Page("t").table(narrow).html().contains("<table class"));
    TextTable words =
        new TextTable("write memory [1/16]", "L0 structure", "throughput", "written", "memory");
    words.row("1", "GREEDY_GROUPED", "856", "6,332", "0.254");
    assertTrue(new Page("t").table(words).html().contains("<table class=\"wide\">"));
    TextTable wide =
        new TextTable("operation", "count", "p50", "p90", "p99", "p99.9", "max \"us\"");
    wide.row("UPDATE", "25,104", "26", "71", "11,839", "132,607,000", "1,821,695,000");
    String html = new Page("t").table(wide).html();
    Document page = parse(html);
    assertEquals(
        "wide", ((Element) page.getElementsByTagName("table").item(0)).getAttribute("class"));
    NodeList cells = page.getElementsByTagName("td");
    assertEquals("operation", ((Element) cells.item(0)).getAttribute("data-name"));
    assertEquals("max \"us\"", ((Element) cells.item(6)).getAttribute("data-name"));
  }

  @Test
  void columnsOfWordsReadFromTheLeft() {
    TextTable table = new TextTable("cycle", "cost", "why");
    table.row("1", "0.7", "a fixed step");
    String page = new Page("t").table(table).html();
    assertTrue(page.contains("<td class=\"words\">a fixed step"), page);
    assertTrue(page.contains("<td>0.7"), page);
  }
}
