package io.isobardb.bench.experiment.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.experiment.report.Chart.Series;
import io.isobardb.bench.experiment.report.Verdict.Outcome;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class ReportTest {
  @TempDir Path dir;

  private static final Results RESULTS =
      new Results(
          List.of(
              row("a, \"b\" & <c>", "1", Map.of("cost [1/op]", 1.5)),
              row("a, \"b\" & <c>", "2", Map.of("cost [1/op]", 12345678.0)),
              row("plain", "1", Map.of("cost [1/op]", 3.0, "only here", 0.000012345)),
              row("plain", "2", Map.of())));

  private static Row row(String scheme, String size, Map<String, Double> figures) {
    return new Row(new java.util.TreeMap<>(Map.of("scheme", scheme, "size", size)), figures);
  }

  static Document parse(String xml) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void resultsComeThroughCsvUnchanged() {
    Path file = dir.resolve("x.csv");
    assertEquals(List.of(), Csv.read(file).rows());
    Csv.write(file, RESULTS);
    assertEquals(RESULTS, Csv.read(file));
    Csv.write(file, new Results(RESULTS.rows().subList(0, 1)));
    assertEquals(1, Csv.read(file).rows().size());
  }

  @Test
  void aCsvFileThatIsCutIsRefused() {
    String text = Csv.format(RESULTS);
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> Csv.parse(text + "x,1\n"));
    assertTrue(e.getMessage().startsWith("line 6 has 2 cells, the header 4"), e.getMessage());
  }

  @Test
  void pairsAreOfRowsThatDifferInTheOneParameterAlone() {
    List<Results.Pair> pairs = RESULTS.pairs("scheme", "plain", "a, \"b\" & <c>", "cost [1/op]");
    assertEquals(List.of(new Results.Pair("size 1", 3, 1.5)), pairs);
    assertEquals(List.of("1", "2"), RESULTS.values("size"));
    assertEquals(2.25, RESULTS.where("size", "1").mean("cost [1/op]"));
    assertTrue(Double.isNaN(RESULTS.where("size", "3").mean("cost [1/op]")));
  }

  @Test
  void picturesAreWellFormedAndShowAllThereIs() throws Exception {
    Chart lines = Chart.lines("<lines>", RESULTS, "size", "scheme", "cost [1/op]");
    Chart bars = Chart.bars("bars", RESULTS, "size", "scheme", "cost [1/op]");
    Chart empty =
        new Chart("empty", "x", "y", List.of(), List.of(new Series("none", List.of(), List.of())));
    String svg = Svg.draw(List.of(lines, bars, empty));
    Document picture = parse(svg);
    assertEquals(3, picture.getElementsByTagName("circle").getLength());
    assertEquals(3, picture.getElementsByTagName("polyline").getLength());
    // The background, three bars, five entries of legends.
    assertEquals(9, picture.getElementsByTagName("rect").getLength());
    assertTrue(!svg.contains("NaN"), svg);
    assertTrue(svg.contains("12,500,000"), "the axis goes to a round number above all values");
  }

  @Test
  void pagesAreWellFormedAndSelfContained() throws Exception {
    Page page =
        new Page(
            "Title",
            "figure 0",
            "a < b",
            "by hand",
            List.of(new Verdict("a < b", Outcome.NOT_DECIDED, "1 to 2")),
            List.of(Chart.bars("bars", RESULTS, "size", "scheme", "cost [1/op]")),
            RESULTS,
            Map.of("command", "isobar experiment x"));
    String html = page.html();
    Document parsed = parse(html);
    assertEquals(1, parsed.getElementsByTagName("svg").getLength());
    assertTrue(html.contains("class=\"not-decided\""), html);
    assertTrue(!html.contains("src=") && !html.contains("href="), "nothing else is needed");
    String index = Page.index(Map.of("x", page));
    parse(index);
    assertTrue(index.contains("x.html"), index);
  }
}
