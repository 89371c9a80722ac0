package io.isobardb.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.latency.Arrivals.Arrival;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArrivalsTest {

  @TempDir Path dir;

  /** When requests are due, in milliseconds, for a client that takes so long for each. */
  private static List<Long> due(Trace trace, long endMillis, long eachMillis) {
    Arrivals arrivals = new Arrivals(trace, endMillis * 1_000_000);
    Arrival arrival = new Arrival();
    List<Long> due = new ArrayList<>();
    long now = 0;
    while (arrivals.next(now, arrival)) {
      assertEquals(due.size(), arrival.number);
      due.add(arrival.dueNanos / 1_000_000);
      now = Math.max(now, arrival.dueNanos) + eachMillis * 1_000_000;
    }
    return due;
  }

  @Test
  void requestsAreDueWhateverTheOnesBeforeTake() {
    List<Long> expected = List.of(0L, 250L, 500L, 750L, 1000L, 1250L);
    assertEquals(expected, due(Trace.steady(4), 1500, 1));
    assertEquals(expected, due(Trace.steady(4), 1500, 900));
  }

  @Test
  void ratesChangeAndBeginAgain() {
    Trace trace = Trace.peaks(1, 3, 2, 1);
    assertEquals(
        List.of(0L, 333L, 666L, 1000L, 2000L, 3000L, 3333L, 3666L, 4000L), due(trace, 5000, 1));
  }

  @Test
  void burstsInTimeAreAsFastAsTheEngineCan() {
    Trace trace =
        Trace.bursts(List.of(new TimeSpan(100), new TimeSpan(50)), List.of(new TimeSpan(200)));
    assertEquals(List.of(0L, 40L, 80L, 300L, 340L, 550L, 590L, 630L), due(trace, 700, 40));
  }

  @Test
  void burstsInCountEndWithTheLastOfThem() {
    Trace trace = Trace.bursts(3, List.of(new TimeSpan(200)));
    assertEquals(List.of(0L, 40L, 80L, 320L, 360L, 400L, 640L), due(trace, 650, 40));
  }

  @Test
  void theProductionTraceHasShortPeaksLongOnesAndValleys() {
    Trace trace = Trace.production(20_000, 100_000, 7);
    int longPeaks = 0;
    for (int i = 0; i < trace.spans().size(); i += 2) {
      double peak = trace.spans().get(i).seconds();
      assertTrue(peak >= 10 && peak <= 20 || peak >= 100 && peak <= 400, peak + " s");
      longPeaks += peak >= 100 ? 1 : 0;
      assertEquals(20_000, trace.spans().get(i).rate());
      Span valley = trace.spans().get(i + 1);
      assertTrue(valley.seconds() >= 5 && valley.seconds() <= 20, valley::toString);
      assertEquals(200, valley.rate());
    }
    double share = longPeaks * 2.0 / trace.spans().size();
    assertTrue(share > 0.07 && share < 0.13, share + " of the peaks are long");
    assertEquals(trace, Trace.production(20_000, 100_000, 7));
    assertFalse(trace.equals(Trace.production(20_000, 100_000, 8)));
  }

  @Test
  void aRecordedTraceIsReadAndItsErrorsNameTheLine() throws Exception {
    Path file = Files.writeString(dir.resolve("t"), "# a\n500ms 4\n\n1s, 1\n100ms max\n");
    assertEquals(List.of(0L, 250L, 500L, 1500L, 1540L, 1580L), due(Trace.read(file), 1600, 40));
    Files.writeString(file, "1s 4\n1s many\n");
    String said = assertThrows(UsageException.class, () -> Trace.read(file)).getMessage();
    assertTrue(said.contains("line 2") && said.contains("'many'"), said);
    Files.writeString(file, "1s 0\n");
    said = assertThrows(UsageException.class, () -> Trace.read(file)).getMessage();
    assertTrue(said.contains("no span with requests"), said);
    said =
        assertThrows(UsageException.class, () -> Trace.read(dir.resolve("missing"))).getMessage();
    assertTrue(said.contains("there is no"), said);
  }

  @Test
  void aMixSaysWhatRequestsDo() {
    Mix mix = Mix.parse("57:41:2");
    assertEquals(Kind.WRITE, mix.kind(56));
    assertEquals(Kind.READ, mix.kind(57));
    assertEquals(Kind.READ, mix.kind(97));
    assertEquals(Kind.SCAN, mix.kind(98));
    assertEquals(Kind.UPDATE, Mix.parse("0:50:0:50").kind(99));
    for (String wrong : List.of("50", "60:41", "x:y", "50:50:0:0:0", "-1:101")) {
      assertThrows(UsageException.class, () -> Mix.parse(wrong), wrong);
    }
  }
}
