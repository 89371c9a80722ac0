package io.isobardb.bench.experiment.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.experiment.report.Verdict.Outcome;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Chart.Series;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

@Tag("any-jdk")
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
    assertEquals(
        List.of(new Results.Pair("size 1", 3, 1.5, "plain divided by a, \"b\" & <c>")), pairs);
    assertEquals(List.of("1", "2"), RESULTS.values("size"));
    assertEquals(2.25, RESULTS.where("size", "1").mean("cost [1/op]"));
    assertTrue(Double.isNaN(RESULTS.where("size", "3").mean("cost [1/op]")));
  }

  @Test
  void linesAndBarsAreOfWhatWasMeasured() {
    Chart lines = Charts.lines("lines", RESULTS, "size", "scheme", "cost [1/op]");
    assertEquals(
        List.of(
            new Series("a, \"b\" & <c>", List.of(1.0, 2.0), List.of(1.5, 12345678.0)),
            new Series("plain", List.of(1.0), List.of(3.0))),
        lines.series());
    Chart bars = Charts.bars("bars", RESULTS, "size", "scheme", "cost [1/op]");
    assertEquals(List.of("size 1", "size 2"), bars.categories());
    assertEquals(List.of(3.0, Double.NaN), bars.series().get(1).y());
  }

  @Test
  void aReportBeginsWithWhatHoldsAndNeedsNothingElse() throws Exception {
    Report report =
        new Report(
            "Title",
            "figure 0",
            "a < b",
            "by hand",
            List.of(
                new Verdict("a < b", Outcome.DOES_NOT_HOLD, "2 to 1"),
                new Verdict("b < c", Outcome.NOT_DECIDED, "1 to 2")),
            List.of(Charts.bars("bars", RESULTS, "size", "scheme", "cost [1/op]")),
            RESULTS,
            Map.of("command", "isobar experiment x"));
    String html = report.html();
    assertEquals(1, parse(html).getElementsByTagName("svg").getLength());
    assertTrue(
        html.indexOf("Of 2 claims: 1 does not hold, 1 not decided.") < html.indexOf("<h2>"), html);
    assertTrue(html.contains("Does not hold: a &lt; b."), html);
    assertTrue(!html.contains("src=") && !html.contains("href="), "nothing else is needed");
    // The table shows what charts show; the rest is folded away.
    assertTrue(html.indexOf("only here") > html.indexOf("<details>"), html);
    String index = Report.index(Map.of("x", report));
    parse(index);
    assertTrue(index.contains("x.html"), index);
    String markdown = report.markdown("x.svg");
    assertTrue(markdown.contains("    ./isobar experiment x\n"), markdown);
    assertTrue(markdown.contains("| plain | 1 | 3.00 |"), markdown);
    assertTrue(markdown.contains("![Title](x.svg)"), markdown);
  }
}
